"""Rewrites products of arrays for JAX, and comparisons for TensorFlow.

On GPUs and TPUs JAX multiplies float32 matrices in fewer digits unless it is
asked for more: on an H200 in TF32, with relative errors of 5e-4. So
`np.matmul(x, y)` becomes `np.matmul(x, y, precision="highest")` for JAX. On
CPUs, and for float64, that changes nothing.

In a `tf.Graph` that no `tf.function` builds, `x == y` of two tensors is `x is
y`. So it becomes `np.equal(x, y)` for TensorFlow, and `x != y` becomes
`np.not_equal(x, y)`, except where both sides are known to be host values. For
values that are not tensors these functions are Python's operators.
"""

from __future__ import annotations

import ast
import re

from substrates.meta import context
from substrates.meta import origins as origins_lib
from substrates.meta import tables

_NAMES: dict[type[ast.cmpop], tuple[str, str]] = {
  ast.Eq: ("==", "equal"),
  ast.NotEq: ("!=", "not_equal"),
}
_NO_ARRAYS = (ast.JoinedStr, ast.Tuple, ast.List, ast.Dict, ast.Set)
_MAYBE_ARRAYS = (origins_lib.Origin.ARRAY, origins_lib.Origin.UNKNOWN)


def rewrite_products(ctx: context.Context) -> None:
  """Adds the argument `precision` to products for JAX."""
  for node in ast.walk(ctx.source.tree):
    if (
      isinstance(node, ast.Attribute)
      and isinstance(node.value, ast.Name)
      and node.value.id == "np"
      and node.attr in tables.PRODUCTS
    ):
      _rewrite_product(ctx, node)


def _rewrite_product(ctx: context.Context, function: ast.Attribute) -> None:
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


def rewrite_comparisons(ctx: context.Context) -> None:
  """Replaces comparisons of values that may be tensors, for TensorFlow."""
  if ctx.substrate != "tf":
    return
  origins = origins_lib.Origins(ctx.source.tree)
  if "np" not in origins.imported:
    return
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.Compare) and _compares_arrays(node, origins):
      _rewrite_comparison(ctx, node)


def _compares_arrays(node: ast.Compare, origins: origins_lib.Origins) -> bool:
  if len(node.ops) > 1 or type(node.ops[0]) not in _NAMES:
    return False
  sides = (node.left, node.comparators[0])
  if any(_is_no_array(x) for x in sides):
    return False
  return any(origins.of(x) in _MAYBE_ARRAYS for x in sides)


def _is_no_array(node: ast.expr) -> bool:
  if isinstance(node, ast.Constant):
    return not isinstance(node.value, (int, float))
  return isinstance(node, _NO_ARRAYS)


def _rewrite_comparison(ctx: context.Context, node: ast.Compare) -> None:
  operator, name = _NAMES[type(node.ops[0])]
  start, end = ctx.source.start(node), ctx.source.end(node)
  left, right = ctx.source.end(node.left), ctx.source.start(node.comparators[0])
  place = re.search(operator, ctx.source.text[left:right])
  if place is None or "#" in ctx.source.text[left:right]:
    ctx.refuse(node, f"a comment beside {operator}: put it on a line before")
    return
  # Also replace a space before the operator: else it would precede the comma.
  first = left + len(ctx.source.text[left : left + place.start()].rstrip(" "))
  ctx.replace_span(start, start, f"np.{name}(")
  ctx.replace_span(first, left + place.end(), ",")
  ctx.replace_span(end, end, ")")
