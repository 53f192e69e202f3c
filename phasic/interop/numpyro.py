"""Wraps distributions for NumPyro: `numpyro.sample`, NUTS and SVI."""

# Type checkers see this source with NumPy's types of arrays and seeds, which do
# not fit those of NumPyro. In the package for JAX all overrides fit, except
# that `sample` needs a key.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
import copy
import copyreg
import functools
import math
from typing import Any

import numpy as np

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.distributions.base import samples
from phasic.internal import late_names
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike, Result, Seed, Tree

try:
  import numpyro.distributions as numpyro_distributions
  from numpyro.distributions import batch_util
  from numpyro.distributions import constraints
  from numpyro.distributions import kl
  from numpyro.distributions import util

  from phasic.interop import numpyro_parameters
except ImportError as error:
  raise ImportError(
    "the adapter to NumPyro needs the package numpyro: pip install "
    "'phasic-substrates[numpyro]'"
  ) from error

# Constructor arguments that do not become attributes of the wrapper. An
# argument `distribution` would hide the wrapped distribution, which has the
# same name.
_NO_ATTRIBUTES = ("distribution", "validate_args", "allow_nan_stats", "name")


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
  if validate_args is not None:
    raw_arguments.check_flags(validate_args=validate_args)
  cls = _class_of(*_key(distribution))
  return cls(distribution, validate_args=validate_args)


