"""Coxian phase-types: the chain starts in phase 1 and never goes back.

From phase i it goes on to phase i + 1 at progression rate lambda_i or leaves
at exit rate mu_i. The parameters are all 2 p - 1 rates, progression rates
first.
"""

import jax.numpy as jnp
import numpy as np

from phasic.substrates import jax as ph


def num_phases(num_parameters: int) -> int:
  """Returns p for 2 p - 1 parameters."""
  return (num_parameters + 1) // 2


def arrays(rates):
  """Returns initial probabilities, subgenerator and exit rates.

  The diagonal of the subgenerator is left at zero: with exit rates given it
  is implied.
  """
  p = num_phases(len(rates))
  initial_probs = jnp.zeros(p).at[0].set(1.0)
  return initial_probs, jnp.diag(rates[: p - 1], 1), rates[p - 1 :]


def distribution(rates) -> ph.distributions.Coxian:
  """Returns the Coxian with these rates, (2 p - 1,)."""
  p = num_phases(len(rates))
  return ph.distributions.Coxian(rates[: p - 1], rates[p - 1 :])


def rates_of(dist: ph.distributions.Coxian) -> np.ndarray:
  """Returns the rates of a Coxian, (2 p - 1,)."""
  return np.concatenate([dist.progression_rates, dist.exit_rates])


def names(p: int) -> list[str]:
  """Returns the names of the 2 p - 1 parameters."""
  progress = [f"progression {i} -> {i + 1}" for i in range(1, p)]
  return progress + [f"exit from {i}" for i in range(1, p + 1)]


def canonical(rates: np.ndarray) -> np.ndarray:
  """Returns the same distribution with its phases in order, fastest first.

  The order of the total rates lambda_i + mu_i is not a property of the
  distribution: two neighbors with q1 < q2 can change places if the chance to
  go on, b, becomes b1' = 1 - mu1 / q2 and b2' = b1 b2 / b1'. After that one
  distribution has one set of rates.

  Reference: A. Cumani, On the canonical representation of homogeneous Markov
    processes modelling failure-time distributions, Microelectronics and
    Reliability 22 (1982).
  """
  p = num_phases(len(rates))
  onward = np.append(rates[: p - 1], 0.0)
  total = onward + rates[p - 1 :]
  chance = onward / total
  for last in range(p - 1, 0, -1):
    for i in range(last):
      if total[i] < total[i + 1]:
        both = chance[i] * chance[i + 1]
        exit_rate = (1 - chance[i]) * total[i]
        total[i], total[i + 1] = total[i + 1], total[i]
        chance[i] = 1 - exit_rate / total[i]
        chance[i + 1] = both / chance[i]
  return np.concatenate([(chance * total)[:-1], (1 - chance) * total])
