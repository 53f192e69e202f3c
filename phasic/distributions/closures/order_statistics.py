"""Order statistics of independent variables with one distribution."""

from __future__ import annotations

from typing import Unpack

from phasic.distributions.absorption import absorption_time
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.closures import closure_parts
from phasic.internal.arrays import Integer
from phasic.math.closures import order_statistics


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
  found = order_statistics.order_statistic(parts, n, k)
  name = "OrderStatistic"
  return closure_parts.of_parts(found, [distribution], name, options)
