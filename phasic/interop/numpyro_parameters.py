"""Constraints and parameters of wrapped distributions, as NumPyro has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import inspect
import math
from typing import Any, TypeAlias

import jax
import numpy as np
import numpy as onp
import numpyro.distributions as numpyro_distributions
from numpyro.distributions import constraints

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import samples
from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal.arrays import Array, ArrayLike, Tree
from phasic.interop import latent_times


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


class _TimesWithAtom(constraints.Constraint):
  """The support of a law that may have an atom at zero.

  It has the values of a law without an atom, but samplers get no bijector onto
  it where there is one.
  """

  def __init__(
    self,
    support: constraints.Constraint,
    distribution: distribution_lib.Distribution,
  ):
    self.support = support
    self.distribution = distribution

  def __call__(self, x: Array) -> Array:
    """Returns whether each value is in the support."""
    return self.support(x)

  def __repr__(self) -> str:
    return repr(self.support)

  def feasible_like(self, prototype: Array) -> Array:
    """Returns a value in the support with the prototype's shape and dtype."""
    return self.support.feasible_like(prototype)

  def eq(self, other: object, static: bool = False) -> ArrayLike:
    """Returns whether another constraint has the same support."""
    return isinstance(other, type(self)) and self.support.eq(
      other.support, static
    )

  def tree_flatten(self) -> tuple[object, object]:
    """Returns the children of the pytree, and their names."""
    names = ("support", "distribution")
    return (self.support, self.distribution), (names, {})


@numpyro_distributions.biject_to.register(_TimesWithAtom)
def _biject_to_times(
  constraint: _TimesWithAtom,
) -> numpyro_distributions.transforms.Transform:
  latent_times.check(constraint.distribution)
  return numpyro_distributions.biject_to(constraint.support)


def parameter_constraint(
  properties: parameter_properties.ParameterProperties,
) -> constraints.Constraint:
  """Returns NumPyro's constraint for an array parameter."""
  constraint, rank = properties.constraint, properties.event_ndims
  if constraint.numpyro == "ascending":
    return _ASCENDING
  if constraint.numpyro is not None:
    named = getattr(constraints, constraint.numpyro)
    each = rank == 0 or constraint.is_whole
    return named if each else constraints.independent(named, rank)
  return constraints.dependent(is_discrete=False, event_dim=rank)


def distribution_constraint(
  distribution: distribution_lib.Distribution,
) -> constraints.Constraint:
  """Returns NumPyro's constraint for the support of a distribution."""
  support = _support_constraint(distribution.support)
  if latent_times.may_have_atom(distribution):
    return _TimesWithAtom(support, distribution)
  return support


def _support_constraint(support: samples.Support) -> constraints.Constraint:
  """Returns NumPyro's constraint for a support."""
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


# A path in a structure of JAX.
_Path: TypeAlias = tuple[Any, ...]


def aligned(
  distribution: distribution_lib.Distribution, rank: int
) -> distribution_lib.Distribution:
  """Gives all array parameters the same number of batch dimensions.

  `vmap` and `scan` add a dimension before those of each parameter. If one
  parameter had fewer batch dimensions than another, the new dimension would
  afterwards broadcast with a wrong one.

  Args:
    distribution: the distribution; if all parameters have as many batch
      dimensions already, it is returned unchanged.
    rank: the number of batch dimensions.
  """

  def missing(path: _Path, array: Array) -> int:
    events = _event_ndims(distribution, [_name(key) for key in path])
    size = len(static.shape(array))
    return 0 if events is None else max(0, rank + events - size)

  def widened(path: _Path, array: Array) -> Array:
    ones = (1,) * missing(path, array)
    return np.reshape(array, (*ones, *static.shape(array)))

  arrays = jax.tree_util.tree_leaves_with_path(distribution)
  if not any(missing(path, array) for path, array in arrays):
    return distribution
  return jax.tree_util.tree_map_with_path(widened, distribution)


def _name(key: Any) -> str:
  """Returns the name of an attribute, or the key of a mapping."""
  return getattr(key, "name", None) or str(getattr(key, "key", key))


