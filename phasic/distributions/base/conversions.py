"""Conversions of given parameters: deferred arrays, and half precision.

Deferred arrays of TensorFlow Probability are computed when they are used:
`tfp.util.DeferredTensor` is a function of an array, and
`tfp.util.TransformedVariable` one of a variable. TensorFlow's distributions keep
them, see `structures.is_variable`. Here are the rules for NumPy and JAX, which
have no variables, and for Keras's variables. The classes are recognized by their
attributes, so that TensorFlow Probability and Keras are not imported.

In JAX a distribution with parameters of half precision keeps its arrays as they
are given, so that leaves, copies, slices and gradients have their dtype.
`halves.call` calls a public method for the same distribution with float32
arrays: inside, `dtype` and all properties are single precision. It stands around
each public method, as the dtype of a result depends on all arguments together.
NumPy and TensorFlow refuse half precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import types
from typing import Any, TypeVar

from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import halves
from phasic.internal import structures
from phasic.internal import user_warnings

MODE = "numpy"


def settled(name: str, value: ParameterValue) -> ParameterValue:
  """Replaces deferred arrays by their values, in NumPy and JAX.

  In TensorFlow they are kept, and variables of Keras are replaced by the
  `tf.Variable` that each of them holds.

  Args:
    name: the parameter's name.
    value: an array, a mapping of arrays or edges.

  Raises:
    TypeError: a deferred array depends on a variable, whose later changes would
      be ignored.
  """
  if isinstance(value, Mapping):
    return {k: settled(f"{name}[{k!r}]", x) for k, x in value.items()}
  if structure.is_edges(value):
    arrays = value._asdict().items()
    return value._replace(**{k: settled(f"{name}.{k}", x) for k, x in arrays})
  return _value_of(name, value)


def warn_of_variables(what: str, *given: object) -> None:
  """Warns if only the current values of variables are used, without later ones.

  In a gradient tape and in a `tf.function` variables are followed.

  Args:
    what: what takes them, for the message.
    *given: distributions, or arrays.
  """
  if user_warnings.is_derived():
    return
  if any(structures.freezes_variables(x) for x in given):
    user_warnings.warn(
      f"{what} takes the current values of variables: the result does not follow "
      "their changes, and has no derivatives in them; make it where it is used, "
      "in the tape or the tf.function"
    )


def _value_of(name: str, x: ParameterValue) -> ParameterValue:
  """Returns what `settled` puts in the place of an array."""
  if MODE == "tf":
    # Keras can give a variable another value within a scope. There `value` is a
    # tensor, and `x` is returned: its conversion gives the other value.
    inner = getattr(x, "value", None)
    return inner if structures.is_variable(inner) else x
  else:
    if not _is_deferred(x):
      return x
    if _may_change(x):
      raise TypeError(
        f"{name} is a {type(x).__name__}, which is computed from a variable: "
        "distributions of NumPy and JAX hold values, and would ignore later "
        "changes of the variable; pass the current value, variable[...], or "
        "make the distribution in the function that you differentiate, from "
        "bijector.forward(x) of its argument x"
      )
    # Indexing with `...` computes the value, also of a traced array.
    return x[...]


def _is_deferred(x: object) -> bool:
  return hasattr(type(x), "pretransformed_input")


def _may_change(x: ParameterValue) -> bool:
  """Returns whether an array is a variable, or is computed from one."""
  if hasattr(x, "assign"):
    return True
  if not _is_deferred(x):
    return False
  return x.also_track is not None or _may_change(x.pretransformed_input)


# The value of `_half` before the dtypes of the parameters are looked at.
UNKNOWN = "unknown"
_WITHIN = "distribution"
# The fields of edges that hold floating numbers and may have half precision.
_WEIGHTS = ("parameters", "coefficients", "constants")
_MASSES = ("probabilities", "subprobabilities")
# Public attributes that `adapt` leaves as they are. They return what users
# gave, or parts of it, or they call methods that `adapt` has wrapped.
_AS_GIVEN = frozenset(
  (
    "batch_shape",
    "boundaries",
    "copy",
    "distribution",
    "dtype",
    "event_shape",
    "graph",
    "graphs",
    "num_epochs",
    "num_phases",
    "num_rewards",
    "parameters",
    "params",
    "sample_and_log_prob",
  )
)
# Methods whose argument may be a distribution of half precision.
_OF_TWO = ("cross_entropy", "kl_divergence")

_T = TypeVar("_T")


def adapt(cls: type) -> None:
  """In JAX, lets the constructor and public methods take half precision."""
  if MODE == "jax":
    for name, x in list(vars(cls).items()):
      if name == "_keep":
        setattr(cls, name, _keeping(x))
      elif name.startswith("_") or name in _AS_GIVEN:
        continue
      elif _is_function(x):
        setattr(cls, name, _lifted(name, x))
      elif isinstance(x, property) and x.fget is not None:
        setattr(cls, name, property(_shown(name, x.fget), doc=x.__doc__))


def _is_function(x: object) -> bool:
  return isinstance(x, types.FunctionType)


def half_of(distribution: Any) -> str | None:
  """Returns the half dtype that all parameters have; None if there is none."""
  if MODE == "jax":
    half = _find(distribution)
    return half if half in halves.EPS else None
  else:
    return None


def kept_by_slices(distribution: Any) -> dict[str, Any]:
  """Returns the parameters to slice, with the current values of variables."""
  given = distribution._parameters
  if MODE == "jax":
    is_half = _find(distribution) is not None
    return given if is_half else {**given, **distribution._arrays()}
  else:
    return {**given, **distribution._arrays()}


def single(distribution: _T) -> _T:
  """Returns a distribution with half precision converted to float32.

  Masses that sum to one but for the rounding of their half dtype are divided by
  their sum. In NumPy and TensorFlow the result is the distribution itself.
  """
  if MODE == "jax":
    given: Any = distribution
    if _find(given) is None:
      return distribution
    if given._single is not None:
      return given._single
    properties = given._properties()
    singles = _singles(properties, given._parameters)
    parameters = {**given._parameters, **singles}
    within = given._parameters.get(_WITHIN)
    if within is not None:
      parameters[_WITHIN] = halves.as_single(within)
    converted = type(given)._unflatten(parameters)
    object.__setattr__(converted, "_half", None)
    object.__setattr__(converted, "_is_warned_of", given._is_warned_of)
    leaves = structure.leaves({name: parameters[name] for name in properties})
    inner = parameters.get(_WITHIN)
    is_kept = within is None or inner is within or inner is within._single
    if is_kept and structures.are_lasting(leaves.values()):
      object.__setattr__(distribution, "_single", converted)
    return converted
  else:
    return distribution


def _find(distribution: Any) -> str | None:
  """Returns the value of `_half`, see `Parameterized`."""
  if distribution._half is UNKNOWN:
    parameters = distribution._parameters
    arrays = {name: parameters[name] for name in distribution._properties()}
    found = {halves.dtype_name(x) for x in structure.leaves(arrays).values()}
    if _WITHIN in parameters:
      within = parameters[_WITHIN]
      is_known = hasattr(type(within), "_as_single")
      found.add(_find(within) or "" if is_known else None)
    found.discard(None)
    half = None
    if not found.isdisjoint(halves.EPS):
      half = found.pop() if len(found) == 1 else "float32"
    object.__setattr__(distribution, "_half", half)
  return distribution._half


def _singles(
  properties: parameter_properties.Properties, parameters: Mapping[str, Any]
) -> dict[str, Any]:
  """Converts the array parameters to float32; masses are divided by sums."""
  converted = {
    name: mapped(halves.as_single, parameters[name]) for name in properties
  }
  for name, prop in properties.items():
    if prop.constraint.name in _MASSES:
      half = halves.dtype_name(parameters[name])
      halves.divide_masses(converted, name, prop.constraint.beside, half)
  return converted


def mapped(convert: Callable[[Any], Any], value: Any) -> Any:
  """Applies a function to arrays of a parameter, also in lists and edges."""
  if structure.is_edges(value):
    weights = {
      name: halves.mapped(convert, getattr(value, name)) for name in _WEIGHTS
    }
    return value._replace(**weights)
  return halves.mapped(convert, value)


def _adopted(x: Any, half: str, name: str, constraint: str) -> Any:
  """Returns a parameter with all of its numbers in a half dtype."""
  found = mapped(functools.partial(halves.adopted, half=half, name=name), x)
  if constraint in _MASSES and isinstance(found, (list, tuple)):
    # Masses are divided by their sum, which takes an array instead of a list.
    return structures.cast(structures.as_array(found, "float32", name), half)
  return found


def _keeping(keep: Callable[..., None]) -> Callable[..., None]:
  """Returns a method that stores parameters, given one for float32."""

  @functools.wraps(keep)
  def method(self: Any, parameters: Mapping[str, Any]) -> None:
    if not halves.are_among(parameters.values()):
      return keep(self, parameters)
    properties = type(self)._properties()
    given = {name: parameters.get(name) for name in properties}
    half = halves.common([*given.values(), parameters.get(_WITHIN)])
    if half is not None:
      given = {
        name: _adopted(x, half, name, properties[name].constraint.name)
        for name, x in given.items()
      }
    within = {k: x for k, x in parameters.items() if k == _WITHIN}
    singles = _singles(properties, given) | halves.mapped(
      halves.as_single, within
    )
    keep(self, {**parameters, **singles})
    if half is not None:
      as_half = functools.partial(halves.as_half, half=half)
      # `keep` got masses that were divided by their sum. The masses are stored
      # as they were given.
      stored = {
        name: given[name]
        if prop.constraint.name in _MASSES
        else mapped(as_half, self._parameters[name])
        for name, prop in properties.items()
      }
      self._parameters.update({**stored, **within})
      object.__setattr__(self, "_half", half)
    return None

  return method


def _lifted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
  """Returns a public method with the rule of half precision."""
  takes_other = name in _OF_TWO

  @functools.wraps(function)
  def method(self: Any, *args: Any, **kwargs: Any) -> Any:
    is_usual = self._half is None or _find(self) is None
    if is_usual and not (
      takes_other and halves.are_among((*args, *kwargs.values()))
    ):
      return function(self, *args, **kwargs)
    return halves.call(function, self, *args, **kwargs)

  return method


def _shown(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
  """Returns the function of a property with the rule of half precision."""

  @functools.wraps(function)
  def shown(self: Any) -> Any:
    if self._half is None or _find(self) is None:
      return function(self)
    given = self._parameters.get(name)
    if given is not None:
      return structure.shown(given)
    return halves.call(function, self)

  return shown
