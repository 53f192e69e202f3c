"""Moment generating functions, at arguments below the decay rate.

Each function takes `EdgeRates`, in discrete time `EdgeProbs`, instead of the
matrix, without exits. Errors are as in `moments.mean`.

Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
  probability, 2017, ch. 3.
"""

from __future__ import annotations

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import exponential_tilting
from phasic.math.model.model_types import SubgeneratorLike, SubtransitionLike


def moment_generating_function(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E exp(s X) = z + alpha (-(S + s I))^-1 exits.

  It is inf for s at or above the decay rate, the least s for which -(S + s I)
  has no positive inverse. Only phases that alpha can reach count. Just below
  the decay rate the result loses as many digits as 1 - s / rate. It is NaN if
  rounding leaves open on which side of the decay rate s is, or if E exp(s X)
  from a phase overflows.

  Args:
    s: (...), per unit of time. s > 0 needs a dense matrix, of at most 4096
      phases.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the common batch shape of the model and s.

  Example: an exponential time of rate two.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> s = np.asarray([-2.0, 0.0, 1.0, 2.0])
    >>> values = pm.phase_type.moment_generating_function(s, [1.0], [[-2.0]])
    >>> [f"{float(value):.3f}" for value in values]
    ['0.500', '1.000', '2.000', 'inf']
  """
  values = (initial_probs, subgenerator, s, exit_rates, prob_zero)
  return evaluate(values, False)


def discrete_moment_generating_function(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E exp(s N), the generating function at z = exp(s), for any s.

  It is P(N = 0) + alpha (exp(-s) I - T)^-1 exits, and inf for s at or above the
  decay rate. s is as in `moment_generating_function`; other arguments are as in
  `probability_generating_function`.

  Example: tosses of a coin until the first head, with decay rate log(2).

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> s = np.asarray([0.0, 0.25, 0.75])
    >>> values = pm.discrete_phase_type.moment_generating_function(
    ...   s, [1.0], [[0.5]]
    ... )
    >>> [f"{float(value):.3f}" for value in values]
    ['1.000', '1.793', 'inf']
  """
  values = (initial_probs, subtransition, s, exit_probs, prob_zero)
  return evaluate(values, True)


def discrete_laplace_transform(
  u: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes E exp(-u N) for u >= 0, else NaN.

  Other arguments are as in `probability_generating_function`.

  Example: tosses of a coin until the first head, 1 / (2 exp(u) - 1).

    >>> import math
    >>> from phasic import math as pm
    >>> u = math.log(2.0)
    >>> value = pm.discrete_phase_type.laplace_transform(u, [1.0], [[0.5]])
    >>> print(f"{float(value):.6f}")
    0.333333
  """
  values = (initial_probs, subtransition, u, exit_probs, prob_zero)
  return chain_calls.value(exponential_tilting.laplace, values, True, u=0)


def evaluate(values: chain_arguments.Values, discrete: bool) -> Array:
  """Computes E exp(s X), by a simpler system if s is known to be <= 0.

  Args:
    values: initial masses, rates, s, exits and atom.
    discrete: whether time is counted in steps.
  """
  dtypes.numeric(values[2], "s")
  known = static.concrete(values[2])
  below = known is not None and not onp.any(known > 0)
  return chain_calls.value(
    exponential_tilting.generating, values, discrete, (below,), s=0
  )


def excess_statistics(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes mean, variance and standard deviation of exp(s X) - 1.

  They are sums of nonnegative terms. Arguments are as in
  `moment_generating_function`, with s > 0.

  Returns:
    Mean, variance and standard deviation, (..., 3), inf if they do not exist.

  Example: an exponential time, with mean 2 / (2 - s) - 1.

    >>> from phasic.math.moments import generating_functions
    >>> found = generating_functions.excess_statistics(1e-9, [1.0], [[-2.0]])
    >>> print(f"{float(found[0]):.6e}")
    5.000000e-10
  """
  values = (initial_probs, subgenerator, s, exit_rates, prob_zero)
  return chain_calls.value(exponential_tilting.excess, values, False, s=0)
