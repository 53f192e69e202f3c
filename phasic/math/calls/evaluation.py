"""Values and derivatives of phase-type functions, by kernel or portable path.

The five arguments are initial masses, the matrix or edges, times, exits and the
mass at zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal.arrays import Array
from phasic.math.calls import kernel_derivatives
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Given
from phasic.math.model.model_types import TimedModel
from phasic.math.portable import portable_edges


def value(
  kind: str, arguments: Sequence[Given], discrete: bool = False
) -> Array:
  """Checks the arguments and computes the function `kind` of a distribution."""
  arguments = operands_lib.convert(
    *arguments, names=operands_lib.argument_names(discrete, "value")
  )
  return value_of_arrays(kind, arguments, discrete)


def value_of_arrays(
  kind: str, arguments: TimedModel, discrete: bool = False
) -> Array:
  """Computes the function `kind` of a distribution, from converted arguments.

  Args:
    kind: as in `kernel_ops.phase_type`.
    arguments: as `operands.convert` returns them.
    discrete: whether time is counted in steps.
  """
  operands, layout, edges = _laid_out(arguments, discrete)
  result = kernel_ops.phase_type(
    kind, operands, fallback(discrete), edges, discrete=discrete
  )
  return operands_lib.result(layout, result)


def slope(kind: str, arguments: Sequence[Given]) -> Array:
  """Computes the derivative of `value` with respect to the times.

  Time is continuous. Only the kernel's call is differentiated.
  """
  operands, layout, edges = _prepare(arguments, False)
  along = (None, None, None, None, np.ones_like(operands[4]))
  found = kernel_derivatives.jvp(kind, operands, along, fallback(False), edges)
  return operands_lib.result(layout, found)


def value_and_start_slopes(
  kind: str, arguments: TimedModel, discrete: bool = False
) -> tuple[Array, Array]:
  """Computes `value` and its derivatives with respect to the initial masses.

  The derivatives are summed over the times, (batch..., p) with the model's
  batch shape. Only the kernel's call is differentiated. Arguments are as
  `operands.convert` returns them.
  """
  operands, layout, edges = _laid_out(arguments, discrete)
  value, (slopes,) = kernel_derivatives.vjp(
    kind, operands, None, fallback(discrete), edges, (0,), discrete
  )
  slopes = operands_lib.rows(layout, slopes)
  return operands_lib.result(layout, value), slopes


def weighted_start_slopes(
  kind: str,
  arguments: Sequence[Given],
  weights: Array,
  discrete: bool = False,
) -> Array:
  """Computes derivatives with respect to the initial masses, (batch..., p).

  They are sums over the times, with weights that broadcast with the times.
  """
  operands, layout, edges = _prepare(arguments, discrete)
  _, (slopes,) = kernel_derivatives.vjp(
    kind,
    operands,
    operands_lib.cotangent(layout, weights, "weights"),
    fallback(discrete),
    edges,
    (0,),
    discrete,
  )
  return operands_lib.rows(layout, slopes)


def fallback(discrete: bool) -> Callable[..., Array]:
  """Returns the array code that computes `kernel_ops.phase_type`."""
  if discrete:
    return portable_edges.discrete_phase_type
  return portable_edges.phase_type


def _prepare(
  arguments: Sequence[Given], discrete: bool
) -> tuple[tuple[Array, ...], operands_lib.Layout, tuple[Array, ...]]:
  """Checks the arguments and converts them to the kernel's operands."""
  names = operands_lib.argument_names(discrete, "value")
  return _laid_out(operands_lib.convert(*arguments, names=names), discrete)


def _laid_out(
  arguments: TimedModel, discrete: bool
) -> tuple[tuple[Array, ...], operands_lib.Layout, tuple[Array, ...]]:
  """Returns the kernel's operands, their `Layout`, and the arrays of edges."""
  names = operands_lib.argument_names(discrete, "value")
  operands, layout = operands_lib.canonical(arguments, names)
  return operands, layout, operands_lib.edges(layout, arguments)
