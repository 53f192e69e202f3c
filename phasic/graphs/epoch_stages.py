"""The chains of epochs, one after another, with the masses at each start."""

from typing import Any, NamedTuple

import numpy as np

from phasic.graphs import carried_masses
from phasic.internal import static


class Stage(NamedTuple):
  """What holds between two boundaries, given that it is reached.

  Attributes:
    initial: the distribution of phases at its start, (..., p).
    edges: `math.EdgeRates`, without coefficients.
    prob_zero: the atom at its start, (...) or 0.0.
    start: when it starts, 0.0 or (...).
    length: how long it lasts, (...); None for the last one.
    log_mass: the logarithm of the probability to reach it, (...).
    log_lost: the logarithm of what may be lost on the way to it, (...); None in
      the first.
  """

  initial: Any
  edges: Any
  prob_zero: Any
  start: Any
  length: Any
  log_mass: Any
  log_lost: Any


def stages(
  graphs: tuple[Any, ...],
  params: tuple[Any, ...],
  boundaries: Any,
  state_maps: tuple[Any, ...],
) -> list[Stage]:
  """Returns the stages of epochs.

  The masses of phases at a boundary are alpha exp(S t); they are carried over
  and scaled to sum up to one.

  Args:
    graphs: K graphs.
    params: their parameters, arrays (..., d_k) of one dtype.
    boundaries: (..., K - 1), of the same.
    state_maps: K - 1 maps of phases, None for the identity.
  """
  first = graphs[0]
  initial, atom = first.initial_probs(params[0]), first.prob_zero(params[0])
  dtype = static.dtype_name(boundaries)
  initial = np.asarray(initial, dtype=dtype)
  atom = np.asarray(atom, dtype=dtype)
  start: Any = 0.0
  log_mass = np.zeros((), dtype=dtype)
  log_lost: Any = None
  found: list[Stage] = []
  for k, (graph, theta) in enumerate(zip(graphs, params)):
    length = None
    if k < len(graphs) - 1:
      length = boundaries[..., k] - start
      length = np.where(length > 0.0, length, float("nan"))
    values = np.asarray(graph.edge_values(theta), dtype=dtype)
    edges = graph.edge_weights(edge_values=values)
    stage = Stage(initial, edges, atom, start, length, log_mass, log_lost)
    found.append(stage)
    if length is None:
      break
    carried = carried_masses.carry(initial, edges, length)
    initial = carried.shares
    if state_maps[k] is not None:
      initial = state_maps[k].carry(initial)
    own_lost = log_mass + carried.log_lost
    log_lost = own_lost if log_lost is None else np.maximum(log_lost, own_lost)
    log_mass = log_mass + carried.log_mass
    start, atom = boundaries[..., k], 0.0
  return found
