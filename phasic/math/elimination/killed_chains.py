"""Chains that are killed at a constant rate, against over- and underflow.

Integrals of functions of a chain are densities of larger chains. With killing
at rate c in each phase, the kernel computes the wanted values times exp(-c t).
With c near the inverse of the largest time they neither overflow nor vanish. In
continuous time that time, a power of two, is the unit, so that c is one. In
discrete time the matrix is multiplied by 1 - c.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model
from phasic.math.numeric import array_utils
from phasic.math.numeric import exact_sums

# A part of a chain: the sources, targets and weights of some of its edges.
Part: TypeAlias = tuple[chain_solves.Indices, chain_solves.Indices, Array]


class Option(NamedTuple):
  """The kind of a killed chain: its time, and whether its edges have stays.

  It is the first option of a rule for `chain_calls` that uses a killed chain.

  Attributes:
    discrete: whether time is discrete.
    has_stays: whether probabilities of staying are not among the edges.
  """

  discrete: bool
  has_stays: bool


class Integral(NamedTuple):
  """The power, the kind and the time unit of an integral over time.

  Attributes:
    power: the dimension of the integral, as a power of time.
    kind: "density", or "log_density" for the integral's logarithm.
    shared: whether all times have one unit, so that times of one model share
      its chain; otherwise each has its own.
  """

  power: int
  kind: str = "density"
  shared: bool = True


class Killed(NamedTuple):
  """The edges of a killed chain, with times, killing rate and unit of time.

  Attributes:
    sources: the sources of the edges, (m,).
    targets: their targets.
    weights: their weights in the unit of time, (..., m).
    times: the times in that unit, (...), zero where they are not good.
    good: where times are valid, (...).
    rate: c, in discrete time a probability.
    unit: the unit of time, () or (...); None in discrete time.
  """

  sources: chain_solves.Indices
  targets: chain_solves.Indices
  weights: Array
  times: Array
  good: Array
  rate: Array
  unit: Array | None

  @property
  def keep(self) -> Array | float:
    """The share of each weight that killing leaves: 1 - c in discrete time."""
    return 1.0 if self.unit is not None else 1.0 - self.rate

  @property
  def rates(self) -> Array:
    """The killing rate, an array of shape (1,)."""
    return np.reshape(self.rate, (1,))


def value(
  rule: Callable[..., Array],
  model: Model,
  times: Array,
  discrete: bool,
  *more: Hashable,
) -> Array:
  """Evaluates `rule(option, *more, system, times)` by `chain_calls`."""
  has_stays = discrete and not operands.is_edges(model[1])
  options = (Option(discrete, has_stays), *more)
  return chain_calls.value_of_arrays(rule, model, discrete, options, times)


def edges(option: Option, system: chain_solves.System) -> Part:
  """Returns sources, targets and unscaled weights of edges, loops included."""
  sources, targets = system.indices[0], system.indices[1]
  weights = exact_sums.times_power(system.weights, system.exponent[..., None])
  if system.stay is None or not option.has_stays:
    return sources, targets, weights
  phases = structures.cast(np.arange(static.shape(system.stay)[-1]), "int32")
  sources, targets = (
    np.concatenate([structures.cast(x, "int32"), phases])
    for x in (sources, targets)
  )
  return sources, targets, array_utils.joined(weights, system.stay)


def good_times(times: Array, discrete: bool) -> Array:
  """Returns which times are valid, a boolean array of shape (...)."""
  good = (times >= 0) & (times < math.inf)
  return good & (np.floor(times) == times) if discrete else good


def kill(
  option: Option,
  system: chain_solves.System,
  times: Array,
  power: int = 1,
  shared: bool = True,
) -> Killed:
  """Kills a chain at a rate near the inverse of the largest time.

  Args:
    option: the option of the rule.
    system: the system.
    times: (...). Small times are not good if their power underflows in the
      unit of time.
    power: the power of times with which the wanted values begin.
    shared: as in `Integral`.
  """
  good = good_times(times, option.discrete)
  times = np.where(good, times, 0.0)
  largest = autodiff.stop_gradient(times)
  if shared:
    largest = array_utils.largest_or_zero(largest)
  sources, targets, weights = edges(option, system)
  if option.discrete:
    rate = 1.0 / (largest + 2.0)
    return Killed(sources, targets, weights, times, good, rate, None)
  info = onp.finfo(static.dtype_name(times))
  n = array_ops.binary_exponent(np.where(largest > 0, largest, 1.0))
  n = np.minimum(np.maximum(n, float(info.minexp)), float(info.maxexp - 2))
  unit = array_ops.power_of_two(n)
  scaled_times = times * array_ops.power_of_two(-n)
  good = good & (
    (times == 0) | (scaled_times > 2.0 ** ((info.minexp + 20) / power))
  )
  weights = weights * unit[..., None]
  rate = np.zeros((), dtype=static.dtype_name(times)) + 1.0
  return Killed(sources, targets, weights, scaled_times, good, rate, unit)


def integral(
  option: Option,
  form: Integral,
  killed: Killed,
  initial: Array,
  parts: Sequence[Part],
) -> Array:
  """Computes an integral over [0, t] as a density of a larger killed chain.

  Args:
    option: the option of the rule.
    form: the integral's power, kind and time unit.
    killed: the killed chain.
    initial: masses of the phases of the larger chain, (..., q).
    parts: its edges, as in `density`. Paths in it end after one killing more
      than the power of the integral.
  """
  power, kind, _ = form
  c, times = killed.rate, killed.times
  later = times + 1.0 if option.discrete else times
  result = density(option.discrete, initial, parts, later, kind)
  if killed.unit is None:
    alive = (power - times) * np.log1p(-c)
    sizes = [c] * (power + 1)
  else:
    alive, sizes = times, [1.0 / killed.unit] * power
  if kind == "log_density":
    for size in sizes:
      alive = alive - np.log(size)
    result = result + alive
  else:
    for size in sizes:
      result = result / size
    result = result * np.exp(alive)
  return np.where(killed.good, result, math.nan)


def density(
  discrete: bool,
  initial: Array,
  parts: Sequence[Part],
  times: Array,
  kind: str = "density",
) -> Array:
  """Computes the absorption density of the chain that `parts` describe.

  Args:
    discrete: whether time is discrete.
    initial: masses of its phases, (..., q).
    parts: tuples of sources, targets and weights (..., m).
    times: (...).
    kind: "density", or "log_density" for its logarithm.
  """
  sources, targets = (
    np.concatenate([structures.cast(part[i], "int32") for part in parts])
    for i in range(2)
  )
  weights = array_utils.joined(*(part[2] for part in parts))
  make = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  none = np.zeros((), dtype=initial.dtype)
  arguments = (initial, make(sources, targets, weights), times, None, none)
  return evaluation.value_of_arrays(kind, arguments, discrete)
