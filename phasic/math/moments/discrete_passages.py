"""What a discrete chain does until it is absorbed, by elimination.

All are sums of what is not negative. Each function takes `EdgeProbs` in the
place of T, without `exit_probs`. Errors and derivatives are those of
`discrete_moments`; where a value breaks a rule results are NaN.

Reference: M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981,
  ch. 2.
"""

from __future__ import annotations

from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.model import phase_arguments
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.model_types import SubtransitionLike

_NAMES = ("initial_probs", "subtransition", "exit_probs", "prob_zero")


def expected_visits(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns how many steps are expected from each phase, alpha (I - T)^-1.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: T, (..., p, p), or `EdgeProbs`.
    exit_probs: t, (..., p); None derives them from the row sums of T.
    prob_zero: z, (...); None derives it. It does not enter, but is checked.

  Returns:
    An array (..., p): inf where the chain may be caught.
  """
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.sojourn_times, None, values, _NAMES)


def expected_jumps(
  initial_probs: ArrayLike,
  subtransition: EdgeProbs,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns how often each edge is expected to be taken.

  That of an edge to absorption is the probability of ending by it, so that
  their sums are probabilities of causes.

  Args:
    initial_probs: alpha, (..., p).
    subtransition: `EdgeProbs` with m edges.
    exit_probs: None, as edges lead to absorption.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., m).

  Raises:
    TypeError: `subtransition` is not `EdgeProbs`.
  """
  phase_arguments.require_edges(subtransition, "subtransition")
  values = (initial_probs, subtransition, exit_probs, prob_zero)
  return chain_calls.value(chain_passages.jumps, None, values, _NAMES)


def hitting_probs(
  phases: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns the probability that the chain is ever in one of some phases.

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
  """
  targets = phase_arguments.indicator(phases, initial_probs)
  values = (initial_probs, subtransition, targets, exit_probs, prob_zero)
  names = (*_NAMES[:2], "phases", *_NAMES[2:])
  return chain_calls.value(chain_passages.hitting, None, values, names, (1,))


def probability_generating_function(
  z: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E z^N = P(N = 0) + z alpha (I - z T)^-1 t.

  Nothing is subtracted: it is the probability that N steps are survived where
  each is with probability z.

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
  names = (*_NAMES[:2], "z", *_NAMES[2:])
  return chain_calls.value(chain_passages.generating, None, values, names, (0,))
