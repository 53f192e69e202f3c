"""Values and derivatives of phase-type functions, by kernel or portable path.

Arguments are the five of `operands.ARGUMENTS`, or with `discrete` those of
`operands.DISCRETE_ARGUMENTS`.
"""

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.math.model import operands as operands_lib
from phasic.math.portable import portable_edges


def value(kind, arguments, discrete=False):
  """Lays the arguments out, calls the kernel and restores the shape."""
  operands, layout, edges = _prepare(arguments, discrete)
  result = kernel_ops.phase_type(
    kind, operands, fallback(discrete), edges, discrete=discrete
  )
  return operands_lib.result(layout, result)


def vjp(kind, arguments, cotangent, wanted=None, discrete=False):
  """Returns the value and the cotangents of the arguments.

  Raises:
    ValueError: `wanted` is no sequence of names of arguments, or shapes do not
      fit.
  """
  names = operands_lib.names(discrete)
  wanted = checked_names(wanted, names)
  operands, layout, edges = _prepare(arguments, discrete)
  dtype = static.dtype_name(operands[0])
  bar = structures.as_array(cotangent, dtype, "cotangent")
  result, bars = kernel_ops.phase_type_vjp(
    kind,
    operands,
    operands_lib.cotangent(layout, bar),
    fallback(discrete),
    edges,
    tuple(names[i] in wanted for i in operands_lib.OPERANDS),
    discrete=discrete,
  )
  return (
    operands_lib.result(layout, result),
    operands_lib.argument_cotangents(layout, bars),
  )


def jvp(kind, arguments, tangents, discrete=False):
  """Returns the value and its derivative along tangents of the arguments."""
  names = operands_lib.names(discrete)
  arguments = operands_lib.convert(*arguments, names=names)
  operands, layout = operands_lib.canonical(arguments, names)
  if len(tangents) != len(arguments):
    raise ValueError(
      f"tangents has {len(tangents)} entries: it must have one for each of "
      f"{names}"
    )
  filled = [
    tangent(name, x, v)
    for name, x, v in zip(names, arguments, tangents, strict=True)
  ]
  result, moved = kernel_ops.phase_type_jvp(
    kind,
    operands,
    operands_lib.operands(layout, filled),
    fallback(discrete),
    operands_lib.edges(layout, arguments),
    discrete=discrete,
  )
  return (
    operands_lib.result(layout, result),
    operands_lib.result(layout, moved),
  )


def checked_names(wanted, names):
  """Returns the names of the arguments that are wanted, None meaning all.

  Raises:
    ValueError: `wanted` is no sequence of these names.
  """
  if wanted is None:
    return names
  if isinstance(wanted, str) or any(x not in names for x in wanted):
    raise ValueError(
      f"wanted is {raw_arguments.shown(wanted)}: it must be a sequence of names from {names}"
    )
  return tuple(wanted)


def tangent(name, x, v):
  """Returns an argument's tangent, zeros for None; of edges the parameters'."""
  if operands_lib.is_edges(x):
    x = x.parameters
  if x is None:
    if v is not None:
      raise ValueError(f"tangents has an entry for {name}, which is None")
    return None
  if v is None:
    return np.zeros_like(x)
  name = f"tangent of {name}"
  v = structures.as_array(v, static.dtype_name(x), name)
  return operands_lib.broadcast(name, v, static.shape(x))


def fallback(discrete):
  """The function of the portable path."""
  if discrete:
    return portable_edges.discrete_phase_type
  return portable_edges.phase_type


def _prepare(arguments, discrete):
  """Returns operands, layout and the arrays of edges."""
  names = operands_lib.names(discrete)
  arguments = operands_lib.convert(*arguments, names=names)
  operands, layout = operands_lib.canonical(arguments, names)
  return operands, layout, operands_lib.edges(layout, arguments)
