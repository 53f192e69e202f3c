"""Negative binomial distributions."""

from __future__ import annotations

import math
from typing import Self, TypeGuard

import numpy as np
import numpy as onp

from phasic.distributions.absorption import chain_hooks
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.families import named_family
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.m_step import rate_updates
from phasic.math.model import edge_probs
from phasic.math.model.model_types import Model
from phasic.math.numeric import array_utils


class _Trials(named_family.DiscreteFamily):
  """Base class: independent trials until a given number of successes."""

  num_successes: declared.Count = declared.count(
    "r, the number of successes to wait for, a Python int > 0, the same for "
    "the whole batch."
  )
  success_prob: declared.Required = declared.array(
    0,
    "positive probability",
    "q, (...), the probability of a success, in (0, 1]. With zero, which "
    "`validate_args` refuses, a success never comes.",
  )

  def _likeliest_failures(self) -> Array:
    """Computes the mode of the number of failures; of two modes, the larger."""
    prob = self._own()["success_prob"]
    good = (prob > 0) & (prob <= 1)
    known = np.where(good, prob, 1.0)
    mode = np.floor((self.num_successes - 1.0) * (1.0 - known) / known)
    return np.where(good, mode, math.nan)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    successes = np.sum(statistics.jumps, axis=-1)
    trials = np.sum(statistics.visits, axis=-1)
    old = self._arrays()["success_prob"]
    return self.copy(success_prob=rate_updates.updated(successes, trials, old))


@structures.register
class NegativeBinomialTrials(_Trials):
  """The number of trials until the r-th success.

      P(N = k) = (k - 1 choose r - 1) q^r (1 - q)^(k - r), k = r, r + 1, ...

  N is a sum of r independent geometric numbers and has r phases;
  `NegativeBinomialFailures` is N - r. The mode is r + floor((r - 1) (1 - q) /
  q), the larger one where two numbers are as likely.

  In SciPy this is `nbinom(n=r, p=q, loc=r)`. TensorFlow Probability has N - r,
  as `NegativeBinomial(total_count=r, probs=1 - q)`: its `probs` is the
  probability of what is counted, here of a failure.

  Example: throws of a die until the second six.

    >>> from phasic.distributions import NegativeBinomialTrials
    >>> dist = NegativeBinomialTrials(2, 1 / 6)
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(3)):.6f}")
    12.000000, 0.046296

  References:
    W. Feller, An introduction to probability theory and its applications,
      vol. 1, 1968, sec. VI.8.
  """

  def _chain_of(self, success_prob: Array) -> Model:
    r = self.num_successes
    phases, zeros = onp.arange(r), np.zeros(r, self.dtype)
    # The failure's weight 1 - q is given by the coefficient -1 and the constant
    # 1, so that it is exact for q near one.
    edges = edge_probs.EdgeProbs(
      onp.concatenate([phases, phases]),
      onp.concatenate([phases + 1, phases]),
      success_prob[..., None],
      np.concatenate([zeros + 1.0, zeros - 1.0])[:, None],
      np.concatenate([zeros, zeros + 1.0]),
    )
    start = named_family.first_of(r, self.dtype)
    return start, edges, None, np.zeros((), dtype=self.dtype)

  def _mode(self) -> Array:
    return self._likeliest_failures() + self.num_successes


