"""The base class of all distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import types
from typing import Any, NoReturn, Self

import numpy as np
import numpy as onp

from phasic.distributions.base import constraint_checks
from phasic.distributions.base import declared
from phasic.distributions.base import divergences
from phasic.distributions.base import fallbacks
from phasic.distributions.base import hazards
from phasic.distributions.base import inferring
from phasic.distributions.base import known_values
from phasic.distributions.base import parameter_properties as properties_lib
from phasic.distributions.base import quantiles
from phasic.distributions.base import reparameterization
from phasic.distributions.base import representation
from phasic.distributions.base import sampling
from phasic.distributions.base import slicing
from phasic.distributions.base import statistics
from phasic.distributions.base import structure
from phasic.distributions.base import supports
from phasic.distributions.base import transforms
from phasic.internal import checks
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result


class Distribution(
  fallbacks.Fallbacks,
  sampling.Sampling,
  statistics.SummaryStatistics,
  hazards.Hazards,
  quantiles.Quantiles,
  transforms.Transforms,
  divergences.Divergences,
  supports.Supports,
  inferring.Inferring,
):
  """A distribution with the contract of TensorFlow Probability.

  A public method converts its argument, checks it where `validate_args` is
  True, and calls the method of the same name with an underscore, which a
  subclass has. Missing ones are made from each other (see `Fallbacks`), or
  raise NotImplementedError with a reason. In NumPy a result without dimensions
  is a scalar, np.float64 or np.float32, as that of NumPy's own functions is.

  A subclass passes its constructor's arguments, all of them, to `__init__`
  here; they are its only state. It declares them in its body, see `declared`,
  and has the constructor by that; or it has one of its own, and says which are
  arrays, and of what kind, by the class method `_parameter_properties`.

  References:
    J. V. Dillon et al., TensorFlow Distributions, arXiv:1711.10604, 2017.
  """

  validate_args: bool = declared.option(
    "whether values are checked, at some cost.", default=False, kw_only=True
  )
  allow_nan_stats: bool = declared.option(
    "whether statistics may be NaN; otherwise they raise.",
    default=True,
    kw_only=True,
  )
  name: str = declared.option(
    "the distribution's name.", default="", kw_only=True
  )

  def __init_subclass__(cls, **kwargs: object) -> None:
    """Completes a family from its declarations."""
    super().__init_subclass__(**kwargs)
    declared.complete(cls)

  def __init__(self, parameters: Mapping[str, object]):
    """Stores the parameters, the arrays among them in their common dtype.

    Args:
      parameters: every argument of the subclass's constructor, by name,
        `validate_args`, `allow_nan_stats` and `name` among them. Variables
        are kept and read at each use.

    Raises:
      TypeError: dtypes differ, or are complex, bool or half precision, an
        array that must be given is None, or an option has a wrong type.
      ValueError: an array has an empty batch.
    """
    self._keep(parameters)

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters."""
    constraint_checks.check_options(parameters)
    properties = self.parameter_properties()
    arrays = {name: parameters[name] for name in properties}
    for name, value in arrays.items():
      _check_given(name, value, properties[name])
    dtype = dtypes.common_dtype(representation.leaves(arrays))

    def stored(name: str, value: object) -> object:
      if isinstance(value, Mapping):
        return {k: stored(f"{name}[{k!r}]", v) for k, v in value.items()}
      if isinstance(value, structure.EDGES):
        return structure.stored(stored, name, value)
      if value is None or structures.is_variable(value):
        return value
      return structures.as_array(value, dtype, name, copy=True)

    kept = {name: stored(name, value) for name, value in arrays.items()}
    properties_lib.check_batches(properties, kept)
    self._parameters: dict[str, Any] = {**parameters, **kept}

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    """The parameters that are arrays or structures of arrays."""
    return tuple(cls.parameter_properties())

  def _parts(self) -> Mapping[str, object]:
    return self._parameters

  @classmethod
  def _unflatten(cls, parts: Mapping[str, object]) -> Self:
    """Builds an instance of any parameters, without looking at them."""
    instance = object.__new__(cls)
    instance._parameters = dict(parts)
    return instance

  @classmethod
  def _parameter_properties(cls) -> properties_lib.Properties:
    found = declared.properties(cls)
    if found is None:
      raise NotImplementedError(
        f"{cls.__name__} does not say what its parameters are: declare them in "
        "its body, or define the class method _parameter_properties, which "
        "returns the properties of those that are arrays, by name"
      )
    return found

  @classmethod
  @functools.cache
  def parameter_properties(cls) -> properties_lib.Properties:
    """Returns the properties of the array parameters, by name."""
    return types.MappingProxyType(dict(cls._parameter_properties()))

  @property
  def parameters(self) -> dict[str, Any]:
    """The constructor's arguments, by name."""
    return dict(self._parameters)

  @property
  def dtype(self) -> str:
    """The name of the dtype of parameters, values and results."""
    return dtypes.common_dtype(representation.leaves(self._arrays()))

  @property
  def reparameterization_type(
    self,
  ) -> reparameterization.ReparameterizationType:
    """Whether samples can be differentiated in the parameters."""
    return reparameterization.NOT_REPARAMETERIZED

  @property
  def batch_shape(self) -> tuple[int | None, ...]:
    """The batch shape; None for a size that is not known statically."""
    shape = self._batch_shape()
    return tuple(d if isinstance(d, int) else None for d in shape)

  @property
  def event_shape(self) -> tuple[int | None, ...]:
    """The shape of one value; None for a size not known statically."""
    shape = self._event_shape()
    return tuple(d if isinstance(d, int) else None for d in shape)

  def batch_shape_tensor(self) -> Array:
    """Returns the batch shape as an integer array."""
    return _shape_array(self._batch_shape())

  def event_shape_tensor(self) -> Array:
    """Returns the shape of one value as an integer array."""
    return _shape_array(self._event_shape())

  def copy(self, **overrides: Any) -> Self:
    """Returns a distribution with some of the parameters replaced.

    Args:
      **overrides: constructor arguments.
    """
    return type(self)(**{**self._parameters, **overrides})

  def __getitem__(self, index: slicing.Index) -> Self:
    """Returns the distribution with a part of the batch."""
    return self._sliced(index)

  def _sliced(
    self, index: slicing.Index, batch: static.Shape | None = None
  ) -> Self:
    """Returns a part of the batch, or of one that it broadcasts to."""
    sliced = slicing.slice_parameters(
      self.parameter_properties(),
      {**self._parameters, **self._arrays()},
      index,
      batch,
    )
    return self.copy(**sliced)

  def __iter__(self) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is not iterable: index its batch")

  def __repr__(self) -> str:
    return representation.text_of(self, self._parameters)

  def _arrays(self) -> dict[str, Any]:
    """Array parameters by name, as they are now; None where not given.

    Variables are read; with validate_args values are checked.
    """
    found = {}
    for name in self.parameter_properties():
      value = self._parameters[name]
      if isinstance(value, structure.EDGES):
        value = structure.mapped(_current, name, value)
      elif structures.is_variable(value):
        value = structures.as_array(value, None, name)
      found[name] = value
    return found

  def _check_values(self, validate: Callable[[], object]) -> None:
    """Raises for values that break a rule, or warns of those that are known.

    It is the last thing that a constructor does.

    Args:
      validate: what raises, called with `validate_args` only.
    """
    if self.validate_args:
      validate()
    else:
      known_values.look_at(self)

  def _is_plausible(self, known: Mapping[str, Any]) -> bool:
    """Returns whether the host values of the parameters seem valid."""
    return known_values.are_plausible(known, self.parameter_properties())

  def _value(self, value: ArrayLike) -> Array:
    """Converts and checks the argument of a public method."""
    value = self._converted(value)
    return self._check_value(value) if self.validate_args else value

  def _converted(self, value: ArrayLike) -> Array:
    """Converts a value; raises where its shape or dtype does not fit."""
    value = self._as_array(value, "value")
    self._check_value_shape(value)
    return checks.check_not_empty(value, "value")

  def _argument(self, x: ArrayLike, name: str) -> Array:
    """Converts an array that belongs to no event; raises as `_converted`."""
    x = self._as_array(x, name)
    _check_broadcasts(x, name, "batch", self._batch_shape())
    return checks.check_not_empty(x, name)

  def _as_array(self, x: ArrayLike, name: str) -> Array:
    """Converts to an array of the distribution's dtype."""
    leaves = representation.leaves(self._arrays())
    dtype = dtypes.common_dtype({name: x, **leaves})
    return structures.as_array(x, dtype, name)

  def _check_value_shape(self, value: Array) -> None:
    """Raises ValueError unless the value broadcasts with the batch."""
    whole = (*self._batch_shape(), *self._event_shape())
    _check_broadcasts(value, "value", "batch and event", whole)

  def _check_value(self, value: Array) -> Array:
    """Returns the value, checked to be in the support."""
    return value

  def _statistic(self, name: str, x: Array) -> Result:
    """Returns a statistic, checked for NaN unless `allow_nan_stats`."""
    if self.allow_nan_stats:
      return structures.as_result(x)
    message = f"{name} is NaN, and allow_nan_stats is False"
    return structures.as_result(
      checks.check(np.logical_not(np.isnan(x)), message, x)
    )

  def _batch_shape(self) -> static.Shape:
    return properties_lib.batch_shape(
      self.parameter_properties(), self._parameters
    )

  def _event_shape(self) -> static.Shape:
    return ()


