"""Starts of fits that data suggest: many are compared, the best few returned.

Likelihoods of phase-type distributions have many local optima, and one start
often ends at a poor one. Mixtures of Erlangs that are read off the data at
different cuts, see `branches`, are compared by their likelihood on a summary of
the data; then some steps of EM show which of them lead far.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
import math
from typing import Generic, NamedTuple, cast

import numpy as onp

from phasic.distributions.base import inferring
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.distributions.wrapped import truncated_phase_type
from phasic.distributions.wrapped import zero_inflated
from phasic.inference.data import observations as observations_lib
from phasic.inference.em import em
from phasic.inference.parameters.host_values import host_values
from phasic.inference.starts import forms
from phasic.internal import static
from phasic.internal import user_warnings

# With more phases no starts are made from the data: there would be too many
# combinations of numbers of stages.
_MOST_PHASES = 64
# For these wrappers, starts are made as for the distribution that they wrap.
_WRAPPERS = (
  zero_inflated.ZeroInflated,
  truncated_phase_type.TruncatedPhaseType,
)
# A summary has at most `_SUMMARY` observations of one kind. The `_KEPT`
# earliest and the `_KEPT` latest ones are kept as they are, because tails
# decide between optima.
_SUMMARY = 400
_KEPT = 40
# Each candidate makes `_FIRST_STEPS` steps of EM. A round then has three
# numbers: how many of the likeliest candidates go on, how many steps each of
# these makes, and the gain per observation below which it stops. Of the
# candidates that go on, at most a third may have the same numbers of stages,
# unless all do.
_FIRST_STEPS = 2
_ROUNDS = ((30, 4, 0.0), (12, 25, 0.0), (2, 16, 0.0))
# A fit cannot change the numbers of stages of a hyper-Erlang. So the last two
# candidates make many steps before they are compared, because the likelihood of
# mixtures of single stages rises slowly.
_LAST_ROUND = (2, 200, 1e-5)
# Two starts are taken to lead to the same optimum if their log likelihoods
# differ by less than `_SAME_END` or, if all starts have the same numbers of
# stages, by less than `_SAME_END_ALIKE`.
_SAME_END = 0.05
_SAME_END_ALIKE = 0.001


class Candidate(NamedTuple, Generic[DistributionT]):
  """A distribution to start from.

  Attributes:
    distribution: the distribution.
    log_likelihood: of a summary of the data.
    counts: the numbers of stages of the mixture that it was made of.
  """

  distribution: DistributionT
  log_likelihood: float
  counts: tuple[int, ...]


def starts_like(
  dist: DistributionT,
  observations: observations_lib.Observations,
  any_counts: bool = False,
) -> list[Candidate[DistributionT]]:
  """Returns up to two distributions of a family to start from, the best first.

  There are none where the family has no form, or nothing can be computed. The
  observations keep them, as an initial guess and a fit ask for the same.

  Args:
    dist: one of the family, whose rates do not matter.
    observations: the data, without a batch.
    any_counts: whether a hyper-Erlang may have other numbers of stages.
  """
  *wrappers, within = _layers(dist)
  form = forms.form_of(within)
  if form is None or observations.cause is not None:
    return []
  p = int(getattr(within, "num_phases", _MOST_PHASES + 1))
  if p > _MOST_PHASES:
    return []
  counts = within.parameters.get("concentrations")
  kept = None if any_counts or counts is None else tuple(counts)
  key = (form, p, kept, dist.dtype, *map(_key, wrappers))
  return observations_lib.kept(
    observations, key, lambda: _read_off(dist, form, p, kept, observations)
  )


def _read_off(
  dist: DistributionT,
  form: str,
  p: int,
  counts: tuple[int, ...] | None,
  observations: observations_lib.Observations,
) -> list[Candidate[DistributionT]]:
  """Returns starts, see `starts_like`."""
  sample = sample_of(observations)
  if sample is None:
    return []
  with user_warnings.derived(), onp.errstate(all="ignore"):
    candidates = forms.candidates(counts, form, sample, p, dist.dtype)
    chooses = counts is None and form == "hyper-erlang"
    return _screened(
      ((n, _within(dist, x)) for n, x in candidates),
      summary(observations),
      (*_ROUNDS, _LAST_ROUND) if chooses else _ROUNDS,
    )


def _layers(dist: Distribution) -> list[Distribution]:
  """Returns a distribution, and what it wraps, the innermost one last."""
  layers = [dist]
  while isinstance(layers[-1], _WRAPPERS):
    layers.append(layers[-1].distribution)
  return layers


def _key(wrapper: Distribution) -> object:
  """Returns the parts of a wrapper that its starts keep: name and truncation."""
  ends = [wrapper.parameters.get(name) for name in ("low", "high")]
  known = [None if x is None else float(host_values("end", x)) for x in ends]
  return (type(wrapper).__name__, wrapper.name, *known)


def _within(dist: DistributionT, inner: Distribution) -> DistributionT:
  """Puts a distribution in the place of the innermost one of a wrapper."""
  for wrapper in _layers(dist)[-2::-1]:
    # Arguments are not checked, because a step of EM may round a number out of
    # its domain.
    inner = wrapper.copy(distribution=inner, validate_args=False)
  # It has the same family.
  return cast("DistributionT", inner)


def _screened(
  candidates: Iterable[tuple[tuple[int, ...], DistributionT]],
  observations: observations_lib.Observations,
  rounds: Sequence[tuple[int, int, float]],
) -> list[Candidate[DistributionT]]:
  """Returns the best candidates after some steps of EM, the best first."""
  steps: dict[object, em.Step[DistributionT]] = {}

  def after_em(
    start: Candidate[DistributionT], count: int, left: float
  ) -> Candidate[DistributionT]:
    at = start.distribution
    # One step is compiled for all candidates with the same numbers of stages:
    # it depends on these, and on the shapes of arrays.
    structure = _layers(at)[-1].parameters.get("concentrations")
    if structure not in steps:
      steps[structure] = em.step_of(at, observations)
    total = observations_lib.total_weight(observations)
    run = em.run(at, steps[structure], total, at.dtype, left, count, None)
    if not run.log_likelihoods:
      return start
    # A compiled step returns parameters in another order: their order in the
    # candidate is restored.
    arrays = inferring.arrays_of(run.last)
    return start._replace(
      distribution=inferring.with_arrays(at, arrays),
      log_likelihood=run.log_likelihoods[-1],
    )

  known = [
    after_em(Candidate(x, -math.inf, counts), _FIRST_STEPS, 0.0)
    for counts, x in candidates
  ]
  known = [x for x in known if x.log_likelihood > -math.inf]
  alike = len({x.counts for x in known}) == 1
  least = _SAME_END_ALIKE if alike else _SAME_END
  for most, num_steps, left in rounds:
    same = max(1, most // 3)
    taken: collections.Counter[tuple[int, ...]] = collections.Counter()
    kept: list[Candidate[DistributionT]] = []
    for start in _distinct(known, least):
      taken[start.counts] += 1
      if len(kept) < most and (alike or taken[start.counts] <= same):
        kept.append(after_em(start, num_steps, left))
    known = kept
  return _distinct(known, least)


def _distinct(
  starts: list[Candidate[DistributionT]], least: float
) -> list[Candidate[DistributionT]]:
  """Sorts starts, the best first, without those nearly as likely as another."""
  distinct: list[Candidate[DistributionT]] = []
  for start in sorted(starts, key=lambda x: -x.log_likelihood):
    if (
      not distinct or distinct[-1].log_likelihood - start.log_likelihood > least
    ):
      distinct.append(start)
  return distinct


def summary(
  observations: observations_lib.Observations,
) -> observations_lib.Observations:
  """Returns a few hundred weighted observations that stand for all.

  Exact, censored and other observations are sorted by their lower ends and
  grouped; the middle one of a group counts for all.
  """
  lower, upper, weights = observations_lib.host_arrays(observations)
  if len(lower) <= _SUMMARY:
    return observations
  kinds = onp.where(lower == upper, 0, onp.where(upper < onp.inf, 1, 2))
  kinds = onp.where(lower > 0, kinds, 3)
  chosen, counts = [], []
  for kind in range(4):
    rows = onp.flatnonzero((kinds == kind) & (weights > 0))
    rows = rows[onp.lexsort((upper[rows], lower[rows]))]
    if len(rows) > _SUMMARY:
      groups = [
        *rows[:_KEPT, None],
        *onp.array_split(rows[_KEPT:-_KEPT], _SUMMARY - 2 * _KEPT),
        *rows[-_KEPT:, None],
      ]
    else:
      groups = [*rows[:, None]]
    chosen += [group[len(group) // 2] for group in groups]
    counts += [onp.sum(weights[group]) for group in groups]
  dtype = static.dtype_name(observations.lower)

  entry: onp.ndarray | None = None
  if observations.entry is not None:
    late = host_values("entry", observations.entry)
    entry = onp.asarray(late[chosen], dtype)
  return observations_lib.Observations(
    onp.asarray(lower[chosen], dtype),
    onp.asarray(upper[chosen], dtype),
    onp.asarray(counts, dtype),
    entry,
  )


def sample_of(
  observations: observations_lib.Observations,
) -> forms.Sample | None:
  """Returns midpoints of positive observations, with weights, or None.

  The weight of a value that is only known to be greater is spread over all that
  are greater, as in the Kaplan-Meier estimate; past the last one it counts at
  twice that.
  """
  lower, upper, weights = observations_lib.host_arrays(observations)
  ended = upper < onp.inf
  times = observations_lib.middles(lower, upper)
  known = (weights > 0) & (times > 0) & (times < onp.inf)
  if not onp.any(known & ended):
    return None
  times, ended, weights = times[known], ended[known], weights[known]
  weights = weights / onp.max(weights)
  order = onp.lexsort((onp.logical_not(ended), times))
  times, ended, weights = times[order], ended[order], weights[order]
  at_risk = onp.cumsum(weights[::-1])[::-1]
  stays = onp.where(ended, 1.0 - weights / at_risk, 1.0)
  before = onp.concatenate([[1.0], onp.cumprod(stays)])
  masses = onp.where(ended, before[:-1] * weights / at_risk, 0.0)
  masses = onp.append(masses, before[-1])
  times = onp.append(times, min(2.0 * times[-1], onp.finfo(float).max))
  kept = masses > 0
  return forms.Sample(times[kept], masses[kept])
