"""Replaces integer seeds in tests and examples by keys for JAX.

`seed=42` becomes `seed=jax.random.key(42)` for JAX, and so does the literal
first argument of a function of phasic.internal.random. `import jax` goes
where it moves no line: on the blank line before the first import, or in
front of that import.
"""

from __future__ import annotations

import ast

from substrates.meta import context
from substrates.meta import paths
from substrates.meta import tables

_HINT = "a seed is an int literal, so that it can become a key for JAX"


def rewrite(ctx: context.Context) -> None:
  """Rewrites literal seeds of a test or example; refuses them elsewhere."""
  seeds = _find(ctx)
  if ctx.profile is paths.Profile.SOURCE:
    for seed in seeds:
      ctx.refuse(seed, "a literal seed in the library; take it as an argument")
    return
  good = []
  for seed in seeds:
    if isinstance(seed, ast.Constant) and type(seed.value) is int:
      good.append(seed)
    else:
      ctx.refuse(seed, _HINT)
  if ctx.substrate != "jax" or not good:
    return
  for seed in good:
    ctx.replace(seed, f"jax.random.key({ctx.source.segment(seed)})")
  _import_jax(ctx, min(good, key=lambda seed: seed.lineno))


def _find(ctx: context.Context) -> list[ast.expr]:
  """Returns all literal seeds: `seed` keywords and first arguments."""
  seam, foreign = set(), {"onp"}
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.ImportFrom):
      for alias in node.names:
        module, bound = (
          f"{node.module}.{alias.name}",
          alias.asname or alias.name,
        )
        if module == "phasic.internal.random":
          seam.add(bound)
        elif not module.startswith(("phasic.", "tests.")):
          foreign.add(bound)
    elif isinstance(node, ast.Import):
      for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        if alias.name == "phasic.internal.random" and alias.asname:
          seam.add(bound)
        elif bound != "phasic":
          foreign.add(bound)
  found = []
  for node in ast.walk(ctx.source.tree):
    if not isinstance(node, ast.Call):
      continue
    root = context.root_name(node.func)
    if root in foreign:
      continue
    found += [word.value for word in node.keywords if word.arg == "seed"]
    if (
      root in seam
      and isinstance(node.func, ast.Attribute)
      and node.func.attr in tables.RANDOM_FUNCTIONS
    ):
      found += node.args[:1]
  return [seed for seed in found if _is_literal(seed)]


def _is_literal(node: ast.expr) -> bool:
  if isinstance(node, ast.Constant):
    return node.value is not None
  return isinstance(node, ast.UnaryOp | ast.Tuple | ast.List | ast.BinOp)


def _import_jax(ctx: context.Context, first_seed: ast.expr) -> None:
  carrier = None
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.Import):
      if any(a.asname is None and a.name == "jax" for a in node.names):
        return
    elif (
      isinstance(node, ast.Name)
      and node.id == "jax"
      and not isinstance(node.ctx, ast.Load)
    ):
      ctx.refuse(node, "jax is rebound, but a seed needs jax.random.key")
  for node in ctx.source.tree.body:
    if isinstance(node, ast.Import) or (
      isinstance(node, ast.ImportFrom) and node.module != "__future__"
    ):
      carrier = node
      break
  if carrier is None or carrier.lineno > first_seed.lineno:
    ctx.refuse(
      first_seed,
      "a seed needs an import before it, to which `import jax` can be added",
    )
    return
  if (
    ctx.profile is paths.Profile.TEST
    and carrier.col_offset == 0 < carrier.lineno - 1
  ):
    start, end = ctx.source.line_span(carrier.lineno - 1)
    if start == end:
      ctx.replace_span(start, end, "import jax")
      return
  start = ctx.source.start(carrier)
  ctx.replace_span(start, start, "import jax; ")
