"""A distribution as a function of free real numbers."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple

import numpy as onp

from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters.distribution_types import D
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike


class Unconstrained(NamedTuple, Generic[D]):
  """Free real numbers, and the distribution that they stand for.

  Attributes:
    free: (d,), where the distribution is the given one.
    to_distribution: takes such an array, returns the distribution.
  """

  free: Array
  to_distribution: Callable[[ArrayLike], D]


def unconstrained(
  dist: D, fixed: Sequence[str] = (), tied: Sequence[Sequence[str]] = ()
) -> Unconstrained[D]:
  """Returns a distribution's parameters as free real numbers.

  They are, by the bijectors of `parameter_properties`: the logarithms of rates,
  and of differences of increasing rates; those of the ratios of masses to the
  largest of those that sum to one with them; log odds of other probabilities.
  Zeros are structure, and stay. Exit rates, and a mass at zero, are told and
  not derived in the distributions that come back, so that nothing is
  subtracted.

  In JAX and TensorFlow `to_distribution` can be differentiated, compiled and
  mapped. That is what optimisers and samplers of other libraries need; the
  density of a prior on the parameters needs the bijectors' log determinants.

  Args:
    dist: without a batch, whose parameters are known.
    fixed: names of parameters or entries that are kept, "rates" or "rates[2]".
    tied: groups of names of rates that are one; it is their geometric mean.

  Raises:
    NotImplementedError: for `Epochs`.
    TypeError: parameters are traced.
    ValueError: there is a batch, a name is unknown, or a value breaks a rule.

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
  where = coordinates_lib.Coordinates(dist, fixed, tied)
  dtype, size = where.distribution.dtype, where.num_free
  free = onp.asarray(where.free_of(where.entries), dtype)

  def to_distribution(x: ArrayLike) -> D:
    array = structures.as_array(x, dtype, "free")
    sizes = static.shape(array)
    if len(sizes) != 1 or (isinstance(sizes[0], int) and sizes[0] != size):
      raise ValueError(
        f"free has shape {sizes}: it must be ({size},); map for more than one"
      )
    return where.of(where.forward(array))

  return Unconstrained(
    structures.as_array(free, dtype, "free"), to_distribution
  )
