"""Checks uses of the names `np`, `onp` and `phasic`; rewrites `phasic`."""

from __future__ import annotations

import ast
import re

from substrates.meta import context
from substrates.meta import imports
from substrates.meta import paths
from substrates.meta import tables

_RESERVED = frozenset({"np", "onp", "phasic"})
_NAMED = (
  *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
  *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
_TITLES = {"numpy": "NumPy", "jax": "jax.numpy", "tf": "TensorFlow's table"}


def check(ctx: context.Context) -> None:
  """Checks and rewrites all uses of the names `np` and `phasic`."""
  imported = _phasic_imports(ctx.source.tree)
  for node in ast.walk(ctx.source.tree):
    _refuse_rebinding(ctx, node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
      if node.id == "np" and ctx.profile is not paths.Profile.HOST_SEAM:
        _check_array_name(ctx, node)
      elif node.id == "phasic":
        _rewrite_dotted(ctx, node, imported)
      elif node.id == "__import__":
        ctx.refuse(node, "__import__ hides an import from the rewriter")
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
      packages = "|".join(tables.PACKAGES)
      if re.fullmatch(rf"phasic\.({packages})(\.\w+)*", node.value):
        ctx.refuse(node, f"module name {node.value!r} in a string")


def _phasic_imports(tree: ast.AST) -> frozenset[str]:
  found = set()
  for node in ast.walk(tree):
    if isinstance(node, ast.Import):
      for alias in node.names:
        if alias.asname is None and alias.name.startswith("phasic."):
          found.add(alias.name.split(".")[1])
  return frozenset(found)


def _refuse_rebinding(ctx: context.Context, node: ast.AST) -> None:
  bound: list[str | None] = []
  if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
    bound = [node.id]
  elif isinstance(node, ast.arg):
    bound = [node.arg]
  elif isinstance(node, _NAMED):
    bound = [node.name]
  elif isinstance(node, ast.MatchMapping):
    bound = [node.rest]
  elif isinstance(node, ast.Global | ast.Nonlocal):
    bound = [*node.names]
  elif isinstance(node, ast.Import | ast.ImportFrom):
    bound = [
      alias.asname or alias.name
      for alias in node.names
      if isinstance(node, ast.ImportFrom)
      or alias.name.partition(".")[0] not in ("numpy", "phasic")
    ]
  for name in bound:
    if name in _RESERVED:
      ctx.refuse(node, f"{name} is rebound; its meaning is fixed")


def _check_array_name(ctx: context.Context, node: ast.Name) -> None:
  attribute = context.parent(node)
  if not isinstance(attribute, ast.Attribute):
    ctx.refuse(node, "np may only be used as np.<name>")
    return
  name = attribute.attr
  if not isinstance(attribute.ctx, ast.Load):
    ctx.refuse(node, f"np.{name} is written to; np belongs to all")
    return
  if name in tables.REFUSED_ARRAY_NAMES:
    ctx.refuse(node, f"np.{name} {tables.REFUSED_ARRAY_NAMES[name]}")
    return
  outer = context.parent(attribute)
  if isinstance(outer, ast.Attribute):
    if name in tables.ARRAY_SUBMODULES:
      name = f"{name}.{outer.attr}"
    else:
      ctx.refuse(
        node, f"np.{name}.{outer.attr}: attributes of np.<name> differ"
      )
      return
  if ctx.array_names is not None and name not in ctx.array_names:
    ctx.refuse(node, f"np.{name} is not in {_TITLES[ctx.substrate]}")


def _rewrite_dotted(
  ctx: context.Context, node: ast.Name, imported: frozenset[str]
) -> None:
  attribute = context.parent(node)
  if not isinstance(attribute, ast.Attribute):
    ctx.refuse(node, "phasic may only be used as phasic.<name>")
  elif attribute.attr in tables.SHARED:
    return
  elif attribute.attr not in imported:
    ctx.refuse(
      node,
      f"phasic.{attribute.attr} is used without `import"
      f" phasic.{attribute.attr}`",
    )
  else:
    target = imports.mapped_module(ctx, "phasic")
    assert target is not None
    ctx.replace(node, target)
