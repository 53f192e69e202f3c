"""Changes of the unit of time: the parameters of the distribution of c X."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any, NoReturn

import numpy as np
import numpy as onp

from phasic.distributions.base import hooks
from phasic.distributions.base import structure
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import halves
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import edge_rates
from phasic.math.model import value_rules
from phasic.math.model.edge_rates import Edges

_RULE = "it must be > 0 and finite"


def checked_factor(distribution: Any, factor: ArrayLike) -> Array:
  """Converts the factor of `dist * factor`, and replaces bad values by NaN.

  Bad values raise with `validate_args`; else there is a warning if they are
  known.
  """
  if isinstance(factor, hooks.Hooks):
    raise TypeError(
      f"{type(distribution).__name__} * {type(factor).__name__}: only a number, "
      "which changes the unit of time, may multiply a distribution; "
      "random_sum(count, a) is the sum of a random number of variables"
    )
  array: Array = distribution._argument(halves.as_single(factor), "factor")
  good = (array > 0) & (array < math.inf)
  if distribution.validate_args:
    return value_rules.check("factor", array, good, _RULE)
  known = static.at_hand(array)
  if known is not None and not user_warnings.is_derived():
    bad = onp.logical_not((known > 0) & (known < math.inf))
    if onp.any(bad):
      index, where = value_rules.first_place(bad)
      user_warnings.warn(
        f"{type(distribution).__name__} * factor: factor{where} = "
        f"{known[index]}: {_RULE}; results are NaN"
      )
  return np.where(good, array, math.nan)


def scaled_parameters(distribution: Any, factor: Array) -> dict[str, Any]:
  """Returns the parameters that differ for factor * X, by their powers of time.

  Raises:
    TypeError: the class does not give the power of time of each parameter.
  """
  powers = distribution._TIME_POWERS
  if powers is None or powers.keys() != set(distribution._children()):
    _refuse_without_powers(distribution)
  properties, arrays = distribution._properties(), distribution._arrays()
  scaled = {}
  for name, power in powers.items():
    if power == 0:
      continue
    if name not in properties:  # It is the wrapped distribution.
      inner = distribution._parameters[name]
      scaled[name] = inner._scaled(factor if power == 1 else factor**power)
    elif arrays[name] is not None:
      x, rank = arrays[name], properties[name].event_ndims
      scaled[name] = (
        _scaled_edges(x, factor, power)
        if structure.is_edges(x)
        else _scaled(x, factor, power, rank)
      )
  return scaled


def refuse(distribution: hooks.Hooks, reason: str) -> NoReturn:
  """Raises the TypeError of a class without the distribution of factor * X."""
  raise TypeError(f"{type(distribution).__name__} * factor: {reason}")


def scaled_weights(
  graph: graph_lib.Graph,
  params: ParamsLike | None,
  edge_values: Array | None,
  factor: Array,
) -> tuple[ParamsLike | None, Array | None]:
  """Returns the parameters and edge values of a graph for factor * X.

  Parameters stay where all weights of edges are sums of rates and no initial
  mass depends on parameters; else they are replaced by the weights.

  Args:
    graph: a continuous graph.
    params: its parameters, as a distribution has them.
    edge_values: weights in their place, or None.
    factor: c, (...).
  """
  factor = factor[..., None]
  if edge_values is not None:
    return None, edge_values / factor
  if params is None or not _is_sum_of_rates(graph):
    weights = structures.cast(
      graph.edge_values(params), static.dtype_name(factor)
    )
    return None, weights / factor
  rates = graph.params_array(params) / factor
  if not isinstance(params, Mapping):
    return rates, None
  names = graph.parameter_names or ()
  return {name: rates[..., c] for c, name in enumerate(names)}, None


def has_free_start(graph: graph_lib.Graph) -> bool:
  """Returns whether initial masses depend on parameters, or may."""
  known = static.concrete(graph.initial_coefficients)
  return known is None or bool(onp.any(known != 0))


def _is_sum_of_rates(graph: graph_lib.Graph) -> bool:
  """Returns whether all parameters are known to have the unit of a rate."""
  constants = static.concrete(graph.constants)
  coefficients = static.concrete(graph.coefficients)
  if constants is None or coefficients is None or has_free_start(graph):
    return False
  # A difference of rounded rates would lose digits.
  return not onp.any(constants != 0) and bool(onp.all(coefficients >= 0))


def _scaled_edges(edges: Edges, factor: Array, power: float) -> Edges:
  """Returns edges whose weights are multiplied by factor**power."""
  if edges.constants is None:
    scaled = _scaled(edges.parameters, factor, power, 1)
    return edges._replace(parameters=scaled)
  # Derivatives in the factor exist through parameters, but not through constants.
  weights = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  scaled = _scaled(weights, factor, power, 1)
  return edges._replace(parameters=scaled, coefficients=None, constants=None)


def _scaled(x: Array, factor: Array, power: float, rank: int) -> Array:
  """Returns x * factor**power, for x with `rank` event dimensions."""
  factor = factor[(..., *(None,) * rank)]
  if power == -1:
    return x / factor
  # A bound may be infinite, where the derivative in the factor is zero.
  endless = x == math.inf
  some = np.where(endless, 1.0, x)
  return np.where(endless, x, some * (factor if power == 1 else factor**power))


def _refuse_without_powers(distribution: Any) -> NoReturn:
  """Raises the TypeError of a class whose table of powers is not complete."""
  if distribution._support().constraint == "nonnegative_integer":
    refuse(
      distribution,
      "its values are whole numbers, which have no unit; multiply the values "
      "that its methods return",
    )
  names = ", ".join(distribution._children())
  refuse(
    distribution,
    f"the class does not say how the unit of time changes {names or 'it'}; "
    "declare _TIME_POWERS in it, the power of time of each parameter by name "
    "(1 of a time, -1 of a rate, 0 of a probability), or evaluate methods at "
    "value / factor",
  )
