"""Visits, jumps and hitting probabilities of discrete chains, by elimination.

All are sums of nonnegative terms. Each function takes `EdgeProbs` instead of T,
without `exit_probs`. Errors and derivatives are as in `discrete_moments`;
invalid values give NaN.

Reference: M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981,
  ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.model import phase_arguments
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.model_types import SubtransitionLike


def expected_visits(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected numbers of steps from the phases, alpha (I - T)^-1.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array (..., p): inf for traps that can be reached.

  Example: tosses of a coin for the first and for the second head.

    >>> from phasic import math as pm
    >>> matrix = [[0.5, 0.5], [0.0, 0.5]]
    >>> values = pm.discrete_phase_type.expected_visits([1.0, 0.0], matrix)
    >>> [f"{float(x):.6f}" for x in values]
    ['2.000000', '2.000000']
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.sojourn_times, values, True)


def expected_jumps(
  initial_probs: ArrayLike,
  subtransition: EdgeProbs,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected numbers of jumps along the edges.

  For an edge to absorption it is the probability of absorption by this edge. So
  sums over such edges are probabilities of causes.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: `EdgeProbs` with m edges.
    exit_probs: it must be None, as edges lead to absorption.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., m).

  Raises:
    TypeError: `subtransition` is not `EdgeProbs`.

  Example: two causes, of which the second is three times as likely.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0, 0], [1, 1], [0.125, 0.375])
    >>> values = pm.discrete_phase_type.expected_jumps([1.0], edges)
    >>> [f"{float(x):.6f}" for x in values]
    ['0.250000', '0.750000']
  """
  phase_arguments.require_edges(subtransition, "subtransition")
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.jumps, values, True)


def hitting_probs(
  phases: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the probability that the chain ever hits a set of phases.

  Args:
    phases: the numbers of the phases, a sequence of integers in [0, p).
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the model's batch shape.

  Raises:
    TypeError: `phases` holds anything but integers.
    ValueError: a number is out of range.

  Example: absorption is three times as likely as the step to phase 1.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0, 0, 1], [1, 2, 2], [0.125, 0.375, 1.0])
    >>> value = pm.discrete_phase_type.hitting_probs([1], [1.0, 0.0], edges)
    >>> print(f"{float(value):.6f}")
    0.250000
  """
  targets = phase_arguments.indicator(phases, initial_probs)
  values = (initial_probs, subtransition, targets, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.hitting, values, True, phases=1)


def probability_generating_function(
  z: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E z^N = P(N = 0) + z alpha (I - z T)^-1 t.

  It is computed without subtraction, as the probability of surviving N steps,
  each with probability z.

  Args:
    z: (...), in [0, 1], else the result is NaN.
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p), or None.
    prob_zero: P(N = 0), (...), or None.

  Returns:
    An array with the common batch shape of the model and z.

  Example: throws of a die until the first six.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [1 / 6])
    >>> value = pm.discrete_phase_type.probability_generating_function(
    ...   0.5, [1.0], edges
    ... )
    >>> print(f"{float(value):.6f}")
    0.142857
  """
  values = (initial_probs, subtransition, z, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.generating, values, True, z=0)
