"""Calls of the kernel for log likelihoods of exact and censored times."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import operands as operands_lib
from phasic.math.model import value_rules
from phasic.math.model.model_types import Given, TimedModel
from phasic.math.numeric import array_utils
from phasic.math.portable import portable_observations


class ObservationsCall:
  """A call of the kernel for log likelihoods of exact and censored times.

  An observation is a pair of times, lower and upper.

  Attributes:
    names: the names of the six arguments.
    arguments: the six arguments as arrays.
    layout: the layout of the model and one time of each pair.
    operands: the kernel's five operands.
    edges: the kernel's arrays of edges.
    kinds: (batch..., 2 n), kinds of the times. The kernel returns the log
      likelihood of a pair at its first time.
  """

  def __init__(
    self,
    arguments: Sequence[Given],
    validate_args: bool = False,
    discrete: bool = False,
  ) -> None:
    names = operands_lib.argument_names(discrete, "lower", "upper")
    self.names, self._discrete = names, discrete
    self.arguments = operands_lib.convert(*arguments, names=names)
    _, _, lower, upper, _, _ = self.arguments
    try:
      shape = static.broadcast_shapes(static.shape(lower), static.shape(upper))
    except ValueError:
      raise ValueError(
        f"lower has shape {static.shape(lower)} and upper "
        f"{static.shape(upper)}: they do not broadcast"
      ) from None
    self._shape = shape
    lower, upper = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)
    if validate_args:
      lower = value_rules.check(
        "upper",
        lower,
        lower <= upper,
        "it must be at least lower, neither NaN",
        upper,
      )
    operands, self.layout = operands_lib.canonical(
      self._timed_model(lower), (*names[:3], *names[4:])
    )
    self.edges = operands_lib.edges(self.layout, self._timed_model(lower))
    lower = operands[-1]
    upper = operands_lib.times_operand(self.layout, upper)
    zeros = structures.cast(np.zeros_like(lower), "int32")
    self.kinds = _paired(
      zeros + portable_observations.LOG_OBSERVATION,
      zeros + portable_observations.NOTHING,
    )
    self.operands = (*operands[:-1], _paired(lower, upper))

  def _timed_model(self, times: Array) -> TimedModel:
    """Returns the arguments of a function of one time: model and `times`."""
    initial_probs, subgenerator, _, _, exit_rates, prob_zero = self.arguments
    return initial_probs, subgenerator, times, exit_rates, prob_zero

  def value(self) -> Array:
    """Computes the log likelihoods of the observations."""
    value = kernel_ops.phase_type(
      "log_density",
      self.operands,
      portable_observations.fallback(self._discrete),
      self.edges,
      kinds=self.kinds,
      discrete=self._discrete,
    )
    return self.result(value)

  def result(self, value: Array) -> Array:
    """Reshapes the kernel's result to the shape of the observations."""
    _, time_axes = self.layout.axes
    n = math.prod(self.layout.full[i] for i in time_axes)
    pairs = np.reshape(value, (*static.shape(value)[:-1], n, 2))
    return operands_lib.result(self.layout, pairs[..., 0])

  def weights(self, x: Array, name: str) -> Array:
    """Lays out observation weights; the second time of a pair has weight 0."""
    x = operands_lib.cotangent(self.layout, x, name)
    return _paired(x, np.zeros_like(x))


def _paired(first: Array, second: Array) -> Array:
  """Interleaves two arrays along the last axis."""
  pairs = np.stack([first, second], axis=-1)
  return array_utils.merged(pairs, 2)
