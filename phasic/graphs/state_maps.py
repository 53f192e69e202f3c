"""Maps from the states of one graph to the states of another."""

from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic.graphs import absorbed
from phasic.graphs import contents


class StateMap(NamedTuple):
  """Which phases of one graph become each phase of another.

  Attributes:
    phases: host array (q, r); row j has the phases that become the j-th, and
      p, the number of phases, in what remains of it.
  """

  phases: onp.ndarray

  def carry(self, masses: Any) -> Any:
    """Returns the masses (..., q) that masses (..., p) become."""
    padded = np.concatenate([masses, np.zeros_like(masses[..., :1])], axis=-1)
    taken = np.take(padded, np.asarray(self.phases, dtype="int32"), axis=-1)
    return np.sum(taken, axis=-1)


def make(name: str, graph: Any, following: Any, function: Any) -> Any:
  """Returns the map between two graphs, None if it is the identity.

  Args:
    name: what messages call the function.
    graph: a `Graph`.
    following: the `Graph` mapped to.
    function: from states of the one to states of the other; None if both have
      the same states, in the same order.

  Raises:
    TypeError: it is no function.
    ValueError: a state is mapped to what is no state, or there is no function
      and the graphs differ in their states.
  """
  if function is None:
    if graph is not following and graph.states != following.states:
      raise ValueError(
        f"{name} is None, but the graphs before and after differ in their "
        "states: give a function from the ones to the others"
      )
    return None
  if not callable(function):
    raise TypeError(f"{name} is {function!r}: it must be a function of a state")
  found: list[list[int]] = [[] for _ in following.states]
  for i, state in enumerate(graph.states):
    image = function(state)
    if absorbed.is_absorbed(image):
      raise ValueError(
        f"{name} maps {contents.shown(state)} to {image!r}: a boundary absorbs "
        "no path"
      )
    try:
      found[following.index_of(image)].append(i)
    except (TypeError, ValueError):
      raise ValueError(
        f"{name} maps {contents.shown(state)} to {contents.shown(image)}, which "
        "is no state of the next graph"
      ) from None
  width = max(len(row) for row in found)
  rows = [row + [graph.num_phases] * (width - len(row)) for row in found]
  return StateMap(onp.asarray(rows, onp.int32))
