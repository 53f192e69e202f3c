"""Sums, extremes and mixtures of independent phase-type variables.

What comes out is of phase type again, a `PhaseType` or, of numbers of steps, a
`DiscretePhaseType`. Its edges are sums and products of the children's, and
derivatives flow to the children's parameters. Variables are read when a
function is called. Where a child's values break a rule, results
are NaN, as the child's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import functools
import math
from typing import Unpack

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.base import adopted_dtypes
from phasic.distributions.base import constraints
from phasic.distributions.base import declared
from phasic.distributions.closures import closure_parts
from phasic.distributions.families import named_family
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import ArrayLike
from phasic.math.closures import chain_parts
from phasic.math.closures import closures


def convolution(
  distributions: Sequence[absorption_time.AbsorptionTime],
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of X_1 + ... + X_n, for independent X_i.

  It has p_1 + ... + p_n phases, at most 100,000: where one chain ends the next
  one starts. For two,

      S = (S_1  s_1 alpha_2)    alpha = (alpha_1, z_1 alpha_2),   z = z_1 z_2,
          (0            S_2)

  where alpha_2 is taken with its atom z_2: exits of the first one are s_1 z_2.
  In discrete time the same holds of T and t.

  Args:
    distributions: a list or tuple of times, or of numbers of steps; batches
      broadcast.
    **options: `validate_args` (default: as any of them), `allow_nan_stats`
      and `name`.

  Returns:
    A `PhaseType` or, of numbers of steps, a `DiscretePhaseType`, of edges.

  Raises:
    TypeError: one is not of phase type, or times or dtypes differ.
    ValueError: there are none, batches do not broadcast, a graph is traced, or
      there are more than 100,000 phases or 10,000,000 edges.

  Example: a visit that is a wait and then a treatment.

    >>> from phasic.distributions import Erlang, Hyperexponential, convolution
    >>> wait = Hyperexponential([0.25, 0.75], [1.0, 4.0])
    >>> visit = convolution([wait, Erlang(2, 1.0)])
    >>> print(visit.num_phases, f"{float(visit.cdf(2.0)):.6f}")
    4 0.469909

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
      2.2.
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, sec. 3.1.
  """
  return _folded(
    closures.convolution,
    sum,
    distributions,
    ("the sum", "Convolution"),
    options,
  )


