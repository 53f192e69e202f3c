"""The families that a fit can start from, made from mixtures of Erlangs.

A sample is cut at some of its quantiles. Each part stands for a branch of the
mixture, of some stages in a row, with the part's mean and share. Different cuts
and different numbers of stages lead to different optima.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import itertools
from typing import NamedTuple

import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import phase_type
from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import canonical_form
from phasic.distributions.families import mixtures
from phasic.distributions.families import series

# With three branches, every way to divide the phases into stages is tried for up
# to `_ALL_ORDERS` phases; with two branches, for up to `_ALL_PAIRS` phases. With
# more phases only some ways are tried.
_ALL_ORDERS = 5
_ALL_PAIRS = 16
# A tail of a sample is cut off at one of these shares. If there are more parts,
# the same share of the tail is cut off again.
_TAILS = (0.2, 0.05, 0.01)


class Branches(NamedTuple):
  """A mixture of Erlang distributions.

  Attributes:
    counts: the numbers of stages, (m,).
    masses: the probabilities of the branches, (m,).
    rates: the rates of their stages, (m,).
  """

  counts: tuple[int, ...]
  masses: onp.ndarray
  rates: onp.ndarray


class Sample(NamedTuple):
  """Positive times with weights, in ascending order.

  Attributes:
    times: (n,), > 0.
    weights: (n,), > 0.
  """

  times: onp.ndarray
  weights: onp.ndarray


def orders(num_phases: int) -> list[tuple[int, ...]]:
  """Lists the numbers of stages of mixtures of Erlangs that are tried.

  A mixture has one, two or three branches, or only branches of one stage.
  Branches are ordered by their means. For many phases only some mixtures are
  returned.
  """
  p = num_phases
  listed = [(p,), (1,) * p]
  if p <= _ALL_PAIRS:
    firsts = set(range(1, p))
  else:
    firsts = {1, 2, p // 4, p // 2, p - p // 4, p - 2, p - 1}
  listed += [(few, p - few) for few in sorted(firsts)]
  if p <= _ALL_ORDERS:
    triples = set(itertools.product(range(1, p), repeat=2))
  else:
    third, half = p // 3, (p - 1) // 2
    triples = {(1, 1), (1, p - 2), (p - 2, 1), (third, third), (1, half)}
    triples |= {(half, 1), (half, half)}
  listed += [
    (first, second, p - first - second)
    for first, second in sorted(triples)
    if first + second < p
  ]
  return list(dict.fromkeys(listed))


def cut_sample(sample: Sample, counts: tuple[int, ...]) -> Iterator[Branches]:
  """Yields mixtures with given numbers of stages, from cuts of a sample."""
  total = onp.cumsum(sample.weights)
  middle = (total - 0.5 * sample.weights) / total[-1]
  for cuts in _cuts(sample, len(counts)):
    part = onp.searchsorted(onp.asarray(cuts), middle, side="right")
    shares = onp.bincount(part, sample.weights, len(counts)) / total[-1]
    if onp.any(shares <= 0):
      continue
    # Times are divided by the largest, so that no sum overflows.
    unit = sample.times[-1]
    sums = onp.bincount(
      part, sample.weights * (sample.times / unit), len(counts)
    )
    means = sums / total[-1] / shares
    if onp.all(means > 0):
      masses = shares / onp.sum(shares)
      yield Branches(counts, masses, onp.asarray(counts) / means / unit)


def _cuts(sample: Sample, num_parts: int) -> list[tuple[float, ...]]:
  """Returns shares at which a sample is cut into parts, each in (0, 1)."""
  if num_parts == 1:
    return [()]
  k = onp.arange(1, num_parts)
  cuts: list[onp.ndarray] = [k / num_parts]
  cuts += [1.0 - share**k for share in _TAILS]
  cuts += [share ** k[::-1] for share in _TAILS[:-1]]
  # Cuts that are equidistant in the logarithm of time, without the earliest
  # thousandth of the sample.
  total = onp.cumsum(sample.weights) / onp.sum(sample.weights)
  logs = onp.log(sample.times)
  first = logs[onp.searchsorted(total, 1e-3)]
  ends = first + (logs[-1] - first) * k / num_parts
  cuts.append(onp.interp(ends, logs, total))
  # One list of cuts ends at the largest gap of the late tail, and one begins at
  # the largest gap of the early tail. The other parts have equal shares.
  early, late = _gaps(logs, total)
  others = onp.arange(1, num_parts - 1) / (num_parts - 1)
  cuts.append(onp.append(late * others, late))
  cuts.append(onp.append(early, early + (1.0 - early) * others))
  return list(dict.fromkeys(tuple(map(float, x)) for x in cuts))


def _gaps(logs: onp.ndarray, total: onp.ndarray) -> tuple[float, float]:
  """Returns the shares before the largest gaps of an early and a late tail."""
  gaps = onp.append(onp.diff(logs), 0.0)
  early = onp.argmax(onp.where(total <= _TAILS[1], gaps, -1.0))
  late = onp.argmax(onp.where(total >= 1.0 - _TAILS[1], gaps, -1.0))
  return float(total[early]), float(total[late])


FORMS = (
  "acyclic",
  "coxian",
  "discrete",
  "general",
  "hyper-erlang",
  "hyperexponential",
)
# The family of each form.
_FAMILIES = {
  acyclic_phase_type.AcyclicPhaseType: "acyclic",
  series.Coxian: "coxian",
  discrete_phase_type.DiscretePhaseType: "discrete",
  mixtures.HyperErlang: "hyper-erlang",
  mixtures.Hyperexponential: "hyperexponential",
  phase_type.PhaseType: "general",
}
# Rates are spaced geometrically from 1 / _SPREAD to _SPREAD.
_SPREAD = 4.0
# The limit on p times the probability with which a Coxian of p phases ends
# after a phase.
_MOST_ENDS = 600.0
# The least mass of a phase in a start, because a mass of zero would stay zero;
# and the relative distance of rates, because phases with equal rates are
# exchangeable.
_LEAST = 1e-3
_APART = 0.02
# The least exit rate of a phase in a general chain, relative to the total rate
# of the phase. This number divided by p is the least relative rate to any other
# phase.
_BETWEEN = 1e-2
# The branches of a hyper-Erlang, whose numbers of stages are given, are matched
# to the parts of a sample in at most this many orders.
_MOST_PERMUTATIONS = 6
# The largest probability that a step of a discrete chain leaves a phase.
_LEAVES = 0.95


def form_of(dist: object) -> str | None:
  """Returns the form of a distribution, or None if its family has no form."""
  return _FAMILIES.get(type(dist))


def spread(
  form: str, p: int, mean: float, dtype: str
) -> absorption_time.AbsorptionTime:
  """Returns a distribution whose rates differ, but not by much.

  Args:
    form: one of `FORMS`.
    p: the number of phases.
    mean: its mean, roughly.
    dtype: of the parameters.
  """
  rates = onp.geomspace(1.0 / _SPREAD, _SPREAD, p) if p > 1 else onp.ones(1)
  counts: tuple[int, ...] = (1,) * p
  if form == "hyper-erlang":
    counts = (p,) if p == 1 else (p // 2, p - p // 2)
    rates = onp.asarray(counts) * onp.geomspace(0.5, 2.0, len(counts))
  if form in ("hyper-erlang", "hyperexponential"):
    masses = onp.full(len(counts), 1.0 / len(counts))
    times = onp.asarray(counts) / rates
  else:
    # A Coxian ends after each phase with probability 1/5. With thousands of
    # phases the probability is smaller, so that no mass underflows.
    ends = min(0.2, _MOST_ENDS / p)
    masses = ends * (1.0 - ends) ** onp.arange(p)[::-1]
    masses[0] = masses[0] / ends
    times = onp.cumsum(1.0 / rates[::-1])[::-1]
  rates = rates * (float(onp.sum(masses * times)) / mean)
  if form in ("hyper-erlang", "hyperexponential"):
    return near_branches(form, Branches(counts, masses, rates), dtype)
  return _series_chain(form, masses, rates, dtype)


def candidates(
  counts: Sequence[int] | None,
  form: str,
  sample: Sample,
  p: int,
  dtype: str,
) -> Iterator[tuple[tuple[int, ...], absorption_time.AbsorptionTime]]:
  """Yields distributions near mixtures of Erlangs, and the numbers of stages.

  Args:
    counts: the numbers of stages of a hyper-Erlang, which are kept; None for all
      numbers, in all orders.
    form: one of `FORMS`.
    sample: the data.
    p: the number of phases.
    dtype: of the parameters.
  """
  if counts is not None:
    for order in itertools.islice(
      itertools.permutations(range(len(counts))), _MOST_PERMUTATIONS
    ):
      # The parts of the sample are in the order of their means. Part j becomes
      # branch order[j] of the mixture.
      positions = onp.argsort(order)
      for parts in cut_sample(sample, tuple(counts[i] for i in order)):
        mixture = Branches(
          tuple(counts), parts.masses[positions], parts.rates[positions]
        )
        yield mixture.counts, near_branches(form, mixture, dtype)
    return
  single = form == "hyperexponential"
  for stages in [(1,) * p] if single else orders(p):
    for mixture in cut_sample(sample, stages):
      yield stages, near_branches(form, mixture, dtype)


def near_branches(
  form: str, mixture: Branches, dtype: str
) -> absorption_time.AbsorptionTime:
  """Returns a distribution of a form that is near a mixture of Erlangs.

  Args:
    form: one of `FORMS`.
    mixture: the mixture.
    dtype: of its parameters.
  """
  stages, masses, rates = mixture

  def array(x: onp.ndarray) -> onp.ndarray:
    return onp.asarray(x, dtype)

  if form == "hyperexponential":
    return mixtures.Hyperexponential(array(masses), array(rates))
  if form == "hyper-erlang":
    return mixtures.HyperErlang(array(masses), stages, array(rates))
  return _series_chain(form, *_canonical(stages, masses, rates), dtype)


def _canonical(
  stages: tuple[int, ...], masses: onp.ndarray, rates: onp.ndarray
) -> tuple[onp.ndarray, onp.ndarray]:
  """Returns masses and ascending rates of phases in series, near a mixture."""
  p = sum(stages)
  ends = onp.cumsum(stages) - 1
  onward = onp.repeat(rates, stages)
  initial, exits = onp.zeros(p), onp.zeros(p)
  initial[ends + 1 - onp.asarray(stages)] = masses
  exits[ends] = rates
  between = onp.diag(onp.where(exits > 0, 0.0, onward)[:-1], 1)
  starts, series = canonical_form.canonical_form(
    initial, between if p > 1 else onp.zeros((1, 1)), exits
  )
  starts = onp.maximum(starts, _LEAST)
  series = series * (1.0 + _APART) ** onp.arange(p)
  return starts / onp.sum(starts), series


def _series_chain(
  form: str, masses: onp.ndarray, rates: onp.ndarray, dtype: str
) -> absorption_time.AbsorptionTime:
  """Returns an acyclic, Coxian, general or discrete chain of phases in series.

  In reverse order, from the fastest phase to the slowest, the chain is a Coxian:
  after phase i it ends with probability masses_i / (masses_1 + ... + masses_i).
  """

  def array(x: onp.ndarray) -> onp.ndarray:
    return onp.asarray(x, dtype)

  if form == "acyclic":
    return acyclic_phase_type.AcyclicPhaseType(array(masses), array(rates))
  ends = (masses / onp.cumsum(masses))[::-1]
  fast = rates[::-1]
  onward = fast[:-1] * (1.0 - ends[:-1])
  if form == "coxian":
    return series.Coxian(array(onward), array(fast * ends))
  p = len(fast)
  elsewhere = onp.full((p, p), _BETWEEN / p) * (1.0 - onp.eye(p))
  if form == "discrete":
    leaves = onp.minimum(fast, _LEAVES)[:, None]
    steps = onp.diag(1.0 - ends[:-1], 1) if p > 1 else onp.zeros((1, 1))
    steps = onp.maximum(steps, onp.triu(elsewhere, 1)) * (1.0 - _BETWEEN)
    steps = steps * leaves + onp.diag(1.0 - leaves[:, 0])
    start = onp.where(onp.arange(p) == 0, 1.0, _LEAST)
    return discrete_phase_type.DiscretePhaseType(
      array(start / onp.sum(start)), array(steps)
    )
  steps = onp.diag(onward, 1) if p > 1 else onp.zeros((1, 1))
  steps = onp.maximum(steps, elsewhere * fast[:, None])
  exits = onp.maximum(fast * ends, _BETWEEN * fast)
  start = onp.where(onp.arange(p) == 0, 1.0, _BETWEEN)
  return phase_type.PhaseType(
    array(start / onp.sum(start)),
    array(steps - onp.diag(onp.sum(steps, axis=-1) + exits)),
    exit_rates=array(exits),
  )
