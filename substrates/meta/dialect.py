"""Refuses array methods and in-place stores, which not all backends have."""

from __future__ import annotations

import ast

from substrates.meta import context
from substrates.meta import origins as origins_lib
from substrates.meta import paths
from substrates.meta import tables

Origin = origins_lib.Origin
_HOST = " (host value: annotate its name or function as onp.ndarray)"


def check(ctx: context.Context) -> None:
  """Refuses in-place stores and array methods.

  In the library they are allowed only for values that are known to be host
  values. In tests and examples, where an array would raise an error at run
  time, they are refused only for values that are known to be arrays.
  """
  origins = origins_lib.Origins(ctx.source.tree)
  strict = ctx.profile is paths.Profile.SOURCE

  def refused(origin: Origin) -> bool:
    if strict:
      return origin in (Origin.ARRAY, Origin.UNKNOWN)
    return origin is Origin.ARRAY

  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.AugAssign):
      if not isinstance(node.target, ast.Subscript) and refused(
        origins.of(node.target)
      ):
        _refuse_augmented(ctx, node)
    elif isinstance(node, ast.Subscript):
      if not isinstance(node.ctx, ast.Load) and refused(origins.of(node.value)):
        ctx.refuse(
          node,
          f"in-place store to {ast.unparse(node.value)}[...]: arrays are not"
          " written to; use np.where or np.concatenate (a local dict, list or"
          " onp array is fine)",
        )
    elif isinstance(node, ast.Call):
      _check_out(ctx, node)
    elif isinstance(node, ast.BinOp):
      if strict and isinstance(node.op, ast.MatMult):
        ctx.refuse(node, "operator @: use np.matmul")
    elif isinstance(node, ast.UnaryOp):
      if (
        strict
        and isinstance(node.op, ast.Invert)
        and refused(origins.of(node.operand))
      ):
        ctx.refuse(
          node,
          "operator ~ of an array: use np.logical_not (TensorFlow's graph"
          f" optimizer makes x < y of ~(x >= y), wrong of NaN){_HOST}",
        )
    elif (
      isinstance(node, ast.Attribute)
      and node.attr in tables.ARRAY_METHODS
      and isinstance(node.ctx, ast.Load)
      and not _known(node.value, origins)
      and refused(origins.of(node.value))
    ):
      ctx.refuse(
        node,
        f".{node.attr} of an array: {tables.ARRAY_METHODS[node.attr]}{_HOST}",
      )


def _known(receiver: ast.expr, origins: origins_lib.Origins) -> bool:
  """Returns whether the receiver is a module, `self`, a class or `super()`."""
  if isinstance(receiver, ast.Call):
    return isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
  if isinstance(receiver, ast.Name) and (
    receiver.id in ("self", "cls") or receiver.id.lstrip("_")[:1].isupper()
  ):
    return True
  root = context.root_name(receiver)
  return root in origins.imported or root in ("np", "onp")


def _refuse_augmented(ctx: context.Context, node: ast.AugAssign) -> None:
  name = ast.unparse(node.target)
  ctx.refuse(
    node,
    f"augmented assignment to {name} may write in place: write"
    f" {name} = {name} + ... (a name bound to Python numbers is fine)",
  )


def _check_out(ctx: context.Context, node: ast.Call) -> None:
  if context.root_name(node.func) == "np":
    for keyword in node.keywords:
      if keyword.arg == "out":
        ctx.refuse(keyword, "out= stores in place")