def _event_ndims(
  distribution: distribution_lib.Distribution, path: list[str]
) -> int | None:
  """Returns the number of event dimensions of a parameter's array.

  Args:
    distribution: the distribution.
    path: the name of the parameter, and names inside of it.

  Returns:
    None for an array that has no batch.
  """
  value = distribution.parameters[path[0]]
  if isinstance(value, distribution_lib.Distribution):
    return _event_ndims(value, path[1:])
  properties = distribution.parameter_properties().get(path[0])
  if properties is None:
    return None
  if structure.is_edges(value):
    return 1 if path[1] == "parameters" else None
  # Parameters of a graph that are given by name are scalars: they have no event
  # dimensions.
  named = isinstance(value, Mapping) or len(path) > 2
  return 0 if named else properties.event_ndims


def with_axes(
  distribution: distribution_lib.Distribution, axes: Mapping[str, Tree]
) -> distribution_lib.Distribution:
  """Replaces the arrays of each parameter by the axis along which it is mapped.

  The result is such a structure as `in_axes` and `out_axes` of `jax.vmap` are.

  Args:
    distribution: the distribution that is mapped.
    axes: axes by the name of the parameter; the parameter `distribution` has a
      number for all of its arrays, or such a mapping. Those that are missing,
      or None, are not mapped.

  Raises:
    TypeError: there is no such array parameter.
  """
  _check_names(distribution, axes)

  def axis_of(path: _Path, array: Array) -> int | None:
    axis: Tree = axes
    for key in path:
      if isinstance(axis, Mapping):
        axis = axis.get(_name(key))
    return axis

  return jax.tree_util.tree_map_with_path(axis_of, distribution)


def _check_names(
  distribution: distribution_lib.Distribution, axes: Mapping[str, Tree]
) -> None:
  """Raises TypeError if axes are given for something else than parameters."""
  names = [*distribution.parameter_properties()]
  if "distribution" in distribution.parameters:
    names.append("distribution")
  for name, axis in axes.items():
    if name not in names:
      raise TypeError(
        f"{name} is not an array parameter of {type(distribution).__name__}: "
        f"axes must be given for some of {', '.join(names)}"
      )
    if name == "distribution" and isinstance(axis, Mapping):
      _check_names(distribution.parameters["distribution"], axis)


def inferred_shapes(
  cls: type[distribution_lib.Distribution],
  args: Sequence[Sequence[int] | None],
  kwargs: Mapping[str, Sequence[int] | None],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
  """Computes the batch and event shape from shapes of array parameters.

  Args:
    cls: the class of the distribution.
    args: shapes in the order of the parameters.
    kwargs: shapes by the names of the parameters.

  Raises:
    NotImplementedError: values are vectors, or the distribution has another one
      as a parameter.
    TypeError: there are too many shapes, or one has an unknown name.
    ValueError: a shape has too few dimensions, or they do not broadcast.
  """
  properties = cls.parameter_properties()
  if (
    "rewards" in properties
    or "distribution" in inspect.signature(cls).parameters
  ):
    raise NotImplementedError(
      f"the shapes of {cls.__name__} do not follow from the shapes of its "
      "arrays alone: make an instance, and read its batch_shape and event_shape"
    )
  names = tuple(properties)
  if len(args) > len(names):
    raise TypeError(
      f"{len(args)} shapes are given: there must be at most one for each of "
      f"{', '.join(names)}"
    )
  given = dict(zip(names, args, strict=False))
  for name, shape in kwargs.items():
    if name not in names or name in given:
      raise TypeError(
        f"{name} is given by name: it must be one of {', '.join(names)}, and "
        "not given by position, too"
      )
    given[name] = shape
  batches = []
  for name, shape in given.items():
    if shape is not None:
      whole, events = tuple(shape), properties[name].event_ndims
      if len(whole) < events:
        raise ValueError(
          f"{name} has shape {whole}: it must have at least {events} dimensions"
        )
      batches.append(whole[: len(whole) - events])
  return static.broadcast_shapes(*batches), ()


class ReparametrizedParams:
  """Lists the parameters in which samples are differentiable.

  For a class it lists those in which samples of some instances are.
  """

  def __get__(self, instance: Any | None, owner: Any) -> list[str]:
    has_any = (
      owner.may_have_rsample if instance is None else instance.has_rsample
    )
    return list(owner.arg_constraints) if has_any else []


def attribute(name: str) -> property:
  """Makes the property that returns a constructor argument."""
  return property(
    lambda self: self.distribution.parameters[name],
    doc=f"The argument `{name}` of the wrapped distribution.",
  )
