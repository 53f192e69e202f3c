"""Graphs of queues, repair, populations and patients, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.parts.contents import ABSORBED
from phasic.internal.arrays import Integer


def busy_period(capacity: Integer, servers: Integer = 1) -> graph_lib.Graph:
  """Returns the graph of the busy period of an M/M/c/K queue.

  The state is the number of customers. One comes at the rate `arrival`, unless
  the system is full; each busy server ends at the rate `service`. The period
  starts with one customer and ends when none is left.

  Args:
    capacity: K, the most customers in the system, 1 to a million.
    servers: c, at least 1.

  Raises:
    TypeError, ValueError: an argument is not an integer in its range.

  References:
    L. Kleinrock, Queueing systems, vol. 1, 1975, ch. 3 and 5.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.busy_period(3)
    <Graph 3 phases, 5 edges, 2 parameters arrival, service>
  """
  model_checks.at_least("capacity", capacity, 1)
  model_checks.at_least("servers", servers, 1)
  model_checks.check_fixed_states("capacity", capacity, int(capacity))

  def transitions(
    n: int,
  ) -> Iterator[tuple[Hashable, Mapping[str, float | Integer]]]:
    yield n - 1 if n > 1 else ABSORBED, {"service": min(n, servers)}
    if n < capacity:
      yield n + 1, {"arrival": 1}

  return graph_lib.Graph.from_transitions(
    transitions, 1, ("arrival", "service")
  )


def tandem_queue(capacity: Integer) -> graph_lib.Graph:
  """Returns the graph of the busy period of two queues in series.

  The state is the pair of the numbers of customers. One comes to the first
  queue at the rate `arrival`, unless that is full; its server ends at the rate
  `service_1` and waits while the second queue is full; the second server ends
  at the rate `service_2`. It starts with one customer in the first queue and
  ends when both are empty.

  Args:
    capacity: the most customers in each queue, at least 1; there are
      (capacity + 1)^2 - 1 states, at most a million.

  Raises:
    TypeError, ValueError: capacity is not an integer in its range.

  References:
    L. Kleinrock, Queueing systems, vol. 1, 1975, ch. 4.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.tandem_queue(1).states
    ((1, 0), (0, 1), (1, 1))
  """
  model_checks.at_least("capacity", capacity, 1)
  states = (int(capacity) + 1) ** 2 - 1
  model_checks.check_fixed_states("capacity", capacity, states)

  def transitions(
    state: tuple[int, int],
  ) -> Iterator[tuple[Hashable, Mapping[str, float | Integer]]]:
    first, second = state
    if first < capacity:
      yield (first + 1, second), {"arrival": 1}
    if first > 0 and second < capacity:
      yield (first - 1, second + 1), {"service_1": 1}
    if second > 0:
      next_state = (first, second - 1)
      yield next_state if next_state != (0, 0) else ABSORBED, {"service_2": 1}

  return graph_lib.Graph.from_transitions(
    transitions, (1, 0), ("arrival", "service_1", "service_2")
  )


def machine_repair(
  machines: Integer, repairers: Integer = 1
) -> graph_lib.Graph:
  """Returns the graph of the time until all machines are down at once.

  The state is the number of machines that are down. Each that works fails at
  the rate `failure`; each repairer mends one at the rate `repair`. All work at
  the start.

  Args:
    machines: their number, 1 to a million.
    repairers: their number, at least 0.

  Raises:
    TypeError, ValueError: an argument is not an integer in its range.

  References:
    R. E. Barlow, F. Proschan, Mathematical theory of reliability, 1965, ch. 5.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.machine_repair(3)
    <Graph 3 phases, 5 edges, 2 parameters failure, repair>
  """
  model_checks.at_least("machines", machines, 1)
  model_checks.at_least("repairers", repairers, 0)
  model_checks.check_fixed_states("machines", machines, int(machines))

  def transitions(
    down: int,
  ) -> Iterator[tuple[Hashable, Mapping[str, float | Integer]]]:
    last = down == machines - 1
    yield ABSORBED if last else down + 1, {"failure": machines - down}
    if down > 0 and repairers > 0:
      yield down - 1, {"repair": min(down, repairers)}

  return graph_lib.Graph.from_transitions(transitions, 0, ("failure", "repair"))


def birth_death(initial: Integer, maximum: Integer) -> graph_lib.Graph:
  """Returns the graph of a linear birth-death process until extinction.

  The state is the size of the population. Each of n individuals gives birth
  at the rate `birth`, unless n is the maximum, and dies at the rate `death`.

  Args:
    initial: the size at the start, at least 1.
    maximum: the largest size, at least `initial`, at most a million.

  Raises:
    TypeError, ValueError: an argument is not an integer in its range.

  References:
    D. G. Kendall, On the generalized birth-and-death process, Ann. Math.
      Stat. 19, 1948.

  Example:

    >>> from phasic import graphs
    >>> graphs.models.birth_death(2, maximum=4).states
    (2, 1, 3, 4)
  """
  model_checks.at_least("initial", initial, 1)
  model_checks.at_least("maximum", maximum, initial)
  model_checks.check_fixed_states("maximum", maximum, int(maximum))

  def transitions(n: int) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    yield n - 1 if n > 1 else ABSORBED, {"death": n}
    if n < maximum:
      yield n + 1, {"birth": n}

  return graph_lib.Graph.from_transitions(
    transitions, initial, ("birth", "death")
  )


def illness_death() -> graph_lib.Graph:
  """Returns the graph of the illness-death model with recovery.

  The states are "healthy", at the start, and "ill". The rates are `illness`
  and `recovery` between them, `death_healthy` and `death_ill`; the causes of
  absorption, "healthy" and "ill", are the state in which death comes.

  References:
    O. O. Aalen, O. Borgan, H. K. Gjessing, Survival and event history
      analysis, 2008, ch. 3.

  Example:

    >>> from phasic import graphs
    >>> graph = graphs.models.illness_death()
    >>> graph.states, graph.causes
    (('healthy', 'ill'), ('healthy', 'ill'))
  """

  def transitions(state: str) -> Iterator[tuple[Hashable, Mapping[str, float]]]:
    if state == "healthy":
      yield "ill", {"illness": 1}
    else:
      yield "healthy", {"recovery": 1}
    yield ABSORBED(state), {f"death_{state}": 1}

  names = ("illness", "recovery", "death_healthy", "death_ill")
  return graph_lib.Graph.from_transitions(transitions, "healthy", names)
