"""Entropies and divergences of phase-type distributions.

Densities are with respect to Lebesgue's measure on (0, inf) plus a unit mass at
0; in discrete time probabilities are used.

Integrals are sums over quadrature points that depend on the models' time
scales. Sums over numbers of steps are complete up to 2048 (more for more than
64 phases), and use panels beyond. The error is below 1e-9 (float32: 1e-4) of
the sum of absolute values, or the result is NaN. It is NaN if absorption is not
certain, and if a discrete chain has a period and takes thousands of steps.
Derivatives in the parameters of the models are the derivatives of the sums.

Reference: T. M. Cover, J. A. Thomas, Elements of information theory, 2006, ch.
  8.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model.model_types import (
  Model,
  SubgeneratorLike,
  SubtransitionLike,
)
from phasic.math.quadrature import numerical_distributions
from phasic.math.quadrature import quadrature


def entropy(
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the entropy, -z log(z) - integral of f(t) log f(t) dt.

  The error is relative to the integral of |f log f|.

  Args:
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p); None derives them from the row sums of S.
    prob_zero: z, (...); None derives it.

  Returns:
    An array with the model's batch shape.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: an exponential time, with entropy 1 - log(rate).

    >>> from phasic import math as pm
    >>> print(f"{float(pm.phase_type.entropy([1.0], [[-2.0]])):.6f}")
    0.306853
  """
  model = (initial_probs, subgenerator, exit_rates, prob_zero)
  return entropy_of(model, False)