class NumPyroDistribution(numpyro_distributions.Distribution):
  """A wrapped distribution with the methods of a NumPyro distribution.

  Counts are floating numbers, as `distribution` has them. Samples can be
  differentiated where `has_rsample` is true. Each constructor argument of
  `distribution` is an attribute too, `wrap(Erlang(3, 2.0)).rate` for example.

  Times with an atom at zero, such as those of `ZeroInflated`, can be observed
  but not latent: samplers would never reach zero, and so inference raises
  ValueError.

  The batch dimensions of all array parameters are equally many, as in NumPyro's
  own distributions: missing ones are added, of size one.

  Attributes:
    distribution: the wrapped distribution.
    may_have_rsample: whether `has_rsample` is true for some of the class.
  """

  pytree_data_fields = ("distribution",)
  reparametrized_params = numpyro_parameters.ReparametrizedParams()  # type: ignore[assignment]
  may_have_rsample = False
  # The arguments with which `_class_of` made the class.
  _made_of: tuple[Any, ...] = ()

  def __init__(
    self,
    distribution: distribution_lib.Distribution,
    *,
    validate_args: bool | None = None,
  ):
    """Stores the distribution to wrap."""
    shapes = distribution.batch_shape, distribution.event_shape
    self.distribution = numpyro_parameters.aligned(distribution, len(shapes[0]))
    # In JAX a size is None only if it is symbolic: NumPyro has no type for it.
    super().__init__(*shapes, validate_args=validate_args)  # pyright: ignore[reportArgumentType]

  def __repr__(self) -> str:
    return f"wrap({self.distribution!r})"

  def __reduce__(self) -> tuple[object, ...]:
    # Pickle finds classes by name, but not those that are made on demand: for
    # these it stores the arguments that make them.
    if "_made_of" in type(self).__dict__:
      return _blank, self._made_of, self.__dict__
    return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

  def get_args(self) -> dict[str, Array]:
    """Returns the array parameters that were given, by name.

    Parameters of a graph that are given by their names are left out, and so are
    edges: NumPyro's constraints are of arrays.
    """
    parameters = self.distribution.parameters
    given = {name: parameters[name] for name in self.arg_constraints}
    return {
      name: value
      for name, value in given.items()
      if not isinstance(value, (Mapping, tuple))
    }

  @classmethod
  def infer_shapes(
    cls, *args: Sequence[int] | None, **kwargs: Sequence[int] | None
  ) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Computes the batch and event shape from shapes of array parameters.

    Args:
      *args: shapes, in the order in which the constructor of the wrapped
        distribution has its array parameters; None for one that is not given.
      **kwargs: shapes by name.

    Raises:
      NotImplementedError: values are vectors, or the distribution has another
        one as a parameter.
      TypeError: there are too many shapes, or one has an unknown name.
      ValueError: a shape has too few dimensions, or they do not broadcast.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> from phasic.interop import numpyro as adapter
      >>> wrapped = adapter.wrap(PhaseType([1.0], [[-1.0]]))
      >>> type(wrapped).infer_shapes((2,), (5, 2, 2))
      ((5,), ())
    """
    return numpyro_parameters.inferred_shapes(cls._made_of[0], args, kwargs)

  @property
  def has_rsample(self) -> bool:
    """Whether samples are differentiable in the parameters."""
    return (
      self.distribution.reparameterization_type is samples.FULLY_REPARAMETERIZED
    )

  @property
  def support(self) -> constraints.Constraint:
    """The support, as a NumPyro constraint.

    `numpyro.distributions.biject_to` raises ValueError for the support of a
    continuous law with an atom at zero, so that NUTS and guides refuse latent sites.
    """
    return numpyro_parameters.distribution_constraint(self.distribution)

  def sample(
    self, key: Seed | None, sample_shape: tuple[int, ...] = ()
  ) -> Result:
    """Returns samples of shape sample_shape + batch_shape + event_shape.

    Raises:
      TypeError: the key is None, as it is outside of `numpyro.handlers.seed`,
        or not a key.
    """
    if key is None:
      raise TypeError(
        "key is None: it must be a key, e.g. jax.random.key(0); in a model use "
        "numpyro.handlers.seed(model, key)"
      )
    drawn = self.distribution.sample(sample_shape, seed=key)
    # NumPyro's censored distributions add dimensions of size one in front of
    # the parameters, and keep the batch shape.
    shape = (*sample_shape, *self.batch_shape, *self.event_shape)
    sizes = static.shape(drawn)
    has_ones = len(sizes) > len(shape) and math.prod(sizes) == math.prod(shape)
    return np.reshape(drawn, shape) if has_ones else drawn

  @util.validate_sample
  def log_prob(self, value: ArrayLike, intermediates: object = None) -> Result:
    """Returns the log density."""
    return self.distribution.log_prob(value)

  def _validate_sample(self, value: ArrayLike) -> Array:
    # NumPyro compares a NumPy value with the bounds by NumPy, which does not
    # take traced bounds. So the value is converted to a JAX array.
    support = self.distribution.support
    bounds = [x for x in (support.low, support.high) if x is not None]
    if any(static.concrete(bound) is None for bound in bounds):
      value = np.asarray(value)
    return super()._validate_sample(value)

  def cdf(self, value: ArrayLike) -> Result:
    """Returns P(X <= value)."""
    return self.distribution.cdf(value)

  def log_cdf(self, value: ArrayLike) -> Result:
    """Returns log P(X <= value)."""
    return self.distribution.log_cdf(value)

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

  @property
  def mode(self) -> Result:
    """The mode."""
    return self.distribution.mode()


# Type checkers do not see that `kl_divergence` is a dispatcher, which has the
# method `register`.
@kl.kl_divergence.register(NumPyroDistribution, NumPyroDistribution)  # pyright: ignore[reportFunctionMemberAccess]
def _kl_divergence(p: NumPyroDistribution, q: NumPyroDistribution) -> Result:
  return p.distribution.kl_divergence(q.distribution)


@batch_util.promote_batch_shape.register(NumPyroDistribution)
def _promote_batch_shape(d: NumPyroDistribution) -> NumPyroDistribution:
  """Adds to the batch shape the dimensions that `vmap` or `scan` added."""
  promoted = copy.copy(d)
  # The parameters already have the new dimensions, but the stored batch shape
  # does not.
  promoted._batch_shape = static.broadcast_shapes(  # noqa: SLF001
    d.batch_shape, inferring.batch_shape(d.distribution)
  )
  return promoted


@batch_util.vmap_over.register(NumPyroDistribution)
def _vmap_over(d: NumPyroDistribution, **axes: Tree) -> NumPyroDistribution:
  """Returns the axes for `jax.vmap`, see `numpyro_parameters.with_axes`."""
  mapped = copy.copy(d)
  mapped.distribution = numpyro_parameters.with_axes(d.distribution, axes)
  return mapped


def _key(distribution: distribution_lib.Distribution) -> tuple[Any, ...]:
  """Returns the arguments of `_class_of` for a distribution."""
  parameters = distribution.parameters
  names = tuple(x for x in parameters if x not in _NO_ATTRIBUTES)
  absent = tuple(name for name in names if parameters[name] is None)
  support = distribution.support
  is_time = support.constraint == "nonnegative" and support.event_ndims == 0
  return type(distribution), names, absent, is_time


@functools.cache
def _class_of(
  cls: type[distribution_lib.Distribution],
  names: tuple[str, ...],
  absent: tuple[str, ...],
  is_time: bool,
) -> type[NumPyroDistribution]:
  """Makes the NumPyro class for distributions of one class.

  Args:
    cls: the class of distributions.
    names: the constructor arguments that are attributes.
    absent: the names of arguments that are None.
    is_time: whether values are times, and not counts or vectors.
  """
  properties = cls.parameter_properties()
  attributes: dict[str, object] = {
    name: numpyro_parameters.attribute(name) for name in names
  }
  attributes |= {
    "arg_constraints": {
      name: numpyro_parameters.parameter_constraint(p)
      for name, p in properties.items()
      if name not in absent
    },
    "pytree_data_fields": (),
    "may_have_rsample": is_time,
    "_made_of": (cls, names, absent, is_time),
    "__doc__": f"`{cls.__name__}` as NumPyro's.",
    "__module__": __name__,
  }
  return type(cls.__name__, (NumPyroDistribution,), attributes)


def _blank(*made_of: Any) -> NumPyroDistribution:
  """Makes an instance without attributes, which pickle fills."""
  cls = _class_of(*made_of)
  return cls.__new__(cls)


__all__ = ["wrap"]
__dir__ = late_names.lister(__name__)
