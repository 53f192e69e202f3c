"""Storage, conversion and checks of a distribution's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import types
from typing import ClassVar, Self

import numpy as np

from phasic.distributions.base import conversions
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.base import parameter_properties as properties_lib
from phasic.distributions.base import structure
from phasic.internal import array_ops
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils
from phasic.saving import saved

MODE = "numpy"
# The options that are True or False.
_FLAGS = ("validate_args", "allow_nan_stats")
# Parameters of these types contain arrays.
_NESTED = (Mapping, *structure.EDGES)


class Parameterized(hooks.Hooks, saved.Saved):
  """The base class that stores parameters, a distribution's only state.

  Attributes:
    validate_args: whether values are checked, at some cost.
    allow_nan_stats: whether statistics may be NaN; otherwise they raise.
  """

  validate_args: bool
  allow_nan_stats: bool
  # The names of parameters that are mappings of arrays.
  _MAPPINGS: ClassVar[tuple[str, ...]] = ()
  _known_batch: ClassVar[static.Shape | None] = None
  # Whether the array parameters are known to be arrays or None, which need no
  # conversion when they are read: neither variables nor edges nor mappings.
  _has_plain_arrays: ClassVar[bool] = False
  # In JAX, results of `conversions`. `_half` is the half dtype that all
  # parameters have, "float32" if only some have half precision, None if none
  # has. `_single` is the distribution with float32 parameters.
  _half: ClassVar[str | None] = conversions.UNKNOWN
  _single: ClassVar[object] = None
  # In TensorFlow, see `adopted_dtypes`: whether no parameter states a dtype, and
  # the distribution with float32 parameters.
  _is_weak: ClassVar[bool] = False
  _in_single: ClassVar[object] = None
  # Arrays that were pickled are not read-only any more, so that what was
  # computed from them must not be kept.
  _NOT_PICKLED = structure.KEPT

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters."""
    flags = {name: parameters[name] for name in _FLAGS}
    raw_arguments.check_flags(**flags)
    raw_arguments.check_string("name", parameters["name"])
    properties = self._properties()
    parameters = properties_lib.without_sparse_matrices(parameters, properties)
    arrays = {
      name: conversions.settled(name, parameters[name]) for name in properties
    }
    for name, value in arrays.items():
      is_mapping = isinstance(value, Mapping) and name in self._MAPPINGS
      if not is_mapping:
        _check_given(name, value, properties[name])
    dtype = dtypes.common_dtype(structure.leaves(arrays))

    def stored(name: str, value: object) -> object:
      if value is None:
        return None
      if isinstance(value, Mapping):
        return {k: stored(f"{name}[{k!r}]", v) for k, v in value.items()}
      if isinstance(value, structure.EDGES):
        return structure.stored(stored, name, value)
      if structures.is_variable(value):
        return value
      return structures.as_array(value, dtype, name, copy=True)

    kept = {name: stored(name, value) for name, value in arrays.items()}
    is_plain = not any(
      x is not None and (structures.is_variable(x) or isinstance(x, _NESTED))
      for x in kept.values()
    )
    # In TensorFlow distributions are modules, whose ordinary assignment would
    # look for variables in the value.
    object.__setattr__(self, "_has_plain_arrays", is_plain)
    whole = {**parameters, **kept}
    if is_plain:
      object.__setattr__(self, "_parameters", whole)
    else:
      self._parameters: dict[str, properties_lib.ParameterValue] = whole

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    """The parameters that are arrays or structures of arrays."""
    return tuple(cls._properties())

  def _parts(self) -> Mapping[str, object]:
    return self._parameters

  @classmethod
  def _unflatten(cls, parts: Mapping[str, object]) -> Self:
    """Makes an instance with the given parameters, without checks."""
    instance = object.__new__(cls)
    instance._parameters = dict(parts)
    return instance

  @classmethod
  def _parameter_properties(cls) -> properties_lib.Properties:
    return declared.properties(cls)

  @classmethod
  @functools.cache
  def _properties(cls) -> properties_lib.Properties:
    """Returns the properties of the array parameters, by name."""
    return types.MappingProxyType(dict(cls._parameter_properties()))

  def _arrays(self) -> dict[str, properties_lib.ParameterValue]:
    """Returns the current array parameters by name; None for absent ones.

    Variables are read. In JAX half precision is converted to float32.
    """
    given = self._parameters
    if MODE == "jax":
      given = conversions.single(self)._parameters
    if self._has_plain_arrays:
      return {name: given[name] for name in self._properties()}
    return {
      name: structure.mapped(_current, name, given[name])
      for name in self._properties()
    }

  def _array_properties(self) -> properties_lib.Properties:
    """Returns the properties of the arrays of `_arrays`, by name.

    They are those of the parameters, unless one parameter is several arrays.
    """
    return self._properties()

  def _given_array(self, name: str) -> properties_lib.ParameterValue:
    """Returns one of the arrays as the constructor got it."""
    return structure.shown(self._parameters[name])

  def _graph_of(self, name: str) -> properties_lib.ParameterValue:
    """Returns the graph that has one of the arrays as its parameters."""
    del name  # A family of a graph has one.
    return self._parameters["graph"]

  def _check_values(self, validate: Callable[[], object]) -> None:
    """Raises for invalid values with `validate_args`, else warns of them.

    It is the last thing that a constructor does.

    Args:
      validate: what raises, called with `validate_args` only.
    """
    if self.validate_args:
      validate()
    else:
      single = conversions.single(self)
      properties_lib.look_at(single)
      if single._is_warned_of:
        object.__setattr__(self, "_is_warned_of", True)

  def _as_single(self) -> Self:
    """Returns the distribution with half precision converted to float32."""
    return conversions.single(self)

  def _is_surely_valid(self) -> bool:
    """Returns whether the parameters are known to be valid already."""
    return False

  def _is_plausible(
    self, known: Mapping[str, properties_lib.ParameterValue]
  ) -> bool:
    """Returns whether known values of the parameters appear to be valid."""
    return properties_lib.are_plausible(known, self._properties())

  def _value(self, value: ArrayLike) -> Array:
    """Converts and checks the value that a public method is called with."""
    value = self._converted(value)
    if self._parameters["validate_args"]:
      return self._check_value(value)
    return value

  def _at_value(
    self, method: str, compute: Callable[[Array], Array], value: ArrayLike
  ) -> Result:
    """Returns the result of a public method, which a hook computes."""
    value = self._value(value)
    return self._result(method, compute(value), value)

  def _at_argument(
    self, method: str, compute: Callable[[Array], Array], x: ArrayLike
  ) -> Result:
    """Likewise of an argument without event dimensions, see `_checked`."""
    x = self._checked(method, x)
    return self._result(method, compute(x), x)

  def _converted(self, value: ArrayLike) -> Array:
    """Converts a value; raises if its shape or dtype does not fit."""
    value = self._as_array(value, "value")
    self._check_value_shape(value)
    return value

  def _argument(self, x: ArrayLike, name: str) -> Array:
    """Converts an argument with batch dimensions and no event dimensions."""
    x = self._as_array(x, name)
    _check_broadcasts(x, name, "batch", self._batch_shape())
    return x

  def _checked(
    self,
    method: str,
    x: ArrayLike,
    name: str = "",
    rule: value_rules.ValueRule | None = None,
  ) -> Array:
    """Converts an argument of a method, and warns if it breaks its rule.

    With `validate_args` it raises instead.

    Args:
      method: the public name of the method.
      x: the argument.
      name: its name, unless `nan_table` has it.
      rule: its rule, unless `nan_table` has it.
    """
    if rule is None:
      known = method_results.known(self, method)
      name, rule = known.argument, known.rule
    x = self._argument(x, name)
    return x if rule is None else self._looked_at(method, name, x, rule)

  def _looked_at(
    self, method: str, name: str, x: Array, rule: value_rules.ValueRule
  ) -> Array:
    """Returns an argument; warns if it breaks its rule, see `_checked`."""
    if self.validate_args:
      return value_rules.check(name, x, rule.holds(x), rule.text)
    value_rules.warn(f"{type(self).__name__}.{method}", name, x, rule)
    return x

  def _as_array(self, x: ArrayLike, name: str) -> Array:
    """Converts a number or array to the distribution's dtype."""
    for own in self._properties():
      given = self._parameters[own]
      if given is not None:
        if structures.is_like(x, given):
          # `x` has the dtype of the distribution and needs no conversion.
          return x
        if isinstance(x, float) and structures.is_like(given, given):
          dtype = static.dtype_name(given)
          # A Python float is converted to any dtype. NumPy's float64 is a
          # subclass of float, and is converted only to float64.
          if type(x) is float or dtype == "float64":
            return structures.as_array(float(x), dtype, name)
        break
    leaves = structure.leaves(self._arrays())
    dtype = dtypes.common_dtype(leaves)
    if not dtypes.is_narrower(x, name, dtype):
      dtype = dtypes.common_dtype({name: x, **leaves})
    return structures.as_array(x, dtype, name)

  def _check_value_shape(self, value: Array) -> None:
    """Raises ValueError unless the value broadcasts with the batch."""
    whole = (*self._batch_shape(), *self._event_shape())
    _check_broadcasts(value, "value", "batch and event", whole)

  def _check_value(self, value: Array) -> Array:
    """Returns the value; families raise if it is outside of the support."""
    return value

  def _result(self, method: str, x: Array, value: object = None) -> Result:
    """Returns the result of a public method, after a warning if it has NaN.

    Args:
      method: the public name of the method.
      x: its result.
      value: its argument, if that broadcasts with the batch; it may be another
        distribution.
    """
    if array_utils.has_nan(x):
      method_results.warn(self, method, x, value)
    return structures.as_result(x)

  def _statistic(self, name: str, x: Array, value: object = None) -> Result:
    """Returns a statistic; raises for NaN unless `allow_nan_stats`.

    Arguments are as for `_result`.
    """
    if self.allow_nan_stats:
      return self._result(name, x, value)
    message = f"{name} is NaN, and allow_nan_stats is False"
    return structures.as_result(
      array_ops.check(np.logical_not(np.isnan(x)), message, x)
    )

  def _batch_shape(self) -> static.Shape:
    if self._known_batch is not None:
      return self._known_batch
    shape = self._found_batch()
    if all(isinstance(d, int) for d in shape):
      # In TensorFlow distributions are modules, whose ordinary assignment would
      # wrap the tuple.
      object.__setattr__(self, "_known_batch", shape)
    return shape

  def _found_batch(self) -> static.Shape:
    """Computes the batch shape from the shapes of the parameters."""
    return properties_lib.batch_shape(self._properties(), self._parameters)


def _check_given(
  name: str, value: object, prop: properties_lib.ParameterProperties
) -> None:
  """Raises TypeError for a missing value, or one that is not an array."""
  if value is None:
    if not prop.optional:
      raise TypeError(f"{name} is None: it must be an array")
    return
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
  """Returns the current value of a variable, or the array itself."""
  if structures.is_variable(value):
    return structures.as_array(value, None, name)
  return value


def _check_broadcasts(
  x: Array, name: str, what: str, whole: static.Shape
) -> None:
  """Raises ValueError unless an array broadcasts with the shape `whole`."""
  shape = static.shape(x)
  try:
    static.broadcast_shapes(shape, whole)
  except ValueError:
    raise ValueError(
      f"{name} has shape {shape}: it must broadcast with the shape of the "
      f"distribution's {what}, {whole}"
    ) from None
