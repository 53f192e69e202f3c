"""Chains that are killed at a constant rate, to keep values in range.

Integrals of functions of a chain are densities of larger chains. With killing
at rate c in each phase, the kernel computes the wanted values times exp(-c t).
With c the inverse of the largest time they neither overflow nor vanish. In
discrete time the matrix is multiplied by 1 - c.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import math
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

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
from phasic.math.numeric import scaled_sums

# The largest time counts as at least this: the inverse of a smaller one may be
# infinite.
_LEAST_TIME = {"float64": 1e-290, "float32": 1e-30}
# Sources, targets and weights of edges.
Part: TypeAlias = tuple[chain_solves.Indices, chain_solves.Indices, Array]
_More = TypeVar("_More", bound=Hashable)


class Option(NamedTuple, Generic[_More]):
  """The option of a rule for `chain_calls`, with the structure of its chain.

  Attributes:
    discrete: whether time is discrete.
    has_stays: whether probabilities of staying are not among the edges.
    more: a further option of a rule, hashable.
  """

  discrete: bool
  has_stays: bool
  more: _More


def value(
  rule: Callable[..., Array],
  model: Model,
  times: Array,
  discrete: bool,
  more: Hashable = None,
) -> Array:
  """Evaluates a `chain_calls` rule, `rule(option, system, times)`, (...)."""
  initial, matrix, exits, atom = model
  values = (initial, matrix, times, exits, atom)
  has_stays = discrete and not operands.is_edges(matrix)
  option = Option(discrete, has_stays, more)
  return chain_calls.value(rule, option, values, operands.names(discrete), (0,))


def edges(option: Option, system: chain_solves.System) -> Part:
  """Returns sources, targets and unscaled weights of edges, including stays."""
  sources, targets = system.indices[0], system.indices[1]
  weights = scaled_sums.times_power(system.weights, system.exponent[..., None])
  if system.stay is None or not option.has_stays:
    return sources, targets, weights
  phases = structures.cast(np.arange(static.shape(system.stay)[-1]), "int32")
  sources, targets = (
    np.concatenate([structures.cast(x, "int32"), phases])
    for x in (sources, targets)
  )
  return sources, targets, array_utils.joined(weights, system.stay)


def good_times(times: Array, discrete: bool) -> Array:
  """Returns which times are valid, as a boolean array (...)."""
  good = (times >= 0) & (times < math.inf)
  return good & (np.floor(times) == times) if discrete else good


def killing(times: Array, discrete: bool) -> tuple[Array, Array, Array]:
  """Returns times, zero where invalid; their validity; the killing rate c."""
  good = good_times(times, discrete)
  times = np.where(good, times, 0.0)
  fixed = np.reshape(autodiff.stop_gradient(times), (-1,))
  largest = np.max(fixed, axis=-1)
  if discrete:
    return times, good, 1.0 / (largest + 2.0)
  least = _LEAST_TIME[static.dtype_name(times)]
  largest = np.where(largest > 0, np.maximum(largest, least), 1.0)
  return times, good, 1.0 / largest


def density(
  discrete: bool,
  initial: Array,
  parts: Sequence[Part],
  times: Array,
  kind: str = "density",
) -> Array:
  """Computes the density of the chain with the edges of all parts.

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
  return evaluation.value(kind, arguments, discrete)
