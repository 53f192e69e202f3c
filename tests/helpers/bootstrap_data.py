"""Times, their fits and resamples, for tests of the bootstrap."""

from typing import Any

import numpy as onp

from phasic import distributions as pd
from phasic import inference

TIMES = onp.asarray([0.3, 0.7, 1.0, 1.0, 1.6, 2.0, 2.0, 2.9, 3.3, 4.1])
EVENTS = onp.asarray([1, 1, 0, 1, 1, 0, 1, 1, 0, 1])


def random(seed: int, i: int) -> onp.random.Generator:
  """Returns the source of random numbers of resample i."""
  sequence = onp.random.SeedSequence(seed, spawn_key=(i,))
  return onp.random.default_rng(sequence)


def censored(**options: Any) -> Any:
  """Returns observations of which three are right-censored."""
  return inference.Observations.right_censored(TIMES, EVENTS, **options)


def exponential_fit(observations: Any, **options: Any) -> Any:
  """Fits an exponential distribution."""
  return inference.fit_mle(
    pd.Erlang(1, 0.4), observations, starts=(), **options
  )


def bootstrap(fit: Any, num_resamples: int, seed: int, **options: Any) -> Any:
  """Calls `bootstrap` with an int, also in JAX."""
  return inference.bootstrap(fit, num_resamples, seed=seed, **options)
