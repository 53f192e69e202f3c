"""Sums of a random number of independent variables with one distribution."""

from __future__ import annotations

from typing import Unpack

from phasic.distributions.absorption import absorption_time
from phasic.distributions.base import declared
from phasic.distributions.closures import closure_parts
from phasic.math.closures import chain_parts
from phasic.math.closures import random_sums


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
    count: the distribution of N, a discrete phase-type distribution.
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
  found = random_sums.random_sum(*parts)
  both = [count, distribution]
  return closure_parts.of_parts(found, both, "RandomSum", options)
