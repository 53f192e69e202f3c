"""Parameters of wrapped distributions, as NumPyro has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal.arrays import ShapeLike
from phasic.internal.arrays import Tree

if TYPE_CHECKING:
  from phasic.interop import numpyro as adapter


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
  parts = distribution._parts()
  found = {
    name: _aligned(parts[name], rank, properties.event_ndims)
    for name, properties in distribution.parameter_properties().items()
  }
  wrapped = parts.get("distribution")
  if isinstance(wrapped, distribution_lib.Distribution):
    found["distribution"] = aligned(wrapped, rank)
  if all(value is parts[name] for name, value in found.items()):
    return distribution
  return type(distribution)._unflatten({**parts, **found})


def _aligned(value: Tree, rank: int, events: int) -> Tree:
  """Adds leading dimensions of size one to the arrays of a parameter."""
  if isinstance(value, Mapping):
    found = {key: _aligned(one, rank, 0) for key, one in value.items()}
    same = all(one is value[key] for key, one in found.items())
    return value if same else found
  if structure.is_edges(value):
    array = _aligned(value.parameters, rank, 1)
    same = array is value.parameters
    return value if same else value._replace(parameters=array)
  if value is None:
    return None
  shape = static.shape(value)
  missing = rank + events - len(shape)
  return np.reshape(value, (1,) * missing + shape) if missing > 0 else value


def with_axes(
  distribution: distribution_lib.Distribution, axes: Mapping[str, Tree]
) -> distribution_lib.Distribution:
  """Replaces each array parameter by the axis along which it is mapped.

  The result is a prefix of the distribution's structure, as `in_axes` and
  `out_axes` of `jax.vmap` are.

  Args:
    distribution: the distribution that is mapped.
    axes: axes by the name of the parameter; the parameter `distribution` has a
      number for all of its arrays, or such a mapping. Those that are missing,
      or None, are not mapped.

  Raises:
    TypeError: there is no such array parameter.
  """
  parts, names = distribution._parts(), tuple(distribution._children())
  for name in axes:
    if name not in names:
      raise TypeError(
        f"{name} is not an array parameter of {type(distribution).__name__}: "
        f"axes must be given for some of {', '.join(names)}"
      )
  found = {}
  for name in names:
    axis = axes.get(name)
    if isinstance(axis, Mapping):
      axis = with_axes(parts[name], axis)
    found[name] = axis
  return type(distribution)._unflatten({**parts, **found})


def inferred_shapes(
  cls: type[distribution_lib.Distribution],
  args: Sequence[ShapeLike | None],
  kwargs: Mapping[str, ShapeLike | None],
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
  if "rewards" in properties or "distribution" in cls._children():
    raise NotImplementedError(
      f"{cls.__name__} has more in its shape than the batches of its arrays: "
      "make an instance, whose shapes are known"
    )
  names = tuple(properties)
  if len(args) > len(names):
    raise TypeError(
      f"{len(args)} shapes are given: they must be those of {', '.join(names)}"
    )
  given = dict(zip(names, args, strict=False))
  for name, shape in kwargs.items():
    if name not in names or name in given:
      raise TypeError(
        f"{name} is given: it must be one of {', '.join(names)}, and only once"
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

  Of a class they are those of its instances that can be so.
  """

  def __get__(
    self, instance: adapter.NumPyroDistribution | None, owner: type[adapter.NumPyroDistribution]
  ) -> list[str]:
    found = owner._may_have_rsample if instance is None else instance.has_rsample
    return list(owner.arg_constraints) if found else []


def attribute(name: str) -> property:
  """Makes the attribute for a constructor argument."""
  return property(
    lambda self: self.distribution.parameters[name],
    doc=f"The argument `{name}` of the wrapped distribution.",
  )
