"""Reads and checks the constructor arguments of `Epochs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import itertools
import math
from typing import TypeAlias

import numpy as np
import numpy as onp

from phasic.distributions.absorption import graph_distribution
from phasic.distributions.base import conversions
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts import state_maps as state_maps_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import value_rules
from phasic.math.numeric import array_utils

# The parameters of one epoch's graph, in the form that a user gives.
EpochParams: TypeAlias = ParamsLike | None
# The largest number of epochs.
_MOST = 2**16
# The arguments that are given as one array for each epoch.
PER_EPOCH = ("params", "edge_values")
# Nouns for them, in messages.
_MEANING = {"params": "parameters", "edge_values": "edge values"}


def epoch_graphs(graphs: object, count: int) -> tuple[graph_lib.Graph, ...]:
  """Returns a graph for each epoch, as a tuple."""
  if isinstance(graphs, graph_lib.Graph):
    graphs = (graphs,) * count
  if not isinstance(graphs, (list, tuple)):
    raise TypeError(
      f"graphs is {type(graphs).__name__}: it must be a Graph, or a list with "
      "one for each epoch"
    )
  each = tuple(graphs)
  if len(each) != count:
    raise ValueError(
      f"graphs has {len(each)} graphs: with {count - 1} boundaries there must "
      f"be {count}, one for each epoch"
    )
  for k, graph in enumerate(each):
    if not isinstance(graph, graph_lib.Graph):
      raise TypeError(
        f"graphs[{k}] is {type(graph).__name__}: it must be a Graph"
      )
    if graph.discrete:
      raise ValueError(f"graphs[{k}] is discrete: it must be continuous")
  return each


def epoch_count(boundaries: ArrayLike | None) -> int:
  """Returns the number of epochs K, given boundaries of shape (..., K - 1).

  Raises:
    TypeError: there are none.
    ValueError: it is a number, or there are too many epochs.
  """
  if boundaries is None:
    raise TypeError(
      "boundaries is None: it must be an array (..., K - 1), an empty one for "
      "a single epoch"
    )
  shape = static.shape(structures.as_array(boundaries, None, "boundaries"))
  if len(shape) < 1:
    raise ValueError("boundaries is a number: it must be an array (..., K - 1)")
  if shape[-1] >= _MOST:
    raise ValueError(
      f"boundaries has {shape[-1]} entries: there must be fewer than {_MOST}, as "
      "each epoch is computed by itself; take longer epochs"
    )
  return shape[-1] + 1


def name(argument: str, epoch: int) -> str:
  """Returns the name of an array of one epoch, such as params[0]."""
  return f"{argument}[{epoch}]"


def settled(argument: str, given: ParameterValue) -> ParameterValue:
  """Replaces deferred arrays in an argument, see `conversions.settled`."""
  if not isinstance(given, (list, tuple)):
    return conversions.settled(argument, given)
  return [
    conversions.settled(name(argument, k), x) for k, x in enumerate(given)
  ]


def kept(
  argument: str, given: ParameterValue, count: int
) -> ParameterValue | Mapping[str, ParameterValue]:
  """Returns the arrays of epochs in the form that `Epochs` keeps.

  As a mapping with the keys "0", "1", ... they are part of the distribution's
  structure, and variables are read at each use.
  """
  if given is None or structures.is_variable(given):
    return given
  arrays = per_epoch(argument, given, count)
  if all(x is None for x in arrays):
    return None
  return {str(k): x for k, x in enumerate(arrays)}


def per_epoch(
  argument: str, given: ParameterValue, count: int
) -> list[ParameterValue]:
  """Returns each epoch's array; None for an epoch that has no array.

  Args:
    argument: the argument's name.
    given: a sequence, an array (K, ...), None, or what `Epochs` keeps: a mapping
      with "0", "1", ...
    count: the number of epochs.
  """
  if given is None:
    return [None] * count
  if isinstance(given, Mapping) and "0" in given:
    given = [given[key] for key in sorted(given, key=int)]
  if isinstance(given, (list, tuple)):
    size = len(given)
  elif hasattr(given, "shape"):
    size = static.shape(given)[0] if static.rank(given) else 0
  else:
    letter = {"params": "d"}.get(argument, "m")
    raise TypeError(
      f"{argument} is {type(given).__name__}: it must be a sequence with the "
      f"{_MEANING[argument]} of each epoch, or an array (K, ..., {letter})"
    )
  if size != count:
    raise ValueError(
      f"{argument} has {_MEANING[argument]} of {size} epochs: with {count - 1} "
      f"boundaries there must be {count} epochs"
    )
  return [given[k] for k in range(count)]


def check_arrays(
  graphs: Sequence[graph_lib.Graph],
  params: ParameterValue,
  edge_values: ParameterValue,
  boundaries: ArrayLike,
) -> None:
  """Checks the arrays of epochs.

  Raises:
    TypeError: dtypes differ.
    ValueError: numbers of epochs do not fit, an epoch has both arrays, or the
      weights of edges have a wrong shape.
  """
  count = len(graphs)
  given: dict[str, ArrayLike | None] = {}
  weights = per_epoch("edge_values", edge_values, count)
  for k, theta in enumerate(per_epoch("params", params, count)):
    params_name, values = name("params", k), weights[k]
    if isinstance(theta, Mapping):
      given.update({f"{params_name}[{n!r}]": x for n, x in theta.items()})
    else:
      given[params_name] = theta
    edges = name("edge_values", k)
    if values is None:
      if theta is None and graphs[k].num_params > 0:
        raise ValueError(
          f"{params_name} and {edges} are None: the epoch's graph has "
          f"{graphs[k].num_params} parameters; pass these, or a weight for each "
          "of its edges"
        )
      continue
    if theta is not None:
      raise ValueError(
        f"{params_name} and {edges} are given: pass only one of them"
      )
    given[edges] = values
    shape = static.shape(structures.as_array(values, None, edges))
    if shape[-1:] != (graphs[k].num_edges,):
      raise ValueError(
        f"{edges} has shape {shape}: it must be (..., {graphs[k].num_edges}), "
        "with a weight for each edge of the epoch's graph"
      )
  dtypes.common_dtype({**given, "boundaries": boundaries})


def check_boundaries(boundaries: Array) -> None:
  """Raises ValueError if concrete boundaries are not ascending."""
  known = static.concrete(boundaries)
  if known is None or known.shape[-1] == 0:
    return
  padded: onp.ndarray = onp.concatenate(
    [onp.zeros_like(known[..., :1]), known], axis=-1
  )
  ascend = (known > padded[..., :-1]) & (known < onp.inf)
  if not onp.all(ascend):
    raise ValueError(
      f"boundaries are {known.tolist()}: they must be positive, finite and "
      "increasing"
    )


def are_plausible(
  graphs: Sequence[graph_lib.Graph],
  params: ParameterValue,
  edge_values: ParameterValue,
) -> bool:
  """Returns whether known arrays of epochs appear to be valid."""
  count = len(graphs)
  each = per_epoch("params", params, count)
  weights = per_epoch("edge_values", edge_values, count)
  is_one = all(graph is graphs[0] for graph in graphs)
  is_one = is_one and all(type(x) is onp.ndarray for x in each)
  if is_one and len({static.shape(x) for x in each}) == 1:
    # All epochs share one graph, and their parameters have one shape. So there
    # are no edge values, and the epochs can be checked as one batch.
    return graph_distribution.is_plausible(graphs[0], onp.stack(each))
  return all(
    graph_distribution.is_plausible(graph, x, edge_values=values)
    for graph, x, values in zip(graphs, each, weights, strict=True)
  )


def divided(
  boundaries: onp.ndarray,
  more: onp.ndarray,
  state_maps: Sequence[state_maps_lib.StateMap],
) -> tuple[onp.ndarray, list[int], list[state_maps_lib.StateMap]]:
  """Adds boundaries at which nothing changes.

  Args:
    boundaries: (K - 1,).
    more: the times to add, (n,), some of which may be boundaries.
    state_maps: the map at each of the boundaries.

  Returns:
    All boundaries; the epoch of each of the new epochs; the map at each of all
    boundaries.
  """
  every = onp.union1d(boundaries, onp.setdiff1d(more, boundaries))
  starts = [0.0, *every.tolist()]
  parts = onp.searchsorted(boundaries, starts, side="right").tolist()
  stay = state_maps_lib.StateMap(None)
  maps = [
    stay if k == after else state_maps[k]
    for k, after in itertools.pairwise(parts)
  ]
  return every, parts, maps


def over_phases(
  method: str,
  graphs: Sequence[graph_lib.Graph],
  parts: Sequence[Array],
  by_epoch: bool,
  shape: static.Shape,
) -> Array:
  """Concatenates results for the phases of each epoch, or adds them by phase.

  Args:
    method: the public name of the method that has these results.
    graphs: the graph of each epoch.
    parts: the results, (..., p_k).
    by_epoch: whether they are joined, one epoch after the other.
    shape: what (...) broadcast to.

  Raises:
    ValueError: epochs have different states, and by_epoch is False.
  """
  if by_epoch:
    wide = [np.broadcast_to(x, (*shape, static.shape(x)[-1])) for x in parts]
    whole = np.concatenate(wide, axis=-1)
  else:
    first, *others = graphs
    for k, graph in enumerate(others, 1):
      if graph is not first and graph.states != first.states:
        raise ValueError(
          f"graphs[{k}] and graphs[0] have different states, and by_epoch is "
          f"False: pass by_epoch=True for {method} of each epoch's phases"
        )
    whole = sum(parts[1:], parts[0])
  return array_utils.expanded(whole, (*shape, static.shape(whole)[-1]))


def window(
  checked: Callable[[str, ArrayLike, str, value_rules.ValueRule], Array],
  method: str,
  since: ArrayLike | None,
  until: ArrayLike,
) -> tuple[Array | None, Array, Array]:
  """Returns the ends of a time window, arrays (...) in the widest dtype.

  Args:
    checked: the method of a distribution that converts and checks an argument.
    method: the public name of the method that has the window.
    since: (...), or None for zero.
    until: (...).

  Returns:
    The two ends, None for zero; and the later one with the shape of both, NaN
    where one of them is invalid.

  Raises:
    ValueError: they do not broadcast.
  """
  wide, rule = static.wide_float(), value_rules.TIME
  end = structures.cast(checked(method, until, "until", rule), wide)
  valid = np.where(rule.holds(end), end, math.nan)
  if since is None:
    return None, end, valid
  begin = structures.cast(checked(method, since, "since", rule), wide)
  try:
    static.broadcast_shapes(static.shape(end), static.shape(begin))
  except ValueError:
    raise ValueError(
      f"since has shape {static.shape(begin)} and until {static.shape(end)}: "
      "they must broadcast"
    ) from None
  return begin, end, np.where(rule.holds(begin), valid, math.nan)


def epoch_rewards(
  rewards: ArrayLike | Sequence[ArrayLike], sizes: Sequence[int], dtype: str
) -> ArrayLike:
  """Concatenates the rewards of the phases of all epochs.

  Args:
    rewards: as `MultivariateEpochs` takes them.
    sizes: the number of phases of each epoch.
    dtype: the dtype of the epochs.
  """
  rewards = conversions.settled("rewards", rewards)
  if structures.is_variable(rewards):
    _check_phases(rewards, sum(sizes), "P")
    return rewards
  if not isinstance(rewards, (list, tuple)):
    rewards_dtype = dtypes.common_dtype({"rewards": rewards}, default=dtype)
    array = structures.as_array(rewards, rewards_dtype, "rewards", copy=True)
    if static.shape(array)[-2:-1] == (sum(sizes),):
      return array
    if len(set(sizes)) > 1:
      raise ValueError(
        f"rewards has shape {static.shape(array)}: where epochs have different "
        f"numbers of phases, {tuple(sizes)}, it must be a list with an array "
        "(..., p_k, R) for each epoch"
      )
    _check_phases(array, sizes[0], "p")
    return np.concatenate([array] * len(sizes), axis=-2)
  if len(rewards) != len(sizes):
    raise ValueError(
      f"rewards has {len(rewards)} items: a list must have one array "
      f"(..., p, R) for each of {len(sizes)} epochs; for the same rewards in all "
      "epochs pass an array"
    )
  names = [f"rewards[{k}]" for k in range(len(sizes))]
  rewards_dtype = dtypes.common_dtype(dict(zip(names, rewards)), default=dtype)
  arrays = [
    structures.as_array(x, rewards_dtype, name)
    for name, x in zip(names, rewards)
  ]
  for name, x, p in zip(names, arrays, sizes, strict=True):
    _check_phases(x, p, "p", name)
  shapes = [static.shape(x) for x in arrays]
  if len({shape[-1] for shape in shapes}) > 1:
    raise ValueError(
      f"rewards have shapes {shapes}: the number of rewards R must be the same "
      "in all epochs"
    )
  batch = static.broadcast_shapes(*(shape[:-2] for shape in shapes))
  wide = [
    np.broadcast_to(x, (*batch, *shape[-2:]))
    for x, shape in zip(arrays, shapes, strict=True)
  ]
  return np.concatenate(wide, axis=-2)


def _check_phases(
  x: ArrayLike, p: int, letter: str, name: str = "rewards"
) -> None:
  """Raises ValueError unless an array has the shape (..., p, R)."""
  shape = static.shape(x)
  if len(shape) < 2 or shape[-2] != p or shape[-1] < 1:
    raise ValueError(
      f"{name} has shape {shape}: it must be (..., {letter}, R) with "
      f"{letter} = {p} phases and at least one reward"
    )
