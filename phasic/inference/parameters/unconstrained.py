"""Distributions as functions of unconstrained parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple

from phasic.distributions.base.distribution import DistributionT
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike


class Unconstrained(NamedTuple, Generic[DistributionT]):
  """Unconstrained parameters, and a function from them to distributions.

  Attributes:
    free: (d,), the unconstrained parameters of the given distribution.
    to_distribution: maps an array of unconstrained parameters to a
      distribution.

  Example: the logarithm of a rate.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> mapped = inference.unconstrained(Erlang(2, 1.0))
    >>> [f"{float(x):.6f}" for x in mapped.free]
    ['0.000000']
    >>> print(f"{float(mapped.to_distribution([1.0]).rate):.6f}")
    2.718282
  """

  free: Array
  to_distribution: Callable[[ArrayLike], DistributionT]


def unconstrained(
  dist: DistributionT,
  fixed: Sequence[str] = (),
  tied: Sequence[Sequence[str]] = (),
  free: Sequence[str] = (),
) -> Unconstrained[DistributionT]:
  """Maps the parameters of a distribution to unconstrained real parameters.

  By the bijectors of `parameter_properties` these are logarithms of rates and
  of differences of increasing rates, logarithms of the ratios of masses to the
  largest mass in their sum, and log odds of other probabilities. Zeros are
  structure, and stay. The distributions of `to_distribution` have exit rates
  and a mass at zero as parameters of their own, so that nothing is subtracted.

  Arrays that `to_distribution` takes have the dtype of `dist`, as arguments
  of methods have: float64 arrays with a float32 `dist` are a TypeError. In JAX and TensorFlow
  it can be differentiated, compiled and mapped, as optimizers and samplers of
  other libraries need it. The density of a prior on the parameters also needs
  the log determinants of the bijectors.

  Args:
    dist: a distribution without a batch, with concrete parameters.
    fixed: names of parameters or entries to keep, "rates" or "rates[2]".
    tied: groups of names of rates that are equal, to their geometric mean.
    free: names of values that are kept unless they are named here, such as
      "boundaries" of epochs or the bounds of a truncation.

  Raises:
    TypeError: parameters are traced.
    ValueError: `dist` has a batch, a name is unknown, or a value breaks a rule.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Coxian
    >>> free, to_distribution = inference.unconstrained(
    ...   Coxian([1.0], [0.0, 2.0])
    ... )
    >>> [f"{float(x):.6f}" for x in free]
    ['0.000000', '0.693147']
    >>> dist = to_distribution(free + 1.0)
    >>> [f"{float(x):.6f}" for x in dist.exit_rates]
    ['0.000000', '5.436564']

  Reference: B. Carpenter et al., Stan: a probabilistic programming language, J.
    Stat. Softw. 76, 2017, and its reference manual, ch. 10.
  """
  where = coordinates_lib.Coordinates(dist, fixed, tied, free)
  dtype, size = where.distribution.dtype, where.num_free
  start = where.to_unconstrained(where.entries)

  def to_distribution(x: ArrayLike) -> DistributionT:
    dtypes.check_fits(x, "free", dtype, "distribution")
    array = structures.as_array(x, dtype, "free")
    sizes = static.shape(array)
    if len(sizes) != 1 or (isinstance(sizes[0], int) and sizes[0] != size):
      raise ValueError(
        f"free has shape {sizes}: it must be ({size},); for several vectors, "
        "map to_distribution over them"
      )
    return where.distribution_at(where.forward(array))

  return Unconstrained(
    structures.as_array(start, dtype, "free"), to_distribution
  )
