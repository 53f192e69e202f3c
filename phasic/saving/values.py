"""Values of all kinds in JSON: numbers, arrays, containers, phasic's objects.

Numbers, strings, booleans, None and lists are themselves; tuples become lists.
All else is an object with the key "class": "array", "float" of a number that is
not finite, "mapping", or the name of a class of `_CLASSES` with its parts. No
other class is looked up, so that a text names no code.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as onp

from phasic.internal import late_names
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.saving import arrays
from phasic.saving import texts

# The public classes that JSON may hold, by their packages.
_CLASSES = {
  "distributions": (
    *("AcyclicPhaseType", "Coxian", "DiscretePhaseType", "Epochs"),
    *("Equilibrium", "Erlang", "GeometricMixture", "GraphDiscretePhaseType"),
    *("GraphMultivariatePhaseType", "GraphPhaseType", "HyperErlang"),
    *("Hyperexponential", "Hypoexponential", "MatrixGompertz"),
    *("MatrixLogLogistic", "MatrixLogNormal", "MatrixPareto", "MatrixWeibull"),
    *("MultivariateEpochs", "MultivariatePhaseType"),
    *("NegativeBinomialFailures", "NegativeBinomialTrials", "PhaseType"),
    *("ResidualLife", "Shifted", "TruncatedPhaseType", "ZeroInflated"),
  ),
  "graphs": ("Graph",),
  "inference": ("Fit", "Observations", "Record"),
  "math": ("EdgeProbs", "EdgeRates"),
}
_PACKAGES = {
  name: package for package, names in _CLASSES.items() for name in names
}
# Objects within objects, such as a truncation of a mixture. Deeper ones would
# take long to check.
_DEEPEST = 16
# What constructors raise for parts of a wrong type, shape or value.
_BAD_PARTS = (NotImplementedError, OverflowError, TypeError, ValueError)
_PLAIN = frozenset((bool, float, int, str, type(None)))


def encode(x: object, path: str, depth: int = 0) -> object:
  """Returns a value as JSON has it.

  Args:
    x: the value.
    path: where it is, for the messages.
    depth: the number of objects around it.

  Raises:
    TypeError: JSON cannot hold it, e.g. a function.
    ValueError: an array is traced, or objects are nested too deeply.
  """
  if x is None or isinstance(x, (bool, str)):
    return x
  if isinstance(x, onp.bool_):
    return bool(x)
  if isinstance(x, (int, onp.integer)):
    return int(x)
  if isinstance(x, float):  # NumPy's float64 among them.
    number = float(x)
    is_finite = math.isfinite(number)
    return number if is_finite else {"class": "float", "value": repr(number)}
  if hasattr(type(x), "_from_saved_parts"):
    return encode_object(x, path, depth)
  if isinstance(x, (list, tuple)):
    return [encode(item, f"{path}[{i}]", depth) for i, item in enumerate(x)]
  if isinstance(x, Mapping):
    for key in x:
      raw_arguments.check_string(f"a key of {path}", key)
    items = {k: encode(y, f"{path}[{k!r}]", depth) for k, y in x.items()}
    return {"class": "mapping", "items": items}
  if hasattr(x, "__array__") or structures.is_variable(x):
    return arrays.encode(x, path)
  what = "a function" if callable(x) else f"of type {type(x).__name__}"
  raise TypeError(
    f"{path} is {raw_arguments.shown(x)}, {what}: JSON cannot hold it; pass "
    "arrays of its values"
  )


def encode_object(x: Any, path: str, depth: int = 0) -> dict[str, object]:
  """Returns an object of phasic by the name of its class and its parts.

  Errors are those of `encode`.
  """
  name = type(x).__name__
  if name not in _PACKAGES or _class(name) is not type(x):
    raise TypeError(
      f"{path} is of class {type(x).__module__}.{name}: JSON holds only phasic's "
      "own classes, as methods of others are Python functions; save what it was "
      "made of"
    )
  _check_depth(depth, path)
  parts = x._saved_parts()
  if not _has_plain_parts(type(x)):
    parts = {k: encode(y, f"{path}.{k}", depth + 1) for k, y in parts.items()}
  return {"class": name, "parameters": parts}


def decode(data: object, path: str, depth: int = 0) -> Any:
  """Returns the value that `encode` wrote.

  Args:
    data: what JSON has.
    path: where it is, for the messages.
    depth: the number of objects around it.

  Raises:
    ValueError: it breaks a rule; the message says where.
  """
  if isinstance(data, list):
    if _PLAIN.issuperset(map(type, data)):
      return data
    return [decode(x, f"{path}[{i}]", depth) for i, x in enumerate(data)]
  if not isinstance(data, dict):
    return data
  if data.get("class") == "array":
    return arrays.decode(data, path)
  if data.get("class") == "float":
    texts.check_keys(data, ("class", "value"), path)
    name = data["value"]
    if not isinstance(name, str) or name not in arrays.NOT_FINITE:
      raise ValueError(
        f"{path}.value is {raw_arguments.shown(name)}: it must be 'inf', '-inf' "
        "or 'nan'"
      )
    return arrays.NOT_FINITE[name]
  if data.get("class") == "mapping":
    texts.check_keys(data, ("class", "items"), path)
    items = check_object(data["items"], f"{path}.items")
    return {k: decode(x, f"{path}[{k!r}]", depth) for k, x in items.items()}
  return decode_object(data, path, depth)


def decode_object(data: dict[str, object], path: str, depth: int = 0) -> Any:
  """Returns the object of phasic that `encode_object` wrote.

  Errors are those of `decode`.
  """
  cls = class_of(data, path)
  _check_depth(depth, path)
  texts.check_keys(data, ("class", "parameters"), path)
  parts = check_object(data["parameters"], f"{path}.parameters")
  if not _has_plain_parts(cls):
    parts = {k: decode(x, f"{path}.{k}", depth + 1) for k, x in parts.items()}
  try:
    return cls._from_saved_parts(parts)
  except _BAD_PARTS as error:
    raise ValueError(f"{path}: {error}") from None


def class_of(data: dict[str, object], path: str) -> Any:
  """Returns the class that an object names.

  Raises:
    ValueError: it is none of phasic's.
  """
  name = data.get("class")
  if not isinstance(name, str) or name not in _PACKAGES:
    raise ValueError(
      f"{path}: class is {raw_arguments.shown(name)}: it must be one of "
      f"{', '.join(_PACKAGES)}"
    )
  return _class(name)


def _class(name: str) -> Any:
  # The classes are in rooms above this one.
  packages = __package__.rpartition(".")[0]
  return late_names.attribute(f"{packages}.{_PACKAGES[name]}", name)


def _has_plain_parts(cls: type) -> bool:
  """Returns whether the parts of a class are values of JSON already."""
  return getattr(cls, "_SAVES_PLAIN_PARTS", False)


def check_object(x: object, name: str) -> dict[str, object]:
  """Returns a value that must be an object of JSON."""
  if not isinstance(x, dict):
    raise ValueError(f"{name} is {texts.kind_of(x)}: it must be an object")
  return x


def _check_depth(depth: int, path: str) -> None:
  if depth >= _DEEPEST:
    raise ValueError(
      f"{path} is nested too deeply: there must be at most {_DEEPEST} objects "
      "within each other"
    )
