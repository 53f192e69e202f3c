"""Asks JAX to compute products of arrays in full precision.

On GPUs and TPUs JAX multiplies float32 matrices in fewer digits unless it is
asked for more: on an H200 in TF32, with relative errors of 5e-4. So
`np.matmul(x, y)` becomes `np.matmul(x, y, precision="highest")` for JAX. On
CPUs, and for float64, that changes nothing.
"""

from __future__ import annotations

import ast
import re

from substrates.meta import context
from substrates.meta import tables


def rewrite(ctx: context.Context) -> None:
  """Adds the argument `precision` to products for JAX."""
  for node in ast.walk(ctx.source.tree):
    if (
      isinstance(node, ast.Attribute)
      and isinstance(node.value, ast.Name)
      and node.value.id == "np"
      and node.attr in tables.PRODUCTS
    ):
      _rewrite(ctx, node)


def _rewrite(ctx: context.Context, function: ast.Attribute) -> None:
  call = context.parent(function)
  if not isinstance(call, ast.Call) or call.func is not function:
    ctx.refuse(
      function, f"np.{function.attr} is a value: call it, as JAX's call differs"
    )
    return
  given = [*call.args, *(word.value for word in call.keywords)]
  last = max((ctx.source.end(x) for x in given), default=0)
  close = ctx.source.end(call) - 1
  between = ctx.source.text[last:close]
  if not given or re.fullmatch(r"[\s)]*,?\s*", between) is None:
    ctx.refuse(
      function,
      f"np.{function.attr}: its last argument is not followed by the closing "
      "parenthesis, before which JAX's call has one more argument",
    )
  elif ctx.substrate == "jax":
    place = last + len(between.rstrip())
    comma = "" if between.rstrip().endswith(",") else ","
    ctx.replace_span(place, place, f'{comma} precision="highest"')
