"""Differences between two sequences from two islands, a discrete phase-type."""

from collections.abc import Callable
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro import distributions as priors

from bayes import samplers
from phasic.substrates.jax import distributions
from phasic.substrates.jax import inference

DATA = os.path.join(
  os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
  *("data", "finches.csv"),
)
# Of the rates below: medians, and standard deviations of the logarithms.
PRIORS = {"migration": (1.0, 1.5), "mutation": (0.005, 1.0)}


def read() -> tuple[np.ndarray, np.ndarray]:
  """Returns numbers of sites and of differences, one for each locus."""
  _, sites, differences = np.loadtxt(
    DATA, delimiter=",", skiprows=1, dtype=str
  ).T
  return sites.astype(np.float64), differences.astype(np.float64)


def differences(
  migration: Any, mutation: Any, sites: Any
) -> distributions.DiscretePhaseType:
  """One more than the number of differences at loci with some sites.

  A unit of time is the mean time in which two lineages of one island meet.
  Each moves to the other island at the rate m, and they differ by mutations
  that come at the rate a, together. While they are apart (first phase) or on
  one island (second phase),

      a I - S = [[a + 2 m,   -2 m      ],
                 [  -2 m,    a + 2 m + 1]],

  a step of the discrete chain is a mutation, with the matrix a (a I - S)^-1,
  and the last step is the meeting, (a I - S)^-1 (0, 1)'.

  Args:
    migration: m, a number.
    mutation: of both lineages together, for one site.
    sites: (loci,).
  """
  a, moves = mutation * sites, 2.0 * migration
  # The terms with m^2 of the determinant cancel; the rest is positive.
  determinant = a * a + a + 2.0 * a * moves + moves
  apart = jnp.stack([a * (a + moves + 1.0), a * moves], axis=-1)
  together = jnp.stack([a * moves, a * (a + moves)], axis=-1)
  meets = jnp.stack([moves + 0.0 * a, a + moves], axis=-1)
  scale = determinant[..., None]
  return distributions.DiscretePhaseType(
    jnp.asarray([1.0, 0.0]),
    jnp.stack([apart / scale, together / scale], axis=-2),
    exit_probs=meets / scale,
  )


def model(sites: np.ndarray, counts: np.ndarray) -> Callable[[], None]:
  """The model of NumPyro."""
  # Each locus has a distribution of its own, and one observation of it.
  data = inference.Observations.exact(counts[:, None] + 1.0)

  def of_data() -> None:
    rates = {
      name: numpyro.sample(name, priors.LogNormal(jnp.log(median), sd))
      for name, (median, sd) in PRIORS.items()
    }
    dist = differences(rates["migration"], rates["mutation"], sites)
    numpyro.factor("loci", jnp.sum(data.log_likelihood(dist)))

  return of_data


def tell(seed: int, progress: bool) -> None:
  """Prints the posterior, and how well it predicts the counts."""
  sites, counts = read()
  print(
    f"{len(sites)} loci, {int(sites.sum())} sites, {int(counts.sum())} "
    "differences"
  )
  key = jax.random.key(seed)
  found = samplers.nuts_by_numpyro(
    model(sites, counts), key, num_chains=2, progress=progress
  )
  print(samplers.arviz.summary(found, round_to=4).to_string())
  draws = [found.posterior[name].values.ravel()[::5] for name in PRIORS]
  migration, mutation = (jnp.asarray(x)[:, None] for x in draws)
  dist = differences(migration, mutation, sites)
  samples = np.asarray(dist.sample(seed=jax.random.fold_in(key, 1))) - 1.0
  print(f"{'':22s}{'data':>8s}{'predicted, 95 %':>20s}")
  for name, statistic in (
    ("mean", lambda x: x.mean(-1)),
    ("standard deviation", lambda x: x.std(-1)),
    ("loci without any", lambda x: (x == 0).sum(-1)),
    ("largest", lambda x: x.max(-1)),
  ):
    low, high = np.quantile(statistic(samples), [0.025, 0.975])
    print(f"{name:22s}{statistic(counts):8.2f}{low:12.2f} ..{high:6.2f}")
