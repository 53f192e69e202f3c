"""Values and derivatives of phase-type functions, by kernel or portable path.

The five arguments are initial masses, the matrix or edges, times, exits and the
mass at zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal.arrays import Array
from phasic.math.calls import kernel_derivatives
from phasic.math.calls import phase_weights
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import Given, TimedModel
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
    kind, operands, portable_edges.fallback(discrete), edges, discrete=discrete
  )
  return operands_lib.result(layout, result)


def slope(kind: str, arguments: Sequence[Given]) -> Array:
  """Computes the derivative of `value` with respect to the times.

  Time is continuous. Only the kernel's call is differentiated.
  """
  operands, layout, edges = _prepare(arguments, False)
  along = (None, None, None, None, np.ones_like(operands[4]))
  slopes = kernel_derivatives.jvp(
    kind, operands, along, portable_edges.fallback(False), edges
  )
  return operands_lib.result(layout, slopes)


def log_value_and_weight_slopes(
  arguments: TimedModel, discrete: bool = False
) -> tuple[Array, Array]:
  """Computes the log of a weighted density, and its slopes in the weights.

  Args:
    arguments: as `operands.convert` returns them, but edges have weights
      (batch..., p) in the place of exits, which are constants to derivatives;
      see `kernel_ops`. The batch is that of model and times together.
    discrete: whether time is counted in steps.

  Returns:
    The value, (batch...), and its derivatives, (batch..., p).
  """
  operands, layout, edges = _laid_out(arguments, discrete)
  value, slopes = phase_weights.log_value_and_slopes(
    discrete, *operands, *edges
  )
  return operands_lib.result(layout, value), operands_lib.rows(layout, slopes)


def weight_slopes(
  arguments: TimedModel, cotangent: Array, discrete: bool = False
) -> Array:
  """Computes derivatives of a density with respect to weights of phases.

  Arguments and result are as in `phase_slopes`.
  """
  return phase_slopes(arguments, cotangent, discrete, 2)


def phase_slopes(
  arguments: TimedModel, cotangent: Array, discrete: bool, place: int
) -> Array:
  """Computes derivatives of a density with respect to vectors over phases.

  The result has shape (batch..., p). The derivatives are sums over the times
  of a model, with factors `cotangent` that broadcast with the times. Other
  arguments are as in `log_value_and_weight_slopes`, but the batch is the
  model's.

  Args:
    arguments: the arguments.
    cotangent: the factors.
    discrete: whether time is counted in steps.
    place: 0 for derivatives in the initial masses, 2 in the weights.
  """
  operands, layout, edges = _laid_out(arguments, discrete)
  (slopes,) = kernel_derivatives.cotangents(
    "density",
    operands,
    operands_lib.cotangent(layout, cotangent, "weights"),
    portable_edges.fallback(discrete),
    edges,
    (place,),
    discrete,
  )
  return operands_lib.rows(layout, slopes)


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
