"""The families that a fit can start from, made from Erlang branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import itertools

import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import phase_type
from phasic.distributions.families import acyclic_phase_type
from phasic.distributions.families import canonical_form
from phasic.distributions.families import coxian
from phasic.distributions.families import hyper_erlang
from phasic.distributions.families import hyperexponential
from phasic.inference.starts import branches as branches_lib

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
  coxian.Coxian: "coxian",
  discrete_phase_type.DiscretePhaseType: "discrete",
  hyper_erlang.HyperErlang: "hyper-erlang",
  hyperexponential.Hyperexponential: "hyperexponential",
  phase_type.PhaseType: "general",
}
# Rates are spaced geometrically from 1 / _SPREAD to _SPREAD.
_SPREAD = 4.0
# The most that p times the probability of an end after each of p phases is.
_MOST_ENDS = 600.0
# The least mass of a phase in a start, and the relative distance of rates: a
# mass of zero would stay so, and equal rates are exchangeable.
_LEAST = 1e-3
_APART = 0.02
# In a general chain the least rate between two phases, relative to the total
# rate of the first, and the least exit rate.
_BETWEEN = 1e-2
# Of hyper-Erlangs with given branches so many orders of means are tried.
_MOST_PERMUTATIONS = 6
# The largest probability that a step leaves a phase.
_LEAVES = 0.95


def form_of(dist: object) -> str | None:
  """Returns the form of a distribution, None if its family has none."""
  return _FAMILIES.get(type(dist))


def spread(
  form: str, p: int, mean: float, dtype: str
) -> absorption_time.AbsorptionTime:
  """Returns a distribution with rates that are near each other and different.

  Args:
    form: one of `FORMS`.
    p: the number of phases.
    mean: its mean, roughly.
    dtype: of the parameters.
  """
  rates = onp.geomspace(1.0 / _SPREAD, _SPREAD, p) if p > 1 else onp.ones(1)
  counts: tuple[int, ...]
  if form == "hyper-erlang":
    counts = (p,) if p == 1 else (p // 2, p - p // 2)
    rates = onp.asarray(counts) * onp.geomspace(0.5, 2.0, len(counts))
  else:
    counts = (1,) * p
  if form in ("hyper-erlang", "hyperexponential"):
    masses = onp.full(len(counts), 1.0 / len(counts))
    times = onp.asarray(counts) / rates
  else:
    # A Coxian ends after each phase with probability 1/5; with thousands of
    # phases with less, so that no mass underflows.
    ends = min(0.2, _MOST_ENDS / p)
    masses = ends * (1.0 - ends) ** onp.arange(p)[::-1]
    masses[0] = masses[0] / ends
    times = onp.cumsum(1.0 / rates[::-1])[::-1]
  rates = rates * (float(onp.sum(masses * times)) / mean)
  if form in ("hyper-erlang", "hyperexponential"):
    mixture = branches_lib.Branches(counts, masses, rates)
    return near_branches(form, mixture, dtype)
  return _series_chain(form, masses, rates, dtype)


def candidates(
  counts: Sequence[int] | None,
  form: str,
  sample: branches_lib.Sample,
  p: int,
  dtype: str,
) -> Iterator[tuple[tuple[int, ...], absorption_time.AbsorptionTime]]:
  """Yields numbers of stages, and distributions near mixtures of these.

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
      # Branch j of the sample, in the order of means, is branch order[j].
      positions = onp.argsort(order)
      for parts in branches_lib.cut_sample(
        sample, tuple(counts[i] for i in order)
      ):
        mixture = branches_lib.Branches(
          tuple(counts), parts.masses[positions], parts.rates[positions]
        )
        yield mixture.counts, near_branches(form, mixture, dtype)
    return
  single = form == "hyperexponential"
  for stages in [(1,) * p] if single else branches_lib.orders(p):
    for mixture in branches_lib.cut_sample(sample, stages):
      yield stages, near_branches(form, mixture, dtype)


def near_branches(
  form: str, mixture: branches_lib.Branches, dtype: str
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
    return hyperexponential.Hyperexponential(array(masses), array(rates))
  if form == "hyper-erlang":
    return hyper_erlang.HyperErlang(array(masses), stages, array(rates))
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
    return coxian.Coxian(array(onward), array(fast * ends))
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