declared.complete(Distribution)


def _check_given(
  name: str, value: object, prop: properties_lib.ParameterProperties
) -> None:
  """Raises TypeError for None, and for what must not stand for an array."""
  if value is None and not prop.optional:
    raise TypeError(f"{name} is None: it must be an array")
  if isinstance(value, Mapping) and not prop.constraint.is_of_graph:
    raise TypeError(f"{name} is {type(value).__name__}: it must be an array")
  edges = prop.constraint.edges
  if isinstance(value, structure.EDGES) and not (
    edges and isinstance(value, edges)
  ):
    other = f" or {edges.__name__}" if edges else ""
    raise TypeError(
      f"{name} is {type(value).__name__}: it must be an array{other}"
    )


def _current(name: str, value: object) -> object:
  """Returns an array parameter as it is now."""
  if structures.is_variable(value):
    return structures.as_array(value, None, name)
  return value


def _shape_array(shape: static.Shape) -> Array:
  if all(isinstance(d, int) for d in shape):
    return structures.cast(onp.asarray(shape, onp.int32), "int32")
  return np.stack([structures.cast(d, "int32") for d in shape])


def _check_broadcasts(
  x: Array, name: str, what: str, whole: static.Shape
) -> None:
  """Raises ValueError unless an array broadcasts with a shape."""
  shape = static.shape(x)
  try:
    static.broadcast_shapes(shape, whole)
  except ValueError:
    raise ValueError(
      f"{name} has shape {shape}: it must broadcast with the shape of the "
      f"distribution's {what}, {whole}"
    ) from None
