"""Lumping: merges equivalent phases, for all values of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as onp

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.contents import State
from phasic.graphs.transformations import host_graphs
from phasic.graphs.transformations import refinement
from phasic.internal import raw_arguments
from phasic.internal.arrays import ArrayLike, Tree


class Lumped(NamedTuple):
  """A lumped graph, and how its phases were merged.

  Attributes:
    graph: the lumped graph. Its states are the state of the first phase of each
      class, or the names of the classes of a partition that was given.
    classes: (p,), a host array, the class of each phase of the graph given,
      which is a phase of the lumped one.
    representatives: a host array with the first phase of each class, so that
      `rewards[representatives]` are the rewards of the lumped graph.

  Example: the states of two islands by class; those that only differ in the
    order of the islands are in one.

    >>> from phasic import graphs
    >>> islands = graphs.models.island_coalescent([2, 0])
    >>> islands.states
    ((2, 0), (1, 1), (0, 2))
    >>> graphs.lump(islands).classes.tolist()
    [0, 1, 0]
  """

  graph: graph_lib.Graph
  classes: onp.ndarray
  representatives: onp.ndarray


def lump(
  graph: graph_lib.Graph,
  partition: Callable[[State], Hashable] | Iterable[Hashable] | None = None,
  rewards: ArrayLike | None = None,
) -> Lumped:
  """Merges equivalent phases: the result has a phase for each class.

  A partition is a strong lumping if all phases of a class have the same rates
  into every other class and into absorption by every cause. Rates are compared
  for each coefficient and for the constants by itself, so that the lumped graph
  has the distribution of the given one for all parameters. Sums that agree to
  1e-13 of their terms count as the same; the sums of the first phase are taken.
  Weights of starts are summed.

  Args:
    graph: a `Graph` with p phases, continuous or discrete.
    partition: a function of states whose values name the classes, or a
      sequence of p names; None for the coarsest that is a strong lumping.
    rewards: (p,) or (p, R), which phases of a class must have in common; None
      if none are used.

  Returns:
    The lumped graph; its phases are the classes in the order in which the graph
    has the first phase of each.

  Raises:
    TypeError: it is not a graph, its arrays are traced, or a class has a name
      that is not hashable.
    ValueError: the partition is not a strong lumping (two phases of a class and
      what differs are named), or shapes do not fit.

  References:
    J. G. Kemeny, J. L. Snell, Finite Markov chains, 1960, section 6.3.
    R. Paige, R. E. Tarjan, Three partition refinement algorithms, SIAM J.
      Comput. 16, 1987.
    A. Valmari, G. Franceschinis, Simple O(m log n) time Markov chain lumping,
      TACAS 2010.

  Example: of two islands that are alike it does not matter which is which.

    >>> from phasic import graphs
    >>> islands = graphs.models.island_coalescent([3, 0])
    >>> lumped = graphs.lump(islands)
    >>> lumped.graph.states
    ((3, 0), (2, 0), (2, 1), (1, 1))
  """
  host = host_graphs.read(graph)
  p = host.num_phases
  reward_classes = _equal_rewards(rewards, p)
  if partition is None:
    classes = refinement.coarsest(host, reward_classes)
    names = None
  else:
    classes, names = _partition_classes(host, partition)
    _check_rewards(host, classes, reward_classes, rewards)
    _check(host, classes, names)
  _, representatives = onp.unique(classes, return_index=True)
  return Lumped(
    _lumped(host, classes, representatives, names), classes, representatives
  )


def _equal_rewards(rewards: ArrayLike | None, p: int) -> onp.ndarray:
  """Returns class numbers (p,), equal for phases with equal rewards."""
  if rewards is None:
    return onp.zeros(p, onp.int64)
  array: onp.ndarray = host_graphs.concrete("rewards", rewards)
  if array.ndim not in (1, 2) or len(array) != p:
    raise ValueError(
      f"rewards have shape {array.shape}: they must be ({p},) or ({p}, R)"
    )
  if onp.any(onp.isnan(array)):
    raise ValueError("rewards have a NaN: all rewards must be numbers")
  return refinement.numbered([row.tobytes() for row in array + 0.0])


def _partition_classes(
  host: host_graphs.HostGraph,
  partition: Callable[[State], Hashable] | Iterable[Hashable],
) -> tuple[onp.ndarray, tuple[Hashable, ...]]:
  """Returns the classes (p,) of a given partition, and the class names."""
  p = host.num_phases
  if callable(partition):
    if host.states is None:
      raise ValueError(
        "partition is a function of states, but the graph has no states: give "
        "a list with the name of a class for each phase"
      )
    names = [partition(state) for state in host.states]
  else:
    raw_arguments.check_sequence(
      "partition",
      partition,
      " of the names of classes, or a function of states",
    )
    names = list(partition)
  if len(names) != p:
    raise ValueError(
      f"partition names the classes of {len(names)} phases: it must name the "
      f"class of each of {p}"
    )
  try:
    classes = refinement.numbered(names)
  except TypeError:
    raise TypeError(
      "partition has a class whose name is not hashable"
    ) from None
  return classes, tuple(dict.fromkeys(names))


def _check_rewards(
  host: host_graphs.HostGraph,
  classes: onp.ndarray,
  reward_classes: onp.ndarray,
  rewards: Tree,
) -> None:
  """Raises ValueError if phases of one class have different rewards."""
  _, first = onp.unique(classes, return_index=True)
  differs = reward_classes != reward_classes[first[classes]]
  for i in onp.flatnonzero(differs)[:1]:
    j = first[classes[i]]
    raise ValueError(
      f"partition: {host.name(int(j))} and {host.name(int(i))} are in one "
      f"class, but their rewards are {rewards[j]} and {rewards[i]}"
    )


def _check(
  host: host_graphs.HostGraph, classes: onp.ndarray, names: tuple[Hashable, ...]
) -> None:
  """Raises ValueError unless the partition is a strong lumping."""
  p = host.num_phases
  rates = refinement.ClassRates(host)
  signatures = rates.signatures(onp.arange(p), classes)
  _, first = onp.unique(classes, return_index=True)
  for i in range(p):
    j = int(first[classes[i]])
    if signatures[i] == signatures[j]:
      continue
    nothing = onp.zeros(host.num_params + 1)
    one, two = rates.into_classes(j, classes), rates.into_classes(i, classes)
    for c in sorted({*one, *two}):
      weight_one = one.get(c, nothing)
      weight_two = two.get(c, nothing)
      if refinement.agree(weight_one, weight_two):
        continue
      into = f"class {names[c]!r}" if c >= 0 else host.name(p - 1 - c)
      raise ValueError(
        f"partition is not a strong lumping: {host.name(j)} and "
        f"{host.name(i)} are in class {names[classes[i]]!r}, but their weights "
        f"into {into} are {_text(host, weight_one)} and "
        f"{_text(host, weight_two)}"
      )


def _text(host: host_graphs.HostGraph, weight: onp.ndarray) -> str:
  """Formats a weight in the way users write it."""
  names: int | Sequence[object] = host.params
  if isinstance(names, int):
    names = range(names)
  terms = {n: float(w) for n, w in zip(names, weight[:-1]) if w != 0.0}
  if not terms:
    return f"{float(weight[-1])}"
  if weight[-1] != 0.0:
    terms["constant"] = float(weight[-1])
  return "{" + ", ".join(f"{n}: {w}" for n, w in terms.items()) + "}"


def _lumped(
  host: host_graphs.HostGraph,
  classes: onp.ndarray,
  representatives: onp.ndarray,
  names: tuple[Hashable, ...] | None,
) -> graph_lib.Graph:
  """Makes the lumped graph, whose phases are the classes."""
  count = len(representatives)
  place = onp.concatenate([classes, count + onp.arange(len(host.causes))])
  chosen = onp.isin(host.sources, representatives)
  initial = onp.zeros((count + 1, host.num_params + 1))
  onp.add.at(initial, onp.append(classes, count), host.initial)
  states = names
  if states is None and host.states is not None:
    states = tuple(host.states[i] for i in representatives)
  return host_graphs.build(
    host._replace(
      sources=classes[host.sources[chosen]],
      targets=place[host.targets[chosen]],
      weights=host.weights[chosen],
      initial=initial,
      states=states,
    )
  )
