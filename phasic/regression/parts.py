"""Parts of distributions that effects change, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy as onp

from phasic import distributions
from phasic.internal import static
from phasic.internal.arrays import Array

# Parameters of distributions that hold the initial probabilities of phases or
# the shares of a mixture.
_SHARES = ("initial_probs", "mixture_probs")
# Constraints of parameters that effects act on by logarithms, and by log odds.
_LOG = ("positive", "nonnegative", "parameters")
_LOGIT = ("probability", "positive probability")


def split_name(name: str) -> tuple[str, int | None]:
  """Splits the name of an entry, "rates[1]", into parameter and index.

  The index is None for a whole parameter, and for a parameter of a graph.
  """
  path, bracket, rest = name.partition("[")
  if bracket and rest.endswith("]") and rest[:-1].isdigit():
    return path, int(rest[:-1])
  return name, None


def owner_of(
  dist: distributions.Distribution, path: str
) -> distributions.Distribution | None:
  """Returns the distribution, perhaps a wrapped one, that has a parameter."""
  while True:
    parameters = dist.parameters
    if path != "distribution" and path in parameters:
      return dist
    if path in _graph_parameters(parameters):
      return dist
    inner = parameters.get("distribution")
    if not isinstance(inner, distributions.Distribution):
      return None
    dist = inner


def link_of(dist: distributions.Distribution, name: str) -> str:
  """Returns by which link an effect acts on a parameter: "log" or "logit".

  Raises:
    ValueError: there is no such parameter, or effects cannot act on it.
  """
  path, index = split_name(name)
  owner = owner_of(dist, path)
  if owner is None:
    raise ValueError(
      f"params has {name!r}: {type(dist).__name__} has no parameter of that name; "
      f"it has {', '.join(_names(dist))}"
    )
  if path in _graph_parameters(owner.parameters):
    return "log"
  properties = owner.parameter_properties()
  constraint = properties[path].constraint if path in properties else None
  value = owner.parameters[path]
  rank = 0 if value is None else len(static.shape(value))
  if index is not None and not (rank == 1 and index < static.shape(value)[0]):
    raise ValueError(
      f"params has {name!r}: {path} has shape {static.shape(value)}, and no such "
      "entry"
    )
  if constraint in _LOG and value is not None:
    return "log"
  if constraint in _LOGIT and value is not None:
    return "logit"
  raise ValueError(
    f"params has {name!r}: effects act on rates, other positive numbers and "
    "single probabilities; for initial probabilities there is initial_probs"
  )


def with_effect(
  dist: distributions.Distribution, name: str, link: str, effect: Array
) -> distributions.Distribution:
  """Changes a parameter by an effect on its logarithm, or on its log odds.

  Args:
    dist: the distribution.
    name: of the parameter, or of one entry of it.
    link: see `link_of`.
    effect: (batch...), linear predictors.

  Returns:
    A batch of distributions.
  """
  path, index = split_name(name)

  def changed(value: Any) -> Any:
    size = len(static.shape(value))
    shift = np.reshape(effect, (*static.shape(effect), *(1,) * size))
    if index is not None:
      shift = shift * (onp.arange(static.shape(value)[-1]) == index)
    if link == "log":
      return value * np.exp(shift)
    return value / (value + (1.0 - value) * np.exp(-shift))

  return replaced(dist, path, changed)


def replaced(
  dist: distributions.Distribution, path: str, change: Callable[[Any], Any]
) -> distributions.Distribution:
  """Replaces a parameter of a distribution, or of one that it wraps."""
  parameters = dist.parameters
  if path != "distribution" and path in parameters:
    return dist.copy(**{path: change(parameters[path])})
  names = _graph_parameters(parameters)
  if path in names:
    params = parameters["params"]
    if isinstance(params, Mapping):
      return dist.copy(params={**params, path: change(params[path])})
    by_name = {x: params[..., i] for i, x in enumerate(names)}
    return dist.copy(params={**by_name, path: change(by_name[path])})
  inner = parameters["distribution"]
  return dist.copy(distribution=replaced(inner, path, change))


def shares_name(dist: distributions.Distribution) -> str:
  """Returns the name of the parameter with initial probabilities.

  Raises:
    ValueError: there is none.
  """
  for name in _SHARES:
    owner = owner_of(dist, name)
    if owner is not None and owner.parameters.get("prob_zero") is None:
      return name
  raise ValueError(
    f"initial_probs is given, and {type(dist).__name__} has no initial "
    "probabilities that sum to one: effects on them need such a distribution, "
    "PhaseType or Hyperexponential, say"
  )


def shares(dist: distributions.Distribution) -> Array:
  """Returns the initial probabilities, (..., p)."""
  name = shares_name(dist)
  owner = owner_of(dist, name)
  return getattr(owner, name)


def is_wrapped(dist: distributions.Distribution) -> bool:
  """Returns whether a distribution wraps another one, as a time change does."""
  return isinstance(
    dist.parameters.get("distribution"), distributions.Distribution
  )


def sped_up(
  dist: distributions.Distribution, effect: Array
) -> distributions.Distribution:
  """Multiplies all intensities of the innermost chain by exp(effect)."""
  inner = dist.parameters.get("distribution")
  if isinstance(inner, distributions.Distribution):
    return dist.copy(distribution=sped_up(inner, effect))
  scaled: Any = dist
  return scaled * np.exp(-effect)


def taken(
  dists: list[distributions.Distribution], index: onp.ndarray
) -> distributions.Distribution:
  """Combines distributions of one form to a batch, one for each index."""
  first = dists[0]
  changed: dict[str, Any] = {}
  properties = first.parameter_properties()
  for name, value in first.parameters.items():
    values = [dist.parameters[name] for dist in dists]
    if isinstance(value, distributions.Distribution):
      changed[name] = taken(values, index)
    elif isinstance(value, Mapping):
      changed[name] = {
        key: np.take(np.stack([x[key] for x in values], axis=0), index, axis=0)
        for key in value
      }
    elif name in properties and value is not None:
      changed[name] = np.take(np.stack(values, axis=0), index, axis=0)
  return first.copy(**changed)


def _graph_parameters(parameters: Mapping[str, Any]) -> tuple[str, ...]:
  """Returns the names of a graph's parameters, if there are any."""
  graph = parameters.get("graph")
  if graph is None or parameters.get("params") is None:
    return ()
  return tuple(graph.parameter_names or ())


def _names(dist: distributions.Distribution) -> list[str]:
  """Returns the names of all parameters that effects might act on."""
  parameters = dist.parameters
  names = [x for x in dist.parameter_properties() if x in parameters]
  names += _graph_parameters(parameters)
  inner = parameters.get("distribution")
  if isinstance(inner, distributions.Distribution):
    names += _names(inner)
  return names
