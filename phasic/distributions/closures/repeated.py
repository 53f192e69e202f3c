"""Order statistics and random sums of independent, equally distributed variables."""

from __future__ import annotations

from typing import Unpack

from phasic.distributions.absorption import absorption_time
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.closures import closure_parts
from phasic.internal.arrays import Integer
from phasic.math.closures import chain_parts
from phasic.math.closures import order_statistics
from phasic.math.closures import random_sums


def order_statistic(
  distribution: absorption_time.AbsorptionTime,
  n: Integer,
  k: Integer,
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of the k-th smallest of n independent variables.

  All are distributed as `distribution`, which is of phase type with p phases.
  Those that have not ended are told apart by their phases alone, so that there
  are

      sum_{m = n-k+1}^{n} (m + p - 1 choose m)

  phases, at most 100,000. The first, k = 1, is the minimum, the last, k = n,
  the maximum, with (n + p choose p) - 1 phases. The atom is the sum over m =
  0, ..., n - k of (n choose m) a^m z^(n-m), where a is the sum of alpha. In
  discrete time all move in each step, and there are the more edges.

  Args:
    distribution: the distribution of each variable, a time or a number of
      steps.
    n: how many there are, a Python int > 0.
    k: which one, a Python int from 1 to n.
    **options: `validate_args` (default: as the distribution),
      `allow_nan_stats` and `name`.

  Returns:
    A `PhaseType` or a `DiscretePhaseType`, see `convolution`.

  Raises:
    TypeError: the distribution is not of phase type, or a count is not a Python
      int.
    ValueError: k is not in 1, ..., n, a graph is traced, there are more than
      100,000 phases or 10,000,000 edges, or n is so large that the ways to
      start are too many for a floating-point number.

  Example: a system of three parts that fails with the second one.

    >>> from phasic.distributions import Erlang, order_statistic
    >>> life = order_statistic(Erlang(2, 1.0), n=3, k=2)
    >>> print(life.num_phases, f"{float(life.cdf(1.0)):.6f}")
    7 0.172570

  Reference: D. Assaf, B. Levikson, Closure of phase type distributions under
    operations arising in reliability theory, Ann. Probab. 10, 1982.
  """
  closure_parts.check("distribution", distribution)
  n = structure.static_count("n", n)
  k = structure.static_count("k", k)
  if k > n:
    raise ValueError(f"k is {k}: it must be at most n = {n}")
  order_statistics.check_size(distribution.num_phases, n, k)
  parts = closure_parts.parts(distribution)
  chain = order_statistics.order_statistic(parts, n, k)
  name = "OrderStatistic"
  return closure_parts.combined(chain, [distribution], name, options)


def random_sum(
  count: absorption_time.AbsorptionTime,
  distribution: absorption_time.AbsorptionTime,
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of X_1 + ... + X_N, for a discrete phase-type N.

  All are independent. With q phases of N, a discrete phase-type variable (beta,
  B, b), and p of each X_i there are q p phases, at most 100,000; of X_i
  without an atom

      S' = I x S + B x s alpha,   alpha' = beta x alpha,   z' = P(N = 0)

  with Kronecker products x, and T in the place of S in discrete time. X_i with
  an atom z are passed over where they are zero: then B is (I - z B)^-1 B, beta
  is beta (I - z B)^-1, and z' = P(N = 0) + z beta (I - z B)^-1 b.

  Args:
    count: the distribution of N, a discrete phase-type distribution; `poisson`,
      `negative_binomial` and `finite_count` make one of other numbers.
    distribution: the distribution of each X_i, a time or a number of steps; its
      batch broadcasts with that of the count.
    **options: as in `convolution`.

  Returns:
    What `convolution` returns.

  Raises:
    TypeError: one is not of phase type, the count is continuous, or dtypes
      differ.
    ValueError: batches do not broadcast, a graph is traced, or there are more
      than 100,000 phases or 10,000,000 edges.

  Example: a geometric sum of exponential times is one itself.

    >>> from phasic.distributions import Erlang, NegativeBinomialTrials
    >>> from phasic.distributions import random_sum
    >>> total = random_sum(NegativeBinomialTrials(1, 0.25), Erlang(1, 2.0))
    >>> print(total.num_phases, f"{float(total.mean()):.6f}")
    1 2.000000

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
      2.6.
    D. Assaf, B. Levikson, Closure of phase type distributions under operations
      arising in reliability theory, Ann. Probab. 10, 1982.
  """
  closure_parts.check("count", count)
  closure_parts.check("distribution", distribution)
  if not count._DISCRETE:
    raise TypeError(
      f"count is {type(count).__name__}, in continuous time: it must be "
      "in discrete time, e.g. DiscretePhaseType"
    )
  children = {"count": count, "distribution": distribution}
  closure_parts.check_broadcast(children)
  phases = count.num_phases * distribution.num_phases
  chain_parts.check_size("the random sum", phases, 0)
  parts = closure_parts.parts(count), closure_parts.parts(distribution)
  chain = random_sums.random_sum(*parts)
  both = [count, distribution]
  return closure_parts.combined(chain, both, "RandomSum", options)