def discrete_entropy(
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes the entropy, -sum p(k) log p(k).

  Arguments, result and errors are as in `phase_type.entropy`, with T, (..., p,
  p), or `EdgeProbs`.

  Example: the number of tosses of a coin until heads, with two bits of entropy.

    >>> from phasic import math as pm
    >>> print(f"{float(pm.discrete_phase_type.entropy([1.0], [[0.5]])):.6f}")
    1.386294
  """
  model = (initial_probs, subtransition, exit_probs, prob_zero)
  return entropy_of(model, True)


def cross_entropy(
  model: numerical_distributions.ModelLike,
  other: numerical_distributions.ModelLike,
) -> Array:
  """Computes the cross entropy, -z log(z') - integral of f(t) log g(t) dt.

  It is inf if `model` has mass where `other` has none. The error is relative to
  the integral of |f log g|.

  Args:
    model: the model of f and z, a tuple of the four arguments of `entropy`; the
      last two may be None.
    other: the model of g and z'.

  Returns:
    An array with the common batch shape of the models.

  Raises:
    TypeError: a model is not a tuple of four, dtypes differ, or are complex
      or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example:

    >>> from phasic import math as pm
    >>> first = ([1.0], [[-2.0]], None, None)
    >>> second = ([1.0], [[-1.0]], None, None)
    >>> value = pm.phase_type.cross_entropy(first, second)
    >>> print(f"{float(value):.6f}")
    0.500000
  """
  return compare("cross_entropy", model, other, False)


def discrete_cross_entropy(
  model: numerical_distributions.ModelLike,
  other: numerical_distributions.ModelLike,
) -> Array:
  """Computes the cross entropy, -sum p(k) log q(k).

  Arguments, result and errors are as in `phase_type.cross_entropy`, with tuples
  of the arguments of `discrete_phase_type.entropy`.

  Example: trials of probabilities 1/2 and 1/4, log(4) + log(4 / 3).

    >>> from phasic import math as pm
    >>> first = ([1.0], [[0.5]], None, None)
    >>> second = ([1.0], [[0.75]], None, None)
    >>> value = pm.discrete_phase_type.cross_entropy(first, second)
    >>> print(f"{float(value):.6f}")
    1.673976
  """
  return compare("cross_entropy", model, other, True)


def kl_divergence(
  model: numerical_distributions.ModelLike,
  other: numerical_distributions.ModelLike,
) -> Array:
  """Computes the integral of f log(f / g) - f + g over the base measure.

  For probability densities this is the Kullback-Leibler divergence, the
  expectation of log(f / g). All terms are nonnegative, so the result is
  accurate even if the models are close. It is inf if `model` has mass where
  `other` has
  none: an atom, or the density. Derivatives in free coordinates are derivatives
  of this formula. An atom of zero does not contribute, and has no derivative.

  Arguments, result and errors are as in `cross_entropy`.

  Example:

    >>> from phasic import math as pm
    >>> first = ([1.0], [[-2.0]], None, None)
    >>> second = ([1.0], [[-1.0]], None, None)
    >>> value = pm.phase_type.kl_divergence(first, second)
    >>> print(f"{float(value):.6f}")
    0.193147
  """
  return compare("kl_divergence", model, other, False)


def discrete_kl_divergence(
  model: numerical_distributions.ModelLike,
  other: numerical_distributions.ModelLike,
) -> Array:
  """Computes the sum of p log(p / q) - p + q over all numbers of steps.

  It is inf if a number of steps is possible in `model` but not in `other`. All
  else is as in `phase_type.kl_divergence`, with tuples of the arguments of
  `discrete_phase_type.entropy`.

  Example: trials of probabilities 1/2 and 1/4, log(4 / 3).

    >>> from phasic import math as pm
    >>> first = ([1.0], [[0.5]], None, None)
    >>> second = ([1.0], [[0.75]], None, None)
    >>> value = pm.discrete_phase_type.kl_divergence(first, second)
    >>> print(f"{float(value):.6f}")
    0.287682
  """
  return compare("kl_divergence", model, other, True)


def entropy_of(
  model: numerical_distributions.ModelLike, discrete: bool
) -> Array:
  """Computes the entropy of a model in continuous or discrete time."""
  return _run(
    "entropy",
    discrete,
    kernel_ops.path(),
    numerical_distributions.convert(model, discrete),
  )


def compare(
  kind: str,
  model: numerical_distributions.ModelLike,
  other: numerical_distributions.ModelLike,
  discrete: bool,
) -> Array:
  """Computes "cross_entropy" or "kl_divergence" of two models."""
  models = [
    numerical_distributions.convert(x, discrete, name)
    for name, x in (("model", model), ("other", other))
  ]
  first, second = (static.dtype_name(x[0]) for x in models)
  if first != second:
    raise TypeError(
      f"model has dtype {first} and other has dtype {second}: the dtypes must "
      "agree"
    )
  return _run(kind, discrete, kernel_ops.path(), *models)


def _evaluate(kind: str, discrete: bool, path: str, *models: Model) -> Array:
  """Computes the entropy of one model, or a divergence of two."""
  del path  # It is only a key of the compiler's cache.
  dtype = static.dtype_name(models[0][0])
  distribution = numerical_distributions.NumericalDistribution(
    models[0], discrete
  )
  second = (
    distribution
    if len(models) == 1
    else numerical_distributions.NumericalDistribution(models[1], discrete)
  )
  value = _functional(kind, distribution, second)
  return structures.cast(value, dtype)


def _functional(
  kind: str,
  distribution: numerical_distributions.NumericalDistribution,
  second: numerical_distributions.NumericalDistribution,
) -> Array:
  """Computes the named integral or sum, e.g. "kl_divergence".

  Both distributions are the same object for the entropy.
  """
  rule = numerical_distributions.common_rule(distribution, second)
  logs = distribution.log_density(rule)
  second_logs = (
    logs
    if second is distribution
    else second.log_density(rule, distribution.last)
  )
  if kind == "kl_divergence":
    terms = _divergence(logs, second_logs, rule.log_weights)
    total = quadrature.total(
      rule, terms, floor=static.finfo_eps(distribution.dtype)
    )
    if not distribution.discrete:
      total = total + _divergence(
        distribution.log_atom(), second.log_atom(), 0.0
      )
    total = second.checked(rule, second_logs, total)
  else:
    # Sum the terms -p log q of a cross entropy. In discrete time, zero steps
    # are among the points; in continuous time, the atom at zero is added.
    masses = quadrature.masses(logs, rule.log_weights)
    total = quadrature.total(rule, _product(masses, second_logs))
    if not distribution.discrete:
      atom = quadrature.masses(distribution.log_atom(), 0.0)
      total = total + _product(atom, second.log_atom())
  endless = total == math.inf
  total = total + distribution.undefined(endless) + second.undefined(endless)
  return distribution.checked(rule, logs, total)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1, 2))


def _product(mass: Array, log_q: Array) -> Array:
  none = log_q == -math.inf
  finite = mass * np.where(none, 0.0, log_q)
  return np.where(none & (mass > 0), math.inf, 0.0 - finite)


def _divergence(
  log_p: Array, log_q: Array, log_weights: Array | float
) -> Array:
  """Computes the terms w (p log(p / q) - p + q), which are nonnegative."""
  p, q = (
    quadrature.masses(log_p, log_weights),
    quadrature.masses(log_q, log_weights),
  )
  some_p, some_q = log_p > -math.inf, log_q > -math.inf
  both = some_p & some_q
  change = np.where(both, log_q, 0.0) - np.where(both, log_p, 0.0)
  near = np.abs(change) < 0.5
  small = np.where(near, change, 0.0)
  series = onp.cumprod(1.0 / onp.arange(1.0, 18.0))[1:]  # 1/k!, k >= 2.
  excess = np.zeros_like(small)
  for factor in series[::-1]:
    excess = excess * small + float(factor)
  close = p * (excess * small * small)
  far = q - p - p * np.where(near, 0.0, change)
  terms = np.where(near & both, close, far)
  return np.where(some_p & np.logical_not(some_q) & (p > 0), math.inf, terms)
