"""Quantiles of phase-type distributions, in continuous and discrete time.

    Q(u) = inf{t: F(t) >= u}

is zero up to the atom at zero, and inf for u = 1 and for u above the absorption
probability. `quantile` takes u itself. The two others take log u or
log(1 - u), for quantiles in tails that u cannot resolve.

They are computed by Newton's method on F or 1 - F, whichever is below one half,
so that both tails have all digits: if F(t) is accurate up to rounding,

    |F(Q) - u| <= 8 eps min(u, 1 - u) (1 + Q f(Q) / min(F(Q), 1 - F(Q))).

A quantile is NaN if the largest rate times Q is above the kernel's limits (see
`log_prob`), and for an invalid model.

Derivatives are implicit, dq = (du - F_theta dtheta) / f(q), and can be
differentiated again. They are zero inside an atom, and NaN at its end, at zero
and at infinity.

In discrete time

    Q(u) = min{k in {0, 1, 2, ...}: F(k) >= u}

is consistent with the functions of `discrete_phase_type`: at k = Q(u) `cdf` is at
least u, or `survival_function` is at most 1 - u if u is above one half, and before
k `cdf` is below u. Counts go up to 2^52, in float32 to 2^24. Quantiles are NaN
beyond, and where the functions are NaN. These quantiles are step functions:
differentiation raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Sequence

from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import (
  Given,
  SubgeneratorLike,
  SubtransitionLike,
  TimedModel,
)
from phasic.math.quantiles import quantiles_rules


def quantile(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes Q(u) = inf{t: P(X <= t) >= u}, in units of time.

  Args:
    value: probabilities u, (...); outside [0, 1] the result is NaN.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subgenerator: S, (..., p, p), rates per unit of time; off-diagonals >= 0.
      Or `EdgeRates`, the rates of a sparse model, without `exit_rates`.
    exit_rates: s, (..., p); None derives them, s = -S 1. If given, the
      diagonal of S is not read and its derivative is zero by definition.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of u and the model's batch.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the median of an exponential time.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> print(f"{float(pm.phase_type.quantile(0.5, [1.0], [[-2.0]])):.6f}")
    0.346574

  References:
    W. H. Press et al., Numerical recipes, 2007, ch. 9.4 (Newton's method
      within a bracket).
  """
  return evaluate(
    "cdf", (initial_probs, subgenerator, value, exit_rates, prob_zero)
  )


def quantile_log_cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes inf{t: log P(X <= t) >= value}, for left tails below 1e-308.

  It is the inverse log cdf (SciPy: ppf of exp). Arguments, result and errors
  are as in `quantile`, with a log probability, at most zero, as the value. A
  time below the least normal number is zero.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.phase_type.quantile_log_cdf(-600.0, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6e}")
    1.325198e-261
  """
  arguments = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return evaluate("log_cdf", arguments)


def quantile_log_survival(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes inf{t: log P(X > t) <= value}, for right tails.

  It is the inverse log survival function (SciPy: isf of exp). Arguments, result
  and errors are as in `quantile`, with a log probability, at most zero, as the
  value.

  Example:

    >>> from phasic import math as pm
    >>> value = pm.phase_type.quantile_log_survival(-10000.0, [1.0], [[-2.0]])
    >>> print(f"{float(value):.6f}")
    5000.000000
  """
  arguments = (initial_probs, subgenerator, value, exit_rates, prob_zero)
  return evaluate("log_survival", arguments)


def evaluate(
  form: str, arguments: Sequence[Given], discrete: bool = False
) -> Array:
  """Computes quantiles of probabilities, given in one of several forms.

  Args:
    form: the form of probabilities, see `kernel_ops.quantiles`.
    arguments: initial masses, rates, probabilities, exits, atom.
    discrete: whether time is counted in steps.
  """
  names = operands_lib.argument_names(discrete, "value")
  converted = operands_lib.convert(*arguments, names=names)
  return evaluate_arrays(form, converted, discrete)


def evaluate_arrays(form: str, arguments: TimedModel, discrete: bool) -> Array:
  """Computes `evaluate` for arguments as `operands.convert` returns them."""
  names = operands_lib.argument_names(discrete, "value")
  operands, layout = operands_lib.canonical(arguments, names)
  *model, x = operands
  edges = quantiles_rules.refusing(operands_lib.edges(layout, arguments))
  if discrete:
    values = quantiles_rules.count_quantile(form, x, *model, *edges)
  else:
    values, *_ = quantiles_rules.quantile(form, x, *model, *edges)
  return operands_lib.result(layout, values)


def discrete_quantile(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes Q(u) = min{k: P(N <= k) >= u}.

  Args:
    value: probabilities u, (...); outside [0, 1] the result is NaN.
    initial_probs: alpha, (..., p), masses >= 0 with a sum <= 1.
    subtransition: T, (..., p, p), probabilities of a step. Or `EdgeProbs`, the
      probabilities of a sparse model, without `exit_probs`.
    exit_probs: t, (..., p); None derives them, t = 1 - T 1.
    prob_zero: z, (...); None derives it, z = 1 - sum(alpha).

  Returns:
    An array with the broadcast shape of u and the model's batch: integers, in a
    floating dtype.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the number of throws of a die by which a six came, at 90 %.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> value = pm.discrete_phase_type.quantile(0.9, [1.0], [[5 / 6]])
    >>> print(int(value))
    13
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return evaluate("cdf", arguments, discrete=True)


def discrete_quantile_log_cdf(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes min{k: log P(N <= k) >= value}, the inverse log cdf.

  Arguments, result and errors are as in `quantile`, with a log probability, at
  most zero, as the value.

  Example: in four throws of a die a six is more likely than not.

    >>> import math
    >>> from phasic import math as pm
    >>> asked = math.log(0.5)
    >>> value = pm.discrete_phase_type.quantile_log_cdf(asked, [1.0], [[5 / 6]])
    >>> print(int(value))
    4
  """
  arguments = (initial_probs, subtransition, value, exit_probs, prob_zero)
  return evaluate("log_cdf", arguments, discrete=True)


def discrete_quantile_log_survival(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes min{k: log P(N > k) <= value}, the inverse log survival function.

  Arguments, result and errors are as in `quantile`, with a log probability, at
  most zero, as the value.

  Example: throws of a die that have no six with probability 1e-100.

    >>> import math
    >>> from phasic import math as pm
    >>> asked = -100 * math.log(10)
    >>> value = pm.discrete_phase_type.quantile_log_survival(
    ...   asked, [1.0], [[5 / 6]]
    ... )
    >>> print(int(value))
    1263
  """
  arguments = (
    initial_probs,
    subtransition,
    value,
    exit_probs,
    prob_zero,
  )
  return evaluate("log_survival", arguments, discrete=True)