def minimum(
  distributions: Sequence[absorption_time.AbsorptionTime],
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of min(X_1, ..., X_n), for independent X_i.

  It has p_1 ... p_n phases, at most 100,000: where all the chains are. In
  continuous time S is the Kronecker sum of the S_i, in discrete time T the
  Kronecker product of the T_i. With m_i the mass that X_i has beyond zero, the
  sum of alpha_i, the atom for two is z_1 z_2 + z_1 m_2 + m_1 z_2.

  Arguments, result and errors are as for `convolution`.

  Example: which comes first, a repair or the next fault?

    >>> from phasic.distributions import Erlang, minimum
    >>> first = minimum([Erlang(2, 3.0), Erlang(1, 0.5)])
    >>> print(first.num_phases, f"{float(first.mean()):.6f}")
    2 0.530612

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
      2.2.
    D. Assaf, B. Levikson, Closure of phase type distributions under operations
      arising in reliability theory, Ann. Probab. 10, 1982.
  """
  return _folded(
    functools.partial(functools.reduce, closures.minimum),
    math.prod,
    distributions,
    ("the minimum", "Minimum"),
    options,
  )


def maximum(
  distributions: Sequence[absorption_time.AbsorptionTime],
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of max(X_1, ..., X_n), for independent X_i.

  It has (p_1 + 1) ... (p_n + 1) - 1 phases, at most 100,000: where those of
  the chains are that have not ended. The atom is z_1 ... z_n. For independent
  ones of one distribution `order_statistic` needs fewer phases.

  Arguments, result and errors are as for `convolution`.

  Example: two jobs in parallel.

    >>> from phasic.distributions import Erlang, maximum
    >>> last = maximum([Erlang(1, 1.0), Erlang(1, 2.0)])
    >>> print(last.num_phases, f"{float(last.mean()):.6f}")
    3 1.166667

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
      2.2.
    D. Assaf, B. Levikson, Closure of phase type distributions under operations
      arising in reliability theory, Ann. Probab. 10, 1982.
  """
  return _folded(
    functools.partial(functools.reduce, closures.maximum),
    lambda phases: math.prod(p + 1 for p in phases) - 1,
    distributions,
    ("the maximum", "Maximum"),
    options,
  )


def mixture(
  probs: ArrayLike,
  distributions: Sequence[absorption_time.AbsorptionTime],
  **options: Unpack[declared.Options],
) -> closure_parts.PhaseType:
  """Returns the distribution of X_i with probability q_i.

  It has p_1 + ... + p_n phases, at most 100,000: the first phase selects the
  component. alpha = (q_1 alpha_1, ..., q_n alpha_n), and the atom is q_1 z_1 +
  ... + q_n z_n.

  Args:
    probs: q, (..., n), >= 0; they sum to one within 4 n eps, else results are
      NaN. Sums that are off by the rounding of float32 alone are divided out,
      with a warning.
    distributions: as in `convolution`.
    **options: as in `convolution`.

  Returns:
    What `convolution` returns.

  Raises:
    TypeError: as `convolution`.
    ValueError: as `convolution`, or probs are not (..., n), or, where values
      are checked, break their rule.

  Example: most jobs are short.

    >>> from phasic.distributions import Erlang, mixture
    >>> job = mixture([0.75, 0.25], [Erlang(1, 2.0), Erlang(3, 1.0)])
    >>> print(job.num_phases, f"{float(job.mean()):.6f}")
    4 1.125000

  Reference: M. F. Neuts, Matrix-geometric solutions in stochastic models,
    1981, sec. 2.2.
  """
  distributions = closure_parts.check_all("distributions", distributions)
  dtype = distributions[0].dtype
  probs_dtype = dtypes.common_dtype({"probs": probs}, default=dtype)
  if probs_dtype != dtype:
    raise TypeError(
      f"probs are {probs_dtype} and distributions[0] is {dtype}: floating "
      "arguments must have one dtype"
    )
  weights = structures.as_array(probs, dtype, "probs")
  shape, n = static.shape(weights), len(distributions)
  if shape[-1:] != (n,):
    raise ValueError(
      f"probs have shape {shape}: they must be (..., {n}), as there are {n} "
      "distributions"
    )
  closure_parts.check_batches(
    {
      "probs": shape[:-1],
      **{
        f"distributions[{i}]": one._batch_shape()
        for i, one in enumerate(distributions)
      },
    }
  )
  phases = sum(one.num_phases for one in distributions)
  chain_parts.check_size("the mixture", phases, 0)
  children = [closure_parts.parts(one) for one in distributions]
  weights = closure_parts.checked_values(
    "mixture",
    "probs",
    weights,
    constraints.PROBABILITIES,
    options,
    any(x.validate_args for x in distributions),
  )
  wide = structures.cast(weights, static.wide_float())
  good = np.all(weights >= 0, axis=-1)
  bad = np.where(good, named_family.no_atom(weights), float("nan"))
  wide = wide + structures.cast(bad, wide.dtype)[..., None]
  made = closure_parts.combined(
    closures.mixture(wide, children), distributions, "Mixture", options
  )
  return adopted_dtypes.mark(made, (probs, *distributions))


def _folded(
  function: Callable[
    [Sequence[chain_parts.ChainParts]], chain_parts.ChainParts
  ],
  count: Callable[[Iterable[int]], int],
  distributions: Sequence[absorption_time.AbsorptionTime],
  names: tuple[str, str],
  options: declared.Options,
) -> closure_parts.PhaseType:
  """Combines the chains of distributions.

  Args:
    function: combines the parts of some chains to the parts of one.
    count: maps the numbers of phases of each to the total number.
    distributions: the argument of the public function.
    names: what the result is called in messages, and as a distribution.
    options: for the constructor.
  """
  distributions = closure_parts.check_all("distributions", distributions)
  phases = count([one.num_phases for one in distributions])
  chain_parts.check_size(names[0], phases, 0)
  parts = [closure_parts.parts(one) for one in distributions]
  return closure_parts.combined(
    function(parts), distributions, names[1], options
  )
