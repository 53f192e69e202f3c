"""Calls of the kernel for observations, each of them a pair of times."""

import numpy as np

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.math.calls import evaluation
from phasic.math.model import named_checks
from phasic.math.model import operands as operands_lib
from phasic.math.portable import portable_observations


class ObservationsCall:
  """A call of the kernel: each observation is a pair of times.

  Attributes:
    names: what the six arguments are called.
    arguments: the six arguments as arrays.
    layout: that of the model and one time of each pair.
    operands: the kernel's five.
    edges: its arrays of edges.
    kinds: (batch..., 2 n), kinds of the times. A pair's value is that of its
      first.
  """

  def __init__(self, arguments, validate_args=False, discrete=False):
    names = operands_lib.interval_names(discrete)
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
      lower = named_checks.check(
        "upper",
        lower,
        lower <= upper,
        "it must be at least lower, neither NaN",
        upper,
      )
    operands, self.layout = operands_lib.canonical(
      self._of_model(lower), (*names[:3], *names[4:])
    )
    self.edges = operands_lib.edges(self.layout, self._of_model(lower))
    lower = operands[-1]
    upper = operands_lib.times_operand(self.layout, upper)
    zeros = structures.cast(np.zeros_like(lower), "int32")
    self.kinds = _paired(
      zeros + portable_observations.LOG_OBSERVATION,
      zeros + portable_observations.NOTHING,
    )
    self.operands = (*operands[:-1], _paired(lower, upper))

  def _of_model(self, times):
    """The five arguments of functions of one time."""
    initial_probs, subgenerator, _, _, exit_rates, prob_zero = self.arguments
    return initial_probs, subgenerator, times, exit_rates, prob_zero

  def value(self):
    """Returns the log likelihoods."""
    value = kernel_ops.phase_type(
      "log_density",
      self.operands,
      portable_observations.fallback(self._discrete),
      self.edges,
      kinds=self.kinds,
      discrete=self._discrete,
    )
    return self.result(value)

  def vjp(self, cotangent, wanted=None):
    """Returns the log likelihoods and the cotangents of the six arguments."""
    wanted = evaluation.checked_names(wanted, self.names)
    value, bars = kernel_ops.phase_type_vjp(
      "log_density",
      self.operands,
      self._bar(cotangent),
      portable_observations.fallback(self._discrete),
      self.edges,
      self._wanted(wanted),
      kinds=self.kinds,
      discrete=self._discrete,
    )
    return self.result(value), self._named(bars, wanted)

  def hvp(self, tangents, cotangent, wanted=None):
    """Returns how the cotangents change along tangents of the arguments."""
    wanted = evaluation.checked_names(wanted, self.names)
    bars = kernel_ops.phase_type_hvp(
      "log_density",
      self.operands,
      self.tangent_operands(tangents),
      self._bar(cotangent),
      portable_observations.fallback(self._discrete),
      self.edges,
      self._wanted(wanted),
      kinds=self.kinds,
      discrete=self._discrete,
    )
    return self._named(bars, wanted)

  def jvp(self, tangents):
    """Returns the log likelihoods and their derivative along six tangents."""
    value, tangent = kernel_ops.phase_type_jvp(
      "log_density",
      self.operands,
      self.tangent_operands(tangents),
      portable_observations.fallback(self._discrete),
      self.edges,
      kinds=self.kinds,
      discrete=self._discrete,
    )
    return self.result(value), self.result(tangent)

  def _bar(self, cotangent):
    """Lays a cotangent of the log likelihoods out."""
    dtype = static.dtype_name(self.operands[0])
    bar = structures.as_array(cotangent, dtype, "cotangent")
    return self.weights(bar, "cotangent")

  def _wanted(self, wanted):
    """Returns for each operand whether its cotangent is."""
    model = [self.names[i] in wanted for i in (0, 1, 4, 5)]
    return (*model, "lower" in wanted or "upper" in wanted)

  def _named(self, bars, wanted):
    """Returns the operands' cotangents as those of the arguments wanted."""
    found = zip(self.names, self.cotangents(bars), strict=True)
    return tuple(x if n in wanted else None for n, x in found)

  def result(self, value):
    """Brings the kernel's result into the shape of the observations."""
    return operands_lib.result(self.layout, _unpaired(value)[..., 0])

  def cotangents(self, bars):
    """Brings the operands' cotangents into the order of the arguments."""
    if bars[-1] is None:
      model = operands_lib.argument_cotangents(self.layout, bars)
      return (*model[:2], None, None, *model[3:])
    pairs = _unpaired(bars[-1])
    parts = [
      operands_lib.argument_cotangents(self.layout, (*bars[:-1], pairs[..., i]))
      for i in range(2)
    ]
    _, _, lower, upper, _, _ = self.arguments
    initial_probs, rates, times, exit_rates, prob_zero = parts[0]
    return (
      initial_probs,
      rates,
      operands_lib.summed(times, static.shape(lower)),
      operands_lib.summed(parts[1][2], static.shape(upper)),
      exit_rates,
      prob_zero,
    )

  def weights(self, x, name):
    """Lays weights of the observations out; the second of a pair has none."""
    x = operands_lib.cotangent(self.layout, x, name)
    return _paired(x, np.zeros_like(x))

  def tangent_operands(self, tangents):
    """Lays tangents of the six arguments out as the kernel's operands."""
    names = self.names
    if len(tangents) != len(names):
      raise ValueError(
        f"tangents has {len(tangents)} entries: it must have one for each of "
        f"{names}"
      )
    initial_probs, rates, lower, upper, exit_rates, prob_zero = (
      evaluation.tangent(name, x, v)
      for name, x, v in zip(names, self.arguments, tangents, strict=True)
    )
    lower = np.broadcast_to(lower, self._shape)
    upper = np.broadcast_to(upper, self._shape)
    of_model = (initial_probs, rates, lower, exit_rates, prob_zero)
    laid_out = operands_lib.operands(self.layout, of_model)
    upper = operands_lib.times_operand(self.layout, upper)
    return (*laid_out[:-1], _paired(laid_out[-1], upper))


def _paired(first, second):
  """Interleaves two arrays along the last axis."""
  pairs = np.stack([first, second], axis=-1)
  return np.reshape(pairs, (*static.shape(first)[:-1], -1))


def _unpaired(x):
  """Returns (..., n, 2) of (..., 2 n)."""
  return np.reshape(x, (*static.shape(x)[:-1], -1, 2))
