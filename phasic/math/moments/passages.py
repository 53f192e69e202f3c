"""Sojourn times, visits, jumps and transforms, by elimination.

All are sums of nonnegative terms. Each function takes `EdgeRates` instead of
the subgenerator, without `exit_rates`. Errors are as in `moments.mean`; invalid
values give NaN.

Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
  probability, 2017, ch. 3.
"""

from __future__ import annotations

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.elimination import exponential_tilting
from phasic.math.model import phase_arguments
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.model_types import SubgeneratorLike


def expected_sojourn_times(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes expected times spent in the phases, alpha (-S)^-1.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it. It is checked, but not used.

  Returns:
    An array (..., p): inf for traps that can be reached.

  Example: two stages, the second twice as fast.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 2.0])
    >>> times = pm.phase_type.expected_sojourn_times([1.0, 0.0], edges)
    >>> [f"{float(x):.6f}" for x in times]
    ['1.000000', '0.500000']
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.value(chain_passages.sojourn_times, values, False)


def expected_visits(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected numbers of visits to the phases.

  The result has shape (..., p). Starts count as visits. Arguments are as in
  `expected_sojourn_times`.

  Example: from the second phase the chain returns with probability 1/2.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1, 1], [1, 0, 2], [5.0, 1.0, 1.0])
    >>> values = pm.phase_type.expected_visits([1.0, 0.0], edges)
    >>> [f"{float(x):.6f}" for x in values]
    ['2.000000', '2.000000']
  """
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.value(chain_passages.visits, values, False)


def expected_jumps(
  initial_probs: ArrayLike,
  subgenerator: EdgeRates,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the expected numbers of jumps along the edges.

  For an edge to absorption it is the probability of absorption by this edge. So
  sums over such edges are probabilities of causes.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: `EdgeRates` with m edges.
    exit_rates: it must be None, as edges lead to absorption.
    prob_zero: z, (...), or None.

  Returns:
    An array (..., m).

  Raises:
    TypeError: `subgenerator` is not `EdgeRates`.

  Example: two causes, of which the second is three times as likely.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 0], [1, 1], [0.5, 1.5])
    >>> [f"{float(x):.6f}" for x in pm.phase_type.expected_jumps([1.0], edges)]
    ['0.250000', '0.750000']
  """
  phase_arguments.require_edges(subgenerator, "subgenerator")
  values = (initial_probs, subgenerator, exit_rates, prob_zero)
  return chain_calls.value(chain_passages.jumps, values, False)


def hitting_probs(
  phases: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the probability that the chain ever hits a set of phases.

  Args:
    phases: the numbers of the phases, a sequence of integers in [0, p).
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the model's batch shape.

  Raises:
    TypeError: `phases` holds anything but integers.
    ValueError: a number is out of range.

  Example: absorption is three times as fast as the step to phase 1.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 0, 1], [1, 2, 2], [1.0, 3.0, 1.0])
    >>> value = pm.phase_type.hitting_probs([1], [1.0, 0.0], edges)
    >>> print(f"{float(value):.6f}")
    0.250000
  """
  targets = phase_arguments.indicator(phases, initial_probs)
  values = (initial_probs, subgenerator, targets, exit_rates, prob_zero)
  return chain_calls.value(chain_passages.hitting, values, False, phases=1)


def laplace_transform(
  u: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E exp(-u X) = z + alpha (u I - S)^-1 s.

  It is computed without subtraction, as the probability that X is less than an
  independent exponential time of rate u.

  Args:
    u: (...), finite and >= 0, else the result is NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the common batch shape of the model and u.

  Example: an exponential time.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> value = pm.phase_type.laplace_transform(0.5, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    0.800000
  """
  values = (initial_probs, subgenerator, u, exit_rates, prob_zero)
  return chain_calls.value(exponential_tilting.laplace, values, False, u=0)
