"""Coxian phase-types by maximum likelihood, from several starts."""

import dataclasses

import numpy as np
import tqdm

from demo import coxian
from phasic.substrates import jax as ph

# The value in place of a rate of zero, in units of 1 / mean(times), until a test
# shows whether the rate is zero.
_NEARLY_ZERO = 1e-6


def fit(
  times: np.ndarray,
  num_phases: int,
  num_random: int,
  rng: np.random.Generator,
  smaller: ph.inference.Fit | None = None,
) -> ph.inference.Fit:
  """Fits a Coxian, whose phases are then in canonical order.

  Args:
    times: the data, (n,).
    num_phases: p.
    num_random: how many random starts.
    rng: for the random starts.
    smaller: a fit with p - 1 phases, which gives 2 p - 1 more starts: one more
      phase, fast or as a twin, at each place of its chain.
  """
  data = ph.inference.Observations(times)
  scale = 1 / np.mean(times)
  starts = [
    scale * num_phases * np.exp(rng.uniform(-2, 2, size=2 * num_phases - 1))
    for _ in range(num_random)
  ]
  dists = [coxian.distribution(rates) for rates in starts]
  if smaller is not None:
    dists += ph.inference.add_phase(smaller.distribution)
  with tqdm.tqdm(
    total=len(dists), desc=f"  {num_phases} phases", unit="start", leave=False
  ) as progress:

    def told(count: int, best: float) -> None:
      progress.set_postfix_str(f"best log-likelihood {best:.4f}")
      progress.update(count - progress.n)

    found = ph.inference.fit_mle(
      dists[0], data, starts=dists[1:], progress=told
    )
  ordered = coxian.canonical(coxian.rates_of(found.distribution))
  ordered = np.maximum(ordered, _NEARLY_ZERO * scale)
  again = ph.inference.fit_mle(coxian.distribution(ordered), data)
  return dataclasses.replace(
    again, record=again.record._replace(reached=found.record.reached)
  )
