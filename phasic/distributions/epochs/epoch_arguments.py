"""Reads and checks the constructor arguments of `Epochs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as onp

from phasic.distributions.base import deferred
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike

# The parameters of one epoch's graph, in the form that a user gives.
EpochParams: TypeAlias = ParamsLike | None


def epoch_graphs(graphs: object, count: int) -> tuple[graph_lib.Graph, ...]:
  """Returns a graph for each epoch, as a tuple."""
  if isinstance(graphs, graph_lib.Graph):
    graphs = (graphs,) * count
  if not isinstance(graphs, (list, tuple)):
    raise TypeError(
      f"graphs is {type(graphs).__name__}: it must be a Graph, or a list with "
      "one for each epoch"
    )
  found = tuple(graphs)
  if len(found) != count:
    raise ValueError(
      f"graphs has {len(found)} graphs: with {count - 1} boundaries there must "
      f"be {count}, one for each epoch"
    )
  for k, graph in enumerate(found):
    if not isinstance(graph, graph_lib.Graph):
      raise TypeError(
        f"graphs[{k}] is {type(graph).__name__}: it must be a Graph"
      )
    if graph.discrete:
      raise ValueError(f"graphs[{k}] is discrete: it must be continuous")
  return found


def epoch_count(boundaries: ArrayLike | None) -> int:
  """Returns the number of epochs K for boundaries (..., K - 1)."""
  if boundaries is None:
    raise TypeError(
      "boundaries is None: it must be an array (..., K - 1), an empty one for "
      "a single epoch"
    )
  shape = static.shape(structures.as_array(boundaries, None, "boundaries"))
  if len(shape) < 1:
    raise ValueError("boundaries is a number: it must be an array (..., K - 1)")
  return shape[-1] + 1


def settled(params: ParameterValue) -> ParameterValue:
  """Replaces deferred arrays among the parameters, see `deferred.settled`."""
  if not isinstance(params, (list, tuple)):
    return deferred.settled("params", params)
  return [deferred.settled(f"params[{k}]", x) for k, x in enumerate(params)]


def epoch_params(params: ParameterValue, count: int) -> list[EpochParams]:
  """Returns the parameters of each epoch.

  Args:
    params: a sequence, an array (K, ..., d), or what `Epochs` keeps: a mapping
      with "0", "1", ...
    count: the number of epochs.
  """
  if isinstance(params, Mapping) and "0" in params:
    params = [params[key] for key in sorted(params, key=int)]
  if isinstance(params, (list, tuple)):
    size = len(params)
  elif hasattr(params, "shape"):
    size = static.shape(params)[0] if static.rank(params) else 0
  else:
    raise TypeError(
      f"params is {type(params).__name__}: it must be a sequence with the "
      "parameters of each epoch, or an array (K, ..., d)"
    )
  if size != count:
    raise ValueError(
      f"params has parameters of {size} epochs: with {count - 1} boundaries "
      f"there must be {count} epochs"
    )
  return [params[k] for k in range(count)]


def check_dtypes(params: Sequence[EpochParams], boundaries: ArrayLike) -> None:
  """Raises TypeError unless parameters and boundaries have one dtype."""
  given: dict[str, ArrayLike | None] = {}
  for k, theta in enumerate(params):
    if isinstance(theta, Mapping):
      given.update({f"params[{k}][{n!r}]": x for n, x in theta.items()})
    else:
      given[f"params[{k}]"] = theta
  dtypes.common_dtype({**given, "boundaries": boundaries})


def check_boundaries(boundaries: Array) -> None:
  """Raises ValueError if concrete boundaries are not ascending."""
  known = static.concrete(boundaries)
  if known is None or known.shape[-1] == 0:
    return
  padded: onp.ndarray = onp.concatenate(
    [onp.zeros_like(known[..., :1]), known], axis=-1
  )
  if not onp.all(onp.diff(padded) > 0.0) or not onp.all(known < onp.inf):
    raise ValueError(
      f"boundaries are {known.tolist()}: they must be positive, finite and "
      "increasing"
    )
