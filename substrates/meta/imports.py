"""Rewrites imports of NumPy and of phasic; refuses unlisted imports."""

from __future__ import annotations

import ast
import re

from substrates.meta import context
from substrates.meta import paths
from substrates.meta import tables

_NUMPY = "NumPy is imported as `import numpy as np` (array code) or"
_NUMPY += " `import numpy as onp` (host work), nothing else"


def rewrite(ctx: context.Context) -> None:
  """Rewrites or refuses every import of a text."""
  for function in ast.walk(ctx.source.tree):
    if isinstance(function, ast.FunctionDef):
      for node in ast.walk(function):
        node.in_function = True  # type: ignore[attr-defined]
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.Import):
      _import(ctx, node)
    elif isinstance(node, ast.ImportFrom):
      _import_from(ctx, node)


def mapped_module(ctx: context.Context, name: str) -> str | None:
  """Returns a phasic module's name in the substrate; None if unchanged."""
  first, _, rest = name.partition(".")
  if first == "phasic":
    if rest.partition(".")[0] in tables.SHARED:
      return None
    return f"phasic.substrates.{ctx.substrate}" + (f".{rest}" if rest else "")
  if first == "tests" and ctx.profile is paths.Profile.TEST:
    if rest.partition(".")[0] in tables.SHARED_TESTS:
      return None
    return f"tests.generated.{ctx.substrate}" + (f".{rest}" if rest else "")
  return None


def allowed_roots(ctx: context.Context, node: ast.AST) -> frozenset[str]:
  """Returns the top-level names of other packages that `node` may import."""
  if ctx.profile in (paths.Profile.TEST, paths.Profile.EXAMPLE):
    roots = tables.TEST_IMPORTS
  else:
    roots = tables.SOURCE_IMPORTS
    if getattr(node, "in_function", False):
      roots |= tables.OPTIONAL_IMPORTS
  roots |= (tables.adapter_imports(ctx.source.path) or {}).get(
    ctx.substrate, frozenset()
  )
  if ctx.profile is paths.Profile.HOST_SEAM:
    roots |= {"importlib"}  # `native_module` needs it.
  if getattr(node, "mode_branch", False):
    roots |= tables.FRAMEWORKS[ctx.substrate]
  return roots


def _refuse_foreign(ctx: context.Context, node: ast.AST, module: str) -> None:
  if module.partition(".")[0] not in allowed_roots(ctx, node):
    ctx.refuse(
      node, f"import of {module} is not in the table of allowed imports"
    )


def _is_project(ctx: context.Context, module: str) -> bool:
  root = module.partition(".")[0]
  if root == "tests":
    return ctx.profile is paths.Profile.TEST
  return root == "phasic"


def _refuse_substrate(ctx: context.Context, node: ast.AST, module: str) -> bool:
  if re.match(r"(phasic\.substrates|tests\.generated)(\.|$)", module):
    ctx.refuse(
      node, f"import of {module}: source written once names no substrate"
    )
    return True
  return False


def _import(ctx: context.Context, node: ast.Import) -> None:
  for alias in node.names:
    root = alias.name.partition(".")[0]
    if root == "numpy":
      if alias.name != "numpy" or alias.asname not in ("np", "onp"):
        ctx.refuse(node, _NUMPY)
      elif len(node.names) > 1:
        ctx.refuse(node, "NumPy is imported on a line of its own")
      elif alias.asname == "np":
        ctx.replace(node, tables.ARRAY_IMPORT[ctx.substrate])
    elif _is_project(ctx, alias.name):
      if _refuse_substrate(ctx, node, alias.name):
        continue
      if alias.name == "tests" or (alias.name == "phasic" and alias.asname):
        ctx.refuse(node, f"import modules of {root}, not {root} itself")
        continue
      module = mapped_module(ctx, alias.name)
      if alias.name != "phasic" and module is not None:
        start = ctx.source.start(alias)
        ctx.replace_span(start, start + len(alias.name), module)
    else:
      _refuse_foreign(ctx, node, alias.name)


def _import_from(ctx: context.Context, node: ast.ImportFrom) -> None:
  module = node.module or ""
  names = [alias.name for alias in node.names]
  if node.level:
    ctx.refuse(node, "relative import: name the module in full")
  elif "*" in names:
    ctx.refuse(node, "star import: name what is imported")
  elif module.partition(".")[0] == "numpy":
    ctx.refuse(node, _NUMPY)
  elif not _is_project(ctx, module):
    _refuse_foreign(ctx, node, module)
  elif not _refuse_substrate(ctx, node, f"{module}.{names[0]}"):
    if module in ("phasic", "tests"):
      once = tables.SHARED | tables.SHARED_TESTS
      shared = [name for name in names if name in once]
      if shared and len(shared) < len(names):
        ctx.refuse(node, f"import {shared[0]} on a line of its own")
      if shared:
        return
    target = mapped_module(ctx, module)
    if target is None:
      return
    start = ctx.source.start(node)
    match = re.match(r"from +([\w.]+) +import\b", ctx.source.text[start:])
    if match is None:
      ctx.refuse(node, "write `from module import` on one line")
      return
    ctx.replace_span(start + match.start(1), start + match.end(1), target)


def check_seam(ctx: context.Context) -> None:
  """Checks the imports of a backend-specific file, which is only copied."""
  own = f"phasic.substrates.{ctx.substrate}.internal"
  roots = frozenset(tables.TEST_IMPORTS) | tables.FRAMEWORKS[ctx.substrate]
  roots = (roots - {"pytest", "hypothesis", "absl"}) | {"numpy"}
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.ImportFrom):
      if node.level:
        ctx.refuse(node, "relative import: name the module in full")
        continue
      modules = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
      modules = [alias.name for alias in node.names]
    else:
      continue
    for module in modules:
      root, _, rest = module.partition(".")
      if root == "phasic":
        if rest.partition(".")[0] not in tables.SHARED and not (
          f"{module}.".startswith(f"{own}.")
        ):
          ctx.refuse(
            node, f"import of {module}: the seam imports only {own} and _native"
          )
      elif root not in roots:
        ctx.refuse(
          node, f"import of {module} is not in the table of allowed imports"
        )
