"""The strongly connected components of a graph, by Tarjan's algorithm."""

from __future__ import annotations

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.transformations import host_graphs


def strongly_connected_components(graph: graph_lib.Graph) -> list[onp.ndarray]:
  """Returns the phases of each strongly connected component.

  Two phases are in one if each leads to the other, by edges that have a weight
  for some parameters. A graph is acyclic if there are as many as phases.

  Args:
    graph: a `Graph`.

  Returns:
    Host arrays of phases, each in increasing order. Edges lead only from a
    component to itself and to later ones.

  Raises:
    TypeError: it is not a graph, or its arrays are traced.

  References:
    R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput.
      1, 1972.

  Example: machines that are repaired, until all are down.

    >>> from phasic import graphs
    >>> graph = graphs.models.machine_repair(3)
    >>> [list(map(int, c)) for c in graphs.strongly_connected_components(graph)]
    [[0, 1, 2]]
  """
  successors = host_graphs.successor_lists(host_graphs.read(graph))
  p = len(successors)
  # The discovery index and the low-link of each phase in Tarjan's algorithm.
  number, lowest = [-1] * p, [0] * p
  unfinished: list[int] = []
  waits = [False] * p
  components: list[onp.ndarray] = []
  count = 0
  for root in range(p):
    path = [] if number[root] >= 0 else [(root, iter(successors[root]))]
    while path:
      i, following = path[-1]
      if number[i] < 0:
        number[i] = lowest[i] = count
        count += 1
        unfinished.append(i)
        waits[i] = True
      for j in following:
        if number[j] < 0:
          path.append((j, iter(successors[j])))
          break
        if waits[j]:
          lowest[i] = min(lowest[i], number[j])
      else:
        path.pop()
        if path:
          parent = path[-1][0]
          lowest[parent] = min(lowest[parent], lowest[i])
        if lowest[i] == number[i]:
          component: list[int] = []
          while not component or component[-1] != i:
            component.append(unfinished.pop())
            waits[component[-1]] = False
          components.append(onp.asarray(sorted(component)))
  return components[::-1]
