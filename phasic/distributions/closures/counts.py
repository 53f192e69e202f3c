"""Counts that are not of phase type themselves, for random sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from typing import TypeAlias, Unpack

import numpy as np
import numpy as onp

from phasic.distributions.base import adopted_dtypes
from phasic.distributions.base import constraints
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.closures import closure_parts
from phasic.distributions.families import named_family
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Integer
from phasic.math.closures import chain_parts
from phasic.math.closures import counts
from phasic.math.model import plausible

_MOST_TAIL = 0.01
# The logarithm of the backend, or of NumPy.
_Log: TypeAlias = Callable[[Array], Array]


def finite_count(
  probs: ArrayLike, **options: Unpack[declared.Options]
) -> closure_parts.PhaseType:
  """Returns the distribution of a number N with P(N = k) = probs[k].

  It is a discrete phase-type distribution of n phases, where n is the largest
  number: phase k - 1 is entered if N is at least k, and left for the next one
  with probability P(N > k | N >= k).

  Args:
    probs: P(N = k) for k = 0, ..., n, (..., n + 1), n >= 1; they sum to one, as
      those of `mixture` do.
    **options: `validate_args` (default: False), `allow_nan_stats` and `name`.

  Returns:
    A `DiscretePhaseType` of edges, in which derivatives in probs exist.

  Raises:
    TypeError: probs are complex or bool.
    ValueError: there are fewer than two probabilities, or more than 100,001, or
      where values are checked they break their rule.

  Example: one to three claims.

    >>> from phasic.distributions import Erlang, finite_count, random_sum
    >>> total = random_sum(finite_count([0.0, 0.5, 0.25, 0.25]), Erlang(1, 2.0))
    >>> print(total.num_phases, f"{float(total.mean()):.6f}")
    3 0.875000

  Reference: M. F. Neuts, Matrix-geometric solutions in stochastic models,
    1981, ch. 2.
  """
  dtype, given = dtypes.common_dtype({"probs": probs}), probs
  probs = structures.as_array(probs, dtype, "probs")
  shape = static.shape(probs)
  if not shape or shape[-1] < 2:
    raise ValueError(
      f"probs have shape {shape}: they must be (..., n + 1), the probabilities "
      "of 0, 1, ..., n, with n >= 1"
    )
  chain_parts.check_size("the count", shape[-1] - 1, 0)
  rule = constraints.PROBABILITIES
  probs = closure_parts.checked_values(
    "finite_count", "probs", probs, rule, options
  )
  wide = structures.cast(probs, static.wide_float())
  good = np.all(wide >= 0, axis=-1)
  bad = np.where(good, named_family.no_atom(probs), float("nan"))
  bad = structures.cast(bad, static.wide_float())
  made = _made(counts.from_probs(wide), bad, dtype, "FiniteCount", options)
  return adopted_dtypes.mark(made, [given])


def poisson(
  rate: ArrayLike,
  *,
  tail: float = 1e-30,
  max_count: Integer | None = None,
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of a Poisson number N, given that N <= n.

      P(N = k) = exp(-rate) rate^k / k!,  k = 0, 1, ...

  No finite chain has it: numbers above n, which has P(N > n) <= `tail`, are cut
  off. So probabilities of this N and of random sums of it are right to a
  relative error of `tail` where they are large, and above n, or where a sum
  needs more than n terms, they are too small by at most `tail`. For more of a
  tail choose a smaller `tail`: n grows slowly, from 70 to 228 for a rate of 12
  and a tail of 1e-200.

  Probabilities below the smallest normal number, 2e-308, are zero, as P(N = 0) is
  for a rate above 700. Two counts are compared by `kl_divergence` where both have
  the same `max_count`. A fit changes the probabilities of the chain, and forgets
  the rate; `inference.maximize` of a log likelihood fits it.

  Args:
    rate: the mean, (...), >= 0 and finite.
    tail: the largest probability that is cut off, in (0, 0.01].
    max_count: n, the number of phases, a Python int > 0; None for the least
      that `tail` allows. Where the rate is traced it must be given, and
      results are NaN if more than `tail` would be cut off.
    **options: as in `finite_count`.

  Returns:
    A `DiscretePhaseType` of edges, in which derivatives in the rate exist.

  Raises:
    TypeError: the rate is complex or bool, tail is not a number, or max_count is
      not a Python int.
    ValueError: tail is not in (0, 0.01]; the rate is traced and there is no
      max_count; more than `tail` is above max_count, or n would be above
      100,000; where values are checked the rate breaks its rule.

  Example: the loss of a year with twelve claims on average, and its 99.5 %
  quantile.

    >>> from phasic.distributions import Erlang, poisson, random_sum
    >>> total = random_sum(poisson(12.0), Erlang(2, 0.5))
    >>> print(f"{float(total.mean()):.3f}, {float(total.quantile(0.995)):.3f}")
    48.000, 98.892

  Reference: S. A. Klugman, H. H. Panjer, G. E. Willmot, Loss models, 2012,
    sec. 6.2 and 9.3.
  """
  values = {"rate": (rate, "nonnegative")}
  return _cut("poisson", values, _poisson, (tail, max_count), options)


