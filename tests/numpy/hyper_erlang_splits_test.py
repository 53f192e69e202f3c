"""Hyper-Erlang fits are as good as the best of all splits of their phases.

The reference is EM for mixtures of Erlang distributions in closed form, as in
Thummler, Buchholz and Telek, A novel approach for phase-type fitting with the EM
algorithm, IEEE Trans. Dependable Secure Comput. 3, 2006: from several starts for
each way to split the phases into branches.
"""

import math
import os

from absl.testing import absltest
import numpy as np
from scipy import special

from phasic.substrates.numpy import inference

_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_NUM_SAMPLES = 20
_NUM_PHASES = 4
_SPLITS = ((4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1))


def _sample(seed: int) -> np.ndarray:
  """Draws 300 times from one of five kinds of laws."""
  random = np.random.default_rng([62, seed])
  kind, n = seed % 5, 300
  if kind == 0:
    return random.lognormal(0.0, random.uniform(0.4, 1.2), n)
  if kind == 1:
    return random.weibull(random.uniform(0.6, 2.5), n)
  if kind == 2:
    first = random.gamma(3.0, 0.1 / 3.0, n)
    return np.where(random.random(n) < 0.6, first, random.gamma(2.0, 2.0, n))
  if kind == 3:
    return random.pareto(random.uniform(1.5, 3.0), n) + 0.1
  return random.uniform(0.2, 2.0, n)


def _em(
  times: np.ndarray, split: tuple[int, ...], random: np.random.Generator
) -> float:
  """Returns the log likelihood at which EM for a mixture of Erlangs ends."""
  stages = np.asarray(split, float)
  masses = random.dirichlet(np.full(len(split), 2.0))
  means = np.quantile(times, random.uniform(0.05, 0.95, len(split)))
  rates = stages / means
  before = -math.inf
  for _ in range(20_000):
    logs = (
      np.log(masses)
      + stages * np.log(rates)
      + (stages - 1.0) * np.log(times)[:, None]
      - rates * times[:, None]
      - special.gammaln(stages)
    )
    terms = special.logsumexp(logs, axis=1)
    total = float(np.sum(terms))
    if total - before < 1e-7:
      break
    before = total
    shares = np.exp(logs - terms[:, None])
    counts = np.maximum(np.sum(shares, axis=0), 1e-300)
    masses = counts / len(times)
    rates = stages * counts / (times @ shares)
  return total


def _reference(seed: int) -> float:
  random = np.random.default_rng([63, seed])
  times = _sample(seed)
  return max(
    _em(times, split, random)
    for split in _SPLITS
    for _ in range(1 if len(split) == 1 else 6)
  )


class HyperErlangSplitsTest(absltest.TestCase):
  def test_not_below_the_best_split(self):
    for seed in range(0, _NUM_SAMPLES, 1 if _FULL else 7):
      with self.subTest(seed=seed):
        data = inference.Observations.exact(_sample(seed))
        start = inference.initial_guess(data, _NUM_PHASES, "hyper-erlang")
        fit = inference.fit_mle(start, data)
        self.assertGreater(fit.log_likelihood, _reference(seed) - 0.1)


if __name__ == "__main__":
  absltest.main()
