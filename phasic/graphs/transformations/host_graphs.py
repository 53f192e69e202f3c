"""Graphs as host arrays, for functions that transform graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts import contents
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike

# The relative tolerance of sums of weights: smaller differences are rounding.
TOLERANCE = 1e-13


class HostGraph(NamedTuple):
  """The data of a graph as host arrays.

  Attributes:
    sources: (m,), phases.
    targets: (m,), phases, and p + c for absorption by the c-th cause.
    weights: (m, d + 1), the coefficients, then the constant.
    initial: (p + 1, d + 1), the same of the phases' initial weights and, in the
      last row, of the atom at zero.
    params: the number of parameters d, or their names.
    causes: the names of the causes, None for plain absorption.
    discrete: whether weights are probabilities.
    states: the states of the phases, or None where they are lost.
  """

  sources: onp.ndarray
  targets: onp.ndarray
  weights: onp.ndarray
  initial: onp.ndarray
  params: int | tuple[str, ...]
  causes: tuple[str | None, ...]
  discrete: bool
  states: tuple[Hashable, ...] | None

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return len(self.initial) - 1

  @property
  def num_params(self) -> int:
    """The number of parameters d."""
    return onp.shape(self.weights)[1] - 1

  def name(self, node: int) -> str:
    """Returns the name of a phase, or of absorption (p + c), for messages."""
    p = self.num_phases
    if node >= p:
      return repr(contents.Absorbed(self.causes[node - p]))
    if self.states is None:
      return f"phase {node}"
    return raw_arguments.shown(self.states[node])


def read(graph: graph_lib.Graph) -> HostGraph:
  """Reads a graph's data into host arrays.

  Edges that have no weight for any parameters are left out.

  Raises:
    TypeError: it is not a graph, or its arrays are traced.
  """
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(f"graph is {type(graph).__name__}: it must be a Graph")
  arrays = (getattr(graph, name) for name in contents.ARRAYS)
  if any(static.concrete(x) is None for x in arrays):
    raise TypeError(
      "graph has traced arrays: transform graphs outside of functions that are "
      "compiled"
    )
  data = graph._contents()
  weights = onp.concatenate(
    [data.coefficients, data.constants[:, None]], axis=1
  )
  weighty = onp.any(weights != 0.0, axis=1)
  return HostGraph(
    data.sources[weighty],
    data.targets[weighty],
    weights[weighty],
    onp.concatenate(
      [data.initial_coefficients, data.initial_constants[:, None]], axis=1
    ),
    graph.num_params if data.parameter_names is None else data.parameter_names,
    data.causes,
    data.discrete,
    data.states,
  )


def build(host: HostGraph) -> graph_lib.Graph:
  """Makes a graph; parallel edges are merged."""
  host = merged(host)
  return graph_lib.Graph(
    host.sources,
    host.targets,
    host.weights[:, -1],
    host.weights[:, :-1],
    host.initial[:, -1],
    host.initial[:, :-1],
    None if isinstance(host.params, int) else host.params,
    host.causes,
    host.discrete,
    host.states,
  )


def read_at(graph: graph_lib.Graph, params: ParamsLike | None) -> HostGraph:
  """Reads a graph at given parameters; the result has no parameters.

  Args:
    graph: the graph.
    params: its parameters, an array (d,) or a mapping of names to numbers; None
      if it has none.

  Raises:
    TypeError: it is not a graph, or an array is traced.
    ValueError: parameters are missing or are a batch, or a weight is negative
      or not finite.
  """
  host = read(graph)
  d = host.num_params
  if params is None and d > 0:
    raise ValueError(
      f"params is None: the graph has {d} parameters, and the weights of the "
      "result are not linear in them; give their values"
    )
  values = onp.zeros(0)
  if params is not None and d > 0:
    values = _param_values(graph, params)
  if values.shape != (d,):
    raise ValueError(
      f"params has shape {values.shape}: it must be ({d},), one vector"
    )
  at = onp.append(values, 1.0)[:, None]
  weights: onp.ndarray = onp.matmul(host.weights, at)
  initial: onp.ndarray = onp.matmul(host.initial, at)
  for e in onp.flatnonzero(~((weights >= 0.0) & (weights < onp.inf)))[:1]:
    raise ValueError(
      f"params: the edge from {host.name(int(host.sources[e]))} to "
      f"{host.name(int(host.targets[e]))} gets the weight {weights[e, 0]}: it "
      "must be finite and not negative"
    )
  for i in onp.flatnonzero(~((initial >= 0.0) & (initial < onp.inf)))[:1]:
    start = "the atom at zero" if i == host.num_phases else host.name(int(i))
    raise ValueError(
      f"params: the initial weight of {start} is {initial[i, 0]}: it must be "
      "finite and not negative"
    )
  positive = weights[:, 0] > 0.0
  return host._replace(
    sources=host.sources[positive],
    targets=host.targets[positive],
    weights=weights[positive],
    initial=initial,
    params=0,
  )


def _param_values(graph: graph_lib.Graph, params: ParamsLike) -> onp.ndarray:
  """Converts a graph's parameters to a host array.

  `Graph.params_array` would not do: under `jax.jit` its result is traced, also
  if no parameter is.
  """
  # This is called only for its checks of names and shapes.
  graph.params_array(params)
  if not isinstance(params, Mapping):
    return concrete("params", params)
  names = graph.parameter_names or ()
  values = [concrete(f"params[{name!r}]", params[name]) for name in names]
  return onp.stack(onp.broadcast_arrays(*values), axis=-1)


def concrete(name: str, x: ArrayLike) -> onp.ndarray:
  """Converts an argument to a host array of float64.

  Args:
    name: the argument's name in messages.
    x: an array, a number, or a list or tuple of these.

  Raises:
    TypeError: it is traced, or its dtype does not fit.
    ValueError: it is ragged.
  """
  dtypes.numeric(x, name)
  if isinstance(x, (list, tuple)):
    x = [_concrete(name, part) for part in x]
  return onp.asarray(_concrete(name, x), onp.float64)


def _concrete(name: str, x: ArrayLike) -> onp.ndarray:
  values = static.concrete(x)
  if values is None:
    raise traced(name)
  return values


def traced(name: str) -> TypeError:
  """Returns the error for an argument that is traced."""
  return TypeError(
    f"{name} is traced: it must be concrete; transform graphs outside of "
    "functions that are compiled"
  )


def merged(host: HostGraph) -> HostGraph:
  """Merges parallel edges, and sorts edges by source.

  Edges from a phase to itself are dropped. The edges of a phase are in the
  order in which the first of each stood.
  """
  keep = onp.flatnonzero(host.sources != host.targets)
  nodes = host.num_phases + len(host.causes)
  keys = onp.asarray(host.sources, onp.int64)[keep] * nodes
  keys = keys + host.targets[keep]
  order = keep[onp.argsort(keys, kind="stable")]
  _, first = onp.unique(onp.sort(keys), return_index=True)
  weights = sums_from(host.weights[order], first)
  place = order[first]
  kept = onp.any(weights != 0.0, axis=1)
  place, weights = place[kept], weights[kept]
  order = onp.lexsort((place, host.sources[place]))
  return host._replace(
    sources=host.sources[place][order],
    targets=host.targets[place][order],
    weights=weights[order],
  )


def sums_from(weights: onp.ndarray, first: onp.ndarray) -> onp.ndarray:
  """Sums groups of consecutive rows, which begin at the indices in `first`.

  If terms cancel up to rounding, their sum is zero.
  """
  if not len(first):
    return weights[:0]
  sums = onp.add.reduceat(weights, first, axis=0)
  sizes = onp.add.reduceat(onp.abs(weights), first, axis=0)
  return onp.where(onp.abs(sums) <= TOLERANCE * sizes, 0.0, sums)


def selected(host: HostGraph, phases: onp.ndarray) -> HostGraph:
  """Restricts a graph to some of its phases.

  Args:
    host: the numbers.
    phases: those to keep, in increasing order; no edge that leaves one may
      lead to a phase that is not among them.
  """
  p = host.num_phases
  place = onp.full(p + len(host.causes), -1)
  place[phases] = onp.arange(len(phases))
  place[p:] = len(phases) + onp.arange(len(host.causes))
  keep = place[host.sources] >= 0
  states = host.states
  if states is not None:
    states = tuple(states[i] for i in phases)
  return host._replace(
    sources=place[host.sources[keep]],
    targets=place[host.targets[keep]],
    weights=host.weights[keep],
    initial=host.initial[onp.append(phases, p)],
    states=states,
  )


def reached(host: HostGraph) -> onp.ndarray:
  """Returns the indices of the reachable phases, ascending."""
  p = host.num_phases
  begins = onp.any(host.initial[:p] != 0.0, axis=1)
  starts = [int(i) for i in onp.flatnonzero(begins)]
  targets = onp.minimum(host.targets, p)
  is_reached = contents.reached(host.sources, targets, starts, p + 1)
  return onp.flatnonzero(is_reached[:p])


def successor_lists(host: HostGraph) -> list[list[int]]:
  """Returns a list of the successors of each phase."""
  successors: list[list[int]] = [[] for _ in range(host.num_phases)]
  for i, j in zip(host.sources, host.targets):
    if j < host.num_phases:
      successors[int(i)].append(int(j))
  return successors


def sums_by_source(
  host: HostGraph, values: Sequence[float] | onp.ndarray
) -> onp.ndarray:
  """Sums values of edges over the edges that leave each phase.

  The values have shape (m,), the sums shape (p,).
  """
  total = onp.zeros(host.num_phases)
  onp.add.at(total, host.sources, values)
  return total