def negative_binomial(
  num_successes: ArrayLike,
  success_prob: ArrayLike,
  *,
  tail: float = 1e-30,
  max_count: Integer | None = None,
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of a negative binomial number N, given N <= n.

      P(N = k) = Gamma(k + r) / (k! Gamma(r)) q^r (1 - q)^k,  k = 0, 1, ...

  For r that is not a whole number, e.g. one that was fitted; for whole numbers
  `NegativeBinomialFailures` has r phases and is exact. The tail is cut off, with
  the accuracy of `poisson`.

  Args:
    num_successes: r, (...), > 0 and finite.
    success_prob: q, (...), in (0, 1].
    tail: as for `poisson`.
    max_count: as for `poisson`.
    **options: as in `finite_count`.

  Returns:
    A `DiscretePhaseType` of edges, in which derivatives in r and q exist.

  Raises:
    TypeError: as for `poisson`.
    ValueError: as for `poisson`, or shapes do not broadcast.

  Example: claims of drivers whose rates differ.

    >>> from phasic.distributions import negative_binomial
    >>> number = negative_binomial(1.5, 0.2)
    >>> print(f"{float(number.mean()):.6f}, {float(number.prob(3)):.6f}")
    6.000000, 0.100176

  Reference: S. A. Klugman, H. H. Panjer, G. E. Willmot, Loss models, 2012,
    sec. 6.3.
  """
  values = {
    "num_successes": (num_successes, "positive"),
    "success_prob": (success_prob, "positive probability"),
  }
  cut = tail, max_count
  return _cut("negative_binomial", values, _negative_binomial, cut, options)


def _poisson(log: _Log, rate: Array) -> counts.Recursion:
  """Returns the recursion of Poisson numbers, on the host or not."""
  return counts.Recursion(0.0 - rate, rate, 0.0 * rate)


def _negative_binomial(log: _Log, r: Array, q: Array) -> counts.Recursion:
  """Returns the recursion of negative binomial numbers, on the host or not."""
  growth = 0.0 * r + (1.0 - q)
  return counts.Recursion(r * log(q), r * growth, growth)


def _cut(
  what: str,
  parameters: Mapping[str, tuple[ArrayLike, str]],
  law: Callable[..., counts.Recursion],
  cut: tuple[float, Integer | None],
  options: declared.Options,
) -> closure_parts.PhaseType:
  """Returns a count that is cut off.

  Args:
    what: the name of the closure.
    parameters: by name, each with the name of its constraint.
    law: takes a logarithm and the parameters, in the widest precision.
    cut: `tail` and `max_count`.
    options: for the constructor.
  """
  tail, max_count = cut
  if isinstance(tail, bool) or not isinstance(tail, (int, float, onp.number)):
    raise TypeError(
      f"tail is {raw_arguments.shown(tail)}: it must be a Python number"
    )
  if not 0.0 < tail <= _MOST_TAIL:
    raise ValueError(
      f"tail is {tail}: it must be > 0 and at most {_MOST_TAIL}, as it is the "
      "probability that is cut off"
    )
  given = {name: x for name, (x, _) in parameters.items()}
  dtype = dtypes.common_dtype(given)
  arrays = {k: structures.as_array(x, dtype, k) for k, x in given.items()}
  closure_parts.check_batches({k: static.shape(x) for k, x in arrays.items()})
  good: Array | bool = True
  wide = []
  for name, (_, rule) in parameters.items():
    constraint = constraints.named(rule)
    x = closure_parts.checked_values(
      what, name, arrays[name], constraint, options
    )
    x = structures.cast(x, static.wide_float())
    valid = constraint.holds(x)
    good = good & valid
    wide.append(np.where(valid, x, 0.5))
  # Under jit the arrays are traced, even where what was given is not.
  known = plausible.values_at_hand(list(given.values()))
  host = None
  if known is not None:
    rules = [constraints.named(rule) for _, rule in parameters.values()]
    host = law(
      onp.log,
      *(
        onp.where(rule.holds(x), x, 0.5).astype("float64")
        for rule, x in zip(rules, known, strict=True)
      ),
    )
  n = _num_phases(what, host, float(tail), max_count)
  recursion = law(np.log, *wide)
  kept = counts.log_tail(recursion, n) <= math.log(tail)
  bad = np.where(good & kept, 0.0, math.nan)
  chances = counts.from_ratios(recursion.ratios(onp.arange(1.0, n + 1.0)))
  made = _made(chances, bad, dtype, what, options)
  return adopted_dtypes.mark(made, given.values())


def _num_phases(
  what: str,
  law: counts.Recursion | None,
  tail: float,
  max_count: Integer | None,
) -> int:
  """Returns the largest count that is kept.

  Args:
    what: the name of the closure.
    law: the count, on the host; None if a parameter is traced.
    tail: the largest probability that may be cut off.
    max_count: the largest count, if given.
  """
  if max_count is not None:
    max_count = structure.static_count("max_count", max_count)
    chain_parts.check_size("the count", max_count, 0)
  if law is None:
    if max_count is None:
      raise ValueError(
        f"max_count is None, and a parameter of {what} is traced: max_count "
        "must be given, since it sets the number of phases"
      )
    return max_count
  least = counts.needed(law, tail)
  if least is None:
    raise ValueError(
      f"{what}: P(N > {chain_parts.MAX_PHASES}) is above tail = {tail}, and "
      f"chains have at most {chain_parts.MAX_PHASES} phases: its mean must be "
      "smaller, or tail larger"
    )
  if max_count is not None and max_count < least:
    raise ValueError(
      f"max_count is {max_count}: it must be at least {least}, as "
      f"P(N > {max_count}) is above tail = {tail}"
    )
  return least if max_count is None else max_count


def _made(
  chances: tuple[Array, Array],
  bad: Array,
  dtype: str,
  name: str,
  options: declared.Options,
) -> closure_parts.PhaseType:
  """Returns a count as a distribution.

  Args:
    chances: P(N = k | N >= k), (..., n + 1), and P(N > k | N >= k), (..., n).
    bad: NaN where parameters are invalid, else zero, (...).
    dtype: of the distribution.
    name: of the distribution, where options have none.
    options: for the constructor.
  """
  ends, goes_on = chances
  n = static.shape(goes_on)[-1]
  first = onp.eye(1, n)[0]
  phases = onp.arange(n)
  chain = chain_parts.ChainParts(
    n,
    goes_on[..., :1] * first + bad[..., None],
    ends[..., 0] + bad,
    phases[:-1],
    phases[1:],
    goes_on[..., 1:],
    phases,
    ends[..., 1:],
    np.zeros((n,), dtype=static.dtype_name(ends)),
  )
  named: declared.Options = {"name": name}
  return closure_parts.made(chain, dtype, named | options)