@structures.register
class NegativeBinomialFailures(_Trials):
  """The number of failures before the r-th success.

      P(N = k) = (k + r - 1 choose k) q^r (1 - q)^k, k = 0, 1, ...

  A step of its chain of r phases is a failure, and phase i is that after i
  successes: T_ij = q^(j - i) (1 - q), t_i = q^(r - i), and the mass at zero is
  q^r. The mode is floor((r - 1) (1 - q) / q). Values, entropy and divergences
  between two with the same r use the chain of `NegativeBinomialTrials`, which
  has no powers that may underflow; other divergences are NaN where q^r is not a
  normal floating-point number.

  In SciPy this is `nbinom(n=r, p=q)`. In TensorFlow Probability it is
  `NegativeBinomial(total_count=r, probs=1 - q)`: its `probs` is the probability
  of what is counted, here of a failure.

  Example: throws of a die other than a six, before the second six.

    >>> from phasic.distributions import NegativeBinomialFailures
    >>> dist = NegativeBinomialFailures(2, 1 / 6)
    >>> print(f"{float(dist.mean()):.6f}, {float(dist.prob(1)):.6f}")
    10.000000, 0.046296

  References:
    W. Feller, An introduction to probability theory and its applications,
      vol. 1, 1968, sec. VI.8.
  """

  def _chain_of(self, success_prob: Array) -> Model:
    r = self.num_successes
    powers = array_utils.powers(success_prob, r)
    failure = (1.0 - success_prob)[..., None]
    steps = onp.arange(r) - onp.arange(r)[:, None]
    ahead = np.take(powers, onp.maximum(steps, 0), axis=-1)
    matrix = np.where(steps >= 0, ahead * failure[..., None], 0.0)
    exits = np.take(powers, onp.arange(r, 0, -1), axis=-1)
    return powers[..., :r] * failure, matrix, exits, powers[..., r]

  def _whole_model(self) -> Model:
    initial_probs, matrix, exits, prob_zero = self._model()
    assert prob_zero is not None  # `_chain_of` has it.
    least = float(onp.finfo(static.dtype_name(prob_zero)).tiny)
    prob_zero = np.where(prob_zero < least, math.nan, prob_zero)
    return initial_probs, matrix, exits, prob_zero

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN, by diagnosing the number of trials."""
    count = self._converted(value) + self.num_successes
    return self._trials()._reasons(count, method)

  def _entropy(self) -> Array:
    return self._trials()._entropy()

  def _cross_entropy(self, other: hooks.Hooks) -> Array:
    if self._is_shifted_as(other):
      return self._trials()._cross_entropy(other._trials())
    return super()._cross_entropy(other)

  def _is_shifted_as(
    self, other: object
  ) -> TypeGuard[NegativeBinomialFailures]:
    """Returns whether `other` has the same number of successes."""
    return (
      isinstance(other, NegativeBinomialFailures)
      and self.num_successes == other.num_successes
    )

  def _evaluate(self, kind: str, value: Array) -> Array:
    return self._trials()._evaluate(kind, value + self.num_successes)

  def _hazard_function(self, value: Array) -> Array:
    return self._trials()._hazard_function(value + self.num_successes)

  def _log_hazard_function(self, value: Array) -> Array:
    return self._trials()._log_hazard_function(value + self.num_successes)

  def _quantile(self, value: Array) -> Array:
    return self._failures(self._trials()._quantile(value))

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._failures(self._trials()._quantile_log_cdf(value))

  def _quantile_log_survival(self, value: Array) -> Array:
    return self._failures(self._trials()._quantile_log_survival(value))

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    return self._trials()._sample_n(n, seed) - self.num_successes

  def _mode(self) -> Array:
    return self._likeliest_failures()

  def _failures(self, trials: Array) -> Array:
    """Converts numbers of trials to numbers of failures, at least 0."""
    return np.maximum(trials - self.num_successes, 0.0)

  def _trials(self) -> NegativeBinomialTrials:
    """Returns the distribution of the total number of trials."""
    with user_warnings.derived():
      return NegativeBinomialTrials(
        self.num_successes, self.success_prob, validate_args=self.validate_args
      )

  def _linear_chain(self) -> tuple[NegativeBinomialTrials, float]:
    # The M-step needs a chain that is linear in q. The chain of the trials is
    # linear; the chain of the failures is not.
    return self._trials(), float(self.num_successes)


@method_results.register_kl(NegativeBinomialFailures, NegativeBinomialFailures)
def _kl_divergence(
  p: NegativeBinomialFailures, q: NegativeBinomialFailures
) -> Array:
  if p._is_shifted_as(q):
    return method_results.kl_divergence(p._trials(), q._trials())
  return chain_hooks.kl_divergence(p, q)
