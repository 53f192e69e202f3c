"""Distributions with parameters of half precision, in JAX.

Such a distribution keeps its arrays as they are given, so that leaves, copies,
slices and gradients have their dtype. A public method is called for the same
distribution with float32 arrays, see `halves`. Here nothing happens in NumPy and
TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import types
from typing import Any, TypeVar

from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.internal import halves
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array

MODE = "numpy"
# Stands for what is not known yet.
UNKNOWN = "unknown"
_WITHIN = "distribution"
# The fields of edges that have half precision.
_WEIGHTS = ("parameters", "coefficients", "constants")
_MASSES = ("probabilities", "subprobabilities")
# Public attributes that are no results: what users gave, or parts of it.
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
  )
)


_T = TypeVar("_T")


def adapt(cls: type) -> None:
  """Gives the constructor and public methods of a class the rule, in JAX."""
  if MODE == "jax":
    for name, x in list(vars(cls).items()):
      if name == "_keep":
        setattr(cls, name, _keeping(x))
      elif not name.startswith("_") and name not in _AS_GIVEN:
        setattr(cls, name, _public(name, x))


def _public(name: str, x: Any) -> Any:
  """Returns a public attribute of a class, methods with the rule."""
  if isinstance(x, types.FunctionType):
    return _lifted(x)
  if isinstance(x, property) and x.fget is not None:
    return property(_shown(name, x.fget), doc=x.__doc__)
  return x


def half_of(distribution: Any) -> str | None:
  """Returns the half dtype of all parameters, or None if there is none."""
  if MODE == "jax":
    half = _find(distribution)
    return half if half in halves.EPS else None
  else:
    return None


def kept_by_slices(distribution: Any) -> dict[str, Any]:
  """Returns the parameters with current values of variables, to be sliced."""
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
    own: Any = distribution
    if _find(own) is None:
      return distribution
    if own._single is not None:
      return own._single
    properties = own._properties()
    parameters = dict(own._parameters)
    parameters.update(_singles(properties, parameters))
    if _WITHIN in parameters:
      parameters[_WITHIN] = halves.as_single(parameters[_WITHIN])
    found = type(own)._unflatten(parameters)
    object.__setattr__(found, "_half", None)
    object.__setattr__(found, "_is_warned_of", own._is_warned_of)
    leaves = structure.leaves({name: parameters[name] for name in properties})
    within = parameters.get(_WITHIN)
    given = own._parameters.get(_WITHIN)
    is_kept = given is None or within is given or within is given._single
    if is_kept and structures.are_lasting(leaves.values()):
      object.__setattr__(distribution, "_single", found)
    return found
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
  found = {
    name: _mapped(halves.as_single, parameters[name]) for name in properties
  }
  for name, prop in properties.items():
    half = halves.dtype_name(parameters[name])
    if half in halves.EPS and prop.constraint.name in _MASSES:
      atom = found.get(prop.constraint.beside)
      if atom is not None:
        atom = structures.as_array(atom, "float32", prop.constraint.beside)
      if static.rank(found[name]) > 0:
        total = halves.divisor(found[name], atom, half)
        found[name] = found[name] / total[..., None]
        if atom is not None:
          found[prop.constraint.beside] = atom / total
  return found


def _mapped(convert: Callable[[Any], Any], value: Any) -> Any:
  """Applies a function to arrays of a parameter, also in lists and edges."""
  if structure.is_edges(value):
    weights = {
      name: halves.mapped(convert, getattr(value, name)) for name in _WEIGHTS
    }
    return value._replace(**weights)
  return halves.mapped(convert, value)


def _adopted(x: Any, half: str, name: str, constraint: str) -> Any:
  """Returns a parameter with all of its numbers in a half dtype."""
  found = _mapped(functools.partial(halves.adopted, half=half, name=name), x)
  if constraint in _MASSES and isinstance(found, (list, tuple)):
    # Masses are divided by their sum, as an array.
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
    within = {_WITHIN: halves.as_single(parameters.get(_WITHIN))}
    within = within if _WITHIN in parameters else {}
    keep(self, {**parameters, **_singles(properties, given), **within})
    if half is None:
      return None
    # Masses were divided by their sum: the given ones are stored.
    stored = {
      name: given[name]
      if prop.constraint.name in _MASSES
      else _mapped(
        functools.partial(halves.as_half, half=half), self._parameters[name]
      )
      for name, prop in properties.items()
    }
    if within:
      stored[_WITHIN] = parameters[_WITHIN]
    self._parameters.update(stored)
    object.__setattr__(self, "_half", half)
    return None

  return method


def _lifted(function: Callable[..., Any]) -> Callable[..., Any]:
  """Returns a public method with the rule of half precision."""
  name = function.__name__
  takes_distribution = name in ("cross_entropy", "kl_divergence")

  @functools.wraps(function)
  def method(self: Any, *args: Any, **kwargs: Any) -> Any:
    half = self._half
    if half is None and not takes_distribution:
      return function(self, *args, **kwargs)
    if half is UNKNOWN:
      half = _find(self)
    others = (args, kwargs)
    if half is None and not (
      takes_distribution and halves.are_among((*args, *kwargs.values()))
    ):
      return function(self, *args, **kwargs)
    common = halves.common(others, half) if half in halves.EPS else None
    if name == "sample_and_log_prob" and common is not None:
      # The density is that of the rounded sample, which is returned.
      x = self.sample(*args, **kwargs)
      return x, self.log_prob(x)
    args, kwargs = halves.mapped(halves.as_single, others)
    return halves.result(function(single(self), *args, **kwargs), common)

  return method


def _shown(
  name: str, function: Callable[..., Any]
) -> Callable[..., Array | None]:
  """Returns the function of a property with the rule of half precision."""
  lifted = _lifted(function)

  @functools.wraps(function)
  def shown(self: Any) -> Any:
    if self._half is None or _find(self) is None:
      return function(self)
    given = self._parameters.get(name)
    return lifted(self) if given is None else structure.shown(given)

  return shown
