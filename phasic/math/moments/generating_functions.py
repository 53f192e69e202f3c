"""Moment generating functions, up to the decay rate.

Each function takes `EdgeRates`, in discrete time `EdgeProbs`, in the place of
the matrix, without exits. Errors are those of `moments.mean`.

Reference: M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
  probability, 2017, ch. 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import exponential_tilting
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.model.model_types import SubtransitionLike

_NAMES = ("initial_probs", "subgenerator", "s", "exit_rates", "prob_zero")
_STEP_NAMES = ("initial_probs", "subtransition", "s", "exit_probs", "prob_zero")


def moment_generating_function(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E exp(s X) = z + alpha (-(S + s I))^-1 exits.

  It is inf from the decay rate on, the least s for which -(S + s I) has no
  positive inverse; only phases that alpha can reach count. Close below that
  rate digits are lost as they are in 1 - s / rate; where rounding leaves open
  on which side s is, the result is NaN, and so it is where E exp(s X) from a
  phase is too large for a floating-point number.

  Args:
    s: (...), per unit of time. For s > 0 a matrix is made, of at most 4096
      phases.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the common batch shape of the model and s.

  Example: an exponential time, of rate two.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> s = np.asarray([-2.0, 0.0, 1.0, 2.0])
    >>> values = pm.phase_type.moment_generating_function(s, [1.0], [[-2.0]])
    >>> [f"{float(value):.3f}" for value in values]
    ['0.500', '1.000', '2.000', 'inf']
  """
  values = (initial_probs, subgenerator, s, exit_rates, prob_zero)
  return _value(values, _NAMES)


def discrete_moment_generating_function(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E exp(s N), the generating function at z = exp(s), for any s.

  It is P(N = 0) + alpha (exp(-s) I - T)^-1 exits, and inf from the decay rate
  on. Other arguments are those of `probability_generating_function`, and s is
  that of `moment_generating_function`.

  Example: throws of a coin until the first head, which end at log(2).

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
  return _value(values, _STEP_NAMES)


def discrete_laplace_transform(
  u: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns E exp(-u N), for u >= 0, else NaN.

  Other arguments are those of `probability_generating_function`.
  """
  values = (initial_probs, subtransition, u, exit_probs, prob_zero)
  names = (*_STEP_NAMES[:2], "u", *_STEP_NAMES[3:])
  return chain_calls.value(_killed_steps, None, values, names, (0,))


def excess_statistics(
  s: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Returns statistics of exp(s X) - 1, that are sums without minus signs.

  Arguments are those of `moment_generating_function`, with s > 0.

  Returns:
    Mean, variance and standard deviation, (..., 3), inf where there is none.

  Example: of an exponential time, 2 / (2 - s) - 1.

    >>> from phasic.math.moments import generating_functions
    >>> found = generating_functions.excess_statistics(1e-9, [1.0], [[-2.0]])
    >>> print(f"{float(found[0]):.6e}")
    5.000000e-10
  """
  values = (initial_probs, subgenerator, s, exit_rates, prob_zero)
  return chain_calls.value(
    exponential_tilting.excess, None, values, _NAMES, (0,)
  )


def _killed_steps(option: None, system: chain_solves.System, u: Array) -> Array:
  """Returns E exp(-u N), (...)."""
  value = exponential_tilting.generating(True, system, 0.0 - u)
  return value + np.where(u >= 0, 0.0, float("nan"))


def _value(values: chain_arguments.Values, names: Sequence[str]) -> Array:
  """Returns E exp(s X)."""
  known = static.concrete(values[2])
  below = known is not None and not onp.any(known > 0)
  return chain_calls.value(
    exponential_tilting.generating, below, values, names, (0,)
  )
