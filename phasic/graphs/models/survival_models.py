"""Graphs of populations and of patients, see `models`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.models import model_checks
from phasic.graphs.parts.absorbed import ABSORBED
from phasic.internal.arrays import Integer


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
