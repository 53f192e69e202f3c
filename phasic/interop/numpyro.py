"""Wraps distributions for NumPyro: `numpyro.sample`, NUTS and SVI."""

# This source is checked with NumPy's types of arrays and seeds. In the package
# for JAX all overrides fit those of NumPyro, but that `sample` needs a key.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from collections.abc import Mapping
import functools
import math

import numpy as np
import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import reparameterization
from phasic.internal import late_names
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.internal.arrays import Seed

try:
  import numpyro.distributions as numpyro_distributions
  from numpyro.distributions import constraints
  from numpyro.distributions import kl
  from numpyro.distributions import util
except ImportError as error:
  raise ImportError(
    "the adapter to NumPyro needs the package numpyro: pip install "
    "'phasic-substrates[numpyro]'"
  ) from error


class _Ascending(type(constraints.positive_ordered_vector)):  # type: ignore[misc]
  """NumPyro's constraint of positive ascending vectors; ties are valid."""

  def __call__(self, x: Array) -> Array:
    """Returns whether each vector is positive and ascending."""
    rising = np.all(x[..., 1:] >= x[..., :-1], axis=-1)
    return rising & np.all(x > 0, axis=-1)


@numpyro_distributions.biject_to.register(_Ascending)
def _biject_to_ascending(
  constraint: object,
) -> numpyro_distributions.transforms.Transform:
  return numpyro_distributions.biject_to(constraints.positive_ordered_vector)


_ASCENDING = _Ascending()


def wrap(
  distribution: distribution_lib.Distribution,
  validate_args: bool | None = None,
) -> NumPyroDistribution:
  """Wraps a distribution as a NumPyro distribution.

  It is an instance of a subclass of `NumPyroDistribution` that belongs to the
  class of `distribution`, whose parameters it has.

  Args:
    distribution: the distribution to wrap; its parameters may be traced.
    validate_args: whether NumPyro checks parameters against `arg_constraints`,
      and warns of values outside the support; None is its default. Matrices
      and initial masses are not among what it can check: the distribution's
      own `validate_args` does.

  Raises:
    TypeError: it is not a distribution of phasic.

  Example: the rate of a service of three stages, by its posterior.

    >>> import jax
    >>> import numpyro
    >>> from phasic.distributions import Erlang
    >>> from phasic.interop import numpyro as adapter
    >>> def model(times):
    ...   rate = numpyro.sample("rate", numpyro.distributions.Gamma(1.0, 1.0))
    ...   with numpyro.plate("times", len(times)):
    ...     numpyro.sample("obs", adapter.wrap(Erlang(3, rate)), obs=times)
    >>> times = jax.numpy.asarray([1.0, 2.0])
    >>> density, _ = numpyro.infer.util.log_density(
    ...   model, (times,), {}, {"rate": jax.numpy.asarray(2.0)}
    ... )
    >>> print(f"{float(density):.4f}")
    -3.8411
  """
  if not isinstance(distribution, distribution_lib.Distribution):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: it must be a distribution "
      "of phasic"
    )
  # Type checkers take a class for hashable only if its instances are.
  cls = _class_of(type(distribution))  # type: ignore[arg-type]
  return cls(distribution, validate_args=validate_args)


