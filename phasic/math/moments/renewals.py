"""Renewal densities, limited expected values and mean residual life.

Renewals and integrals of the survival function belong to chains that never end,
or to matrices that are not subgenerators. Such chains are killed, see
`killed_chains`, so that all times share one chain. Nothing is subtracted.

References:
  M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec. 2.4.
  S. Asmussen, Applied probability and queues, 2003, sec. V.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import segments
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Matrix
from phasic.math.model.model_types import Model
from phasic.math.numeric import array_utils
from phasic.math.numeric import scaled_sums

# The largest number of edges that restart a chain after absorption.
_MAX_STARTS = 2**24


def renewal_density(model: Model, times: Array, discrete: bool) -> Array:
  """Computes renewal densities at t > 0, or renewal probabilities at steps n.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None.
    times: (...), finite and >= 0, integers in discrete time, else results are
      NaN.
    discrete: whether time is discrete.

  Returns:
    An array with the common batch shape of times and model.

  Raises:
    ValueError: shapes do not fit, or there are too many edges.
  """
  p = static.shape(model[0])[-1]
  ends = _ends(model[1], p)
  if (p if ends is None else len(ends)) * p > _MAX_STARTS:
    raise ValueError(
      f"the chain has {p} phases, of which too many lead to absorption: for "
      "renewals the product of the two numbers must be at most "
      f"{_MAX_STARTS}"
    )
  return killed_chains.value(_renewals, model, times, discrete, ends)


def limited_expected_value(model: Model, times: Array, discrete: bool) -> Array:
  """Computes E[min(X, t)]; arguments are as in `renewal_density`."""
  return killed_chains.value(_limited, model, times, discrete)


def mean_residual_life(model: Model, times: Array, discrete: bool) -> Array:
  """Computes E[X - t | X > t]; arguments are as in `renewal_density`.

  With X_e of the equilibrium distribution it is E[X] P(X_e > t) / P(X > t),
  computed by logarithms. It is inf if absorption is not certain.
  """
  return killed_chains.value(_mean_residual, model, times, discrete)


def equilibrium_probs(model: Model, discrete: bool) -> Array:
  """Computes the equilibrium probabilities of phases, alpha (-S)^-1 / E[X].

  They are NaN if absorption is not certain.
  """
  initial, matrix, exits, atom = model
  names = operands.names(discrete)
  names = (*names[:2], *names[3:])
  values = (initial, matrix, exits, atom)
  return chain_calls.value(_equilibrium, None, values, names)


def _ends(matrix: Matrix, p: int) -> tuple[int, ...] | None:
  """Returns the phases with exits, or None if these phases are not known."""
  if not operands.is_edges(matrix):
    return None
  sources, targets = (
    static.concrete(matrix.sources),
    static.concrete(matrix.targets),
  )
  if sources is None or targets is None:
    return None
  return tuple(int(i) for i in onp.unique(sources[targets == p]))


def _renewals(
  option: killed_chains.Option[tuple[int, ...] | None],
  system: chain_solves.System,
  times: Array,
) -> Array:
  p = static.shape(system.initial)[-1]
  phases = onp.arange(p)
  ends = phases if option.more is None else onp.asarray(option.more, "int32")
  mass = np.sum(system.initial, axis=-1)[..., None]
  start = system.initial / np.where(mass > 0, mass, math.nan)
  sources, targets, weights = killed_chains.edges(option, system)
  out = targets == p
  exits = segments.segment_sum(np.where(out, weights, 0.0), sources, p)
  # Killed mass is counted in proportion to the exit rate of its phase.
  fastest_exit = np.max(autodiff.stop_gradient(exits), axis=-1)[..., None]
  usable = np.where(fastest_exit > 0, fastest_exit, 1.0)
  times, good, c = killed_chains.killing(times, option.discrete)
  keep = 1.0 - c if option.discrete else 1.0
  leave = onp.repeat(ends, p)
  enter = onp.tile(phases, len(ends))
  anew = np.take(exits, leave, axis=-1) * np.take(start, enter, axis=-1)
  found = killed_chains.density(
    option.discrete,
    array_utils.joined(start, np.zeros_like(start[..., :1])),
    (
      # Absorption is replaced by a restart. Phase p holds uncounted mass.
      (
        sources,
        np.where(out, sources, targets),
        keep * np.where(out, 0.0, weights),
      ),
      (leave, enter, keep * anew),
      (phases, phases * 0 + p, c * ((usable - exits) / usable)),
      (phases, phases * 0 + p + 1, c * (exits / usable)),
    ),
    times,
  )
  found = (
    (found / c) * fastest_exit[..., 0] * _undone(times, c, option.discrete)
  )
  if option.discrete:
    found = np.where(times == 0, 1.0 + 0.0 * found, found)
  return chain_solves.checked(system, np.where(good, found, math.nan))


def _limited(
  option: killed_chains.Option[None], system: chain_solves.System, times: Array
) -> Array:
  p = static.shape(system.initial)[-1]
  phases = onp.arange(p)
  sources, targets, weights = killed_chains.edges(option, system)
  times, good, c = killed_chains.killing(times, option.discrete)
  keep = 1.0 - c if option.discrete else 1.0
  none = np.zeros_like(system.initial[..., :1])
  found = killed_chains.density(
    option.discrete,
    array_utils.joined(system.initial, none, none),
    (
      # Phase p collects killed mass, phase p + 1 holds absorbed mass.
      (sources, np.where(targets == p, p + 1, targets), keep * weights),
      (phases, phases * 0 + p, c + np.zeros((p,), dtype=c.dtype)),
      (onp.asarray([p]), onp.asarray([p + 2]), np.reshape(c, (1,))),
    ),
    times + 1.0 if option.discrete else times,
  )
  found = (found / c) / c * _undone(times, c, option.discrete)
  return chain_solves.checked(system, np.where(good, found, math.nan))


def _mean_residual(
  option: killed_chains.Option[None], system: chain_solves.System, times: Array
) -> Array:
  sojourns = chain_solves.sojourns(system)
  total = np.sum(sojourns, axis=-1)
  endless = total == math.inf
  usable = np.where(endless, 1.0, np.where(total > 0, total, math.nan))
  later = np.where(endless[..., None], 1.0, sojourns) / usable[..., None]
  mean = scaled_sums.times_power(usable, -system.exponent)
  good = killed_chains.good_times(times, option.discrete)
  times = np.where(good, times, 0.0)
  kind = edge_probs.EdgeProbs if option.discrete else edge_rates.EdgeRates
  edges = kind(*killed_chains.edges(option, system))
  none = np.zeros((), dtype=mean.dtype)

  def log_survival(initial: Array) -> Array:
    arguments = (initial, edges, times, None, none)
    return evaluation.value("log_survival", arguments, option.discrete)

  left = log_survival(system.initial)
  left = left + np.where(left == -math.inf, math.nan, 0.0)
  found = mean * np.exp(log_survival(later) - left)
  found = np.where(endless, math.inf, found)
  return chain_solves.checked(system, np.where(good, found, math.nan))


def _equilibrium(option: None, system: chain_solves.System) -> Array:
  del option
  sojourns = chain_solves.sojourns(system)
  total = np.sum(sojourns, axis=-1)[..., None]
  usable = (total > 0) & (total < math.inf)
  found = sojourns / np.where(usable, total, math.nan)
  return chain_solves.checked_entries(system, found)


def _undone(times: Array, c: Array, discrete: bool) -> Array:
  """Computes the factor that undoes the killing of densities."""
  if discrete:
    return np.exp((1.0 - times) * np.log1p(-c))
  return np.exp(c * times)