class NumPyroDistribution(numpyro_distributions.Distribution):
  """A wrapped distribution with the methods of a NumPyro distribution.

  Counts are floating numbers, as `distribution` has them. Samples can be
  differentiated where `has_rsample` is true.

  Attributes:
    distribution: the wrapped distribution.
  """

  pytree_data_fields = ("distribution",)

  def __init__(
    self,
    distribution: distribution_lib.Distribution,
    *,
    validate_args: bool | None = None,
  ):
    """Stores the distribution to wrap."""
    self.distribution = distribution
    shapes = distribution.batch_shape, distribution.event_shape
    # In JAX only symbolic sizes are None, which NumPyro has no type for.
    super().__init__(*shapes, validate_args=validate_args)  # pyright: ignore[reportArgumentType]

  def get_args(self) -> dict[str, Array]:
    """Returns the array parameters that were given, by name.

    Those of a graph that are given by their names are none, and neither are
    edges: NumPyro's constraints are of arrays.
    """
    parameters = self.distribution.parameters
    given = {name: parameters[name] for name in self.arg_constraints}
    return {
      name: value
      for name, value in given.items()
      if value is not None and not isinstance(value, (Mapping, tuple))
    }

  @property
  def has_rsample(self) -> bool:
    """Whether samples are differentiable in the parameters."""
    found = self.distribution.reparameterization_type
    return found is reparameterization.FULLY_REPARAMETERIZED

  @property
  def support(self) -> constraints.Constraint:
    """The support, as a NumPyro constraint."""
    support = self.distribution.support
    low, high = support.low, support.high
    known = None if high is None else static.concrete(high)
    # A traced bound is assumed to be finite.
    if known is not None and not onp.any(known < math.inf):
      high = None
    if support.constraint == "nonnegative_integer":
      constraint = constraints.nonnegative_integer
      if low is not None and high is not None:
        constraint = constraints.integer_interval(low, high)
    elif low is None:
      constraint = constraints.nonnegative
    elif high is None:
      constraint = constraints.greater_than(low)
    else:
      constraint = constraints.interval(low, high)
    if support.event_ndims:
      return constraints.independent(constraint, support.event_ndims)
    return constraint

  def sample(self, key: Seed, sample_shape: tuple[int, ...] = ()) -> Result:
    """Returns samples of shape sample_shape + batch_shape + event_shape."""
    return self.distribution.sample(sample_shape, seed=key)

  @util.validate_sample
  def log_prob(self, value: ArrayLike, intermediates: object = None) -> Result:
    """Returns the log density."""
    return self.distribution.log_prob(value)

  def cdf(self, value: ArrayLike) -> Result:
    """Returns P(X <= value)."""
    return self.distribution.cdf(value)

  def icdf(self, q: ArrayLike) -> Result:
    """Returns the quantile."""
    return self.distribution.quantile(q)

  def entropy(self) -> Result:
    """Returns the entropy in nats."""
    return self.distribution.entropy()

  @property
  def mean(self) -> Result:
    """The mean."""
    return self.distribution.mean()

  @property
  def variance(self) -> Result:
    """The variance."""
    return self.distribution.variance()


# Type checkers do not see that it is a dispatcher of `multipledispatch`.
@kl.kl_divergence.register(NumPyroDistribution, NumPyroDistribution)  # pyright: ignore[reportFunctionMemberAccess]
def _kl_divergence(p: NumPyroDistribution, q: NumPyroDistribution) -> Result:
  return p.distribution.kl_divergence(q.distribution)


@functools.cache
def _class_of(
  cls: type[distribution_lib.Distribution],
) -> type[NumPyroDistribution]:
  """Makes the NumPyro class for a class of distributions."""
  properties = cls.parameter_properties()
  own = {
    "arg_constraints": {name: _constraint(p) for name, p in properties.items()},
    "pytree_data_fields": (),
    "__doc__": f"`{cls.__name__}` as NumPyro's.",
    "__module__": __name__,
  }
  return type(cls.__name__, (NumPyroDistribution,), own)


def _constraint(
  properties: parameter_properties.ParameterProperties,
) -> constraints.Constraint:
  """Returns NumPyro's constraint for an array parameter."""
  constraint, rank = properties.constraint, properties.event_ndims
  if constraint.numpyro == "ascending":
    return _ASCENDING
  if constraint.numpyro is not None:
    found = getattr(constraints, constraint.numpyro)
    each = rank == 0 or constraint.is_whole
    return found if each else constraints.independent(found, rank)
  return constraints.dependent(is_discrete=False, event_dim=rank)


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
