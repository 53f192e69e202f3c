"""Methods of distributions whose chains are absorbed by several causes."""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import graph_distribution
from phasic.distributions.base import observed_events
from phasic.graphs.parts import contents
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.calls import evaluation
from phasic.math.likelihood import competing_risks
from phasic.math.likelihood import hazards
from phasic.math.model import chain as chain_lib
from phasic.math.model import operands
from phasic.math.model.model_types import EdgeModel, Model


class CompetingRisks(
  graph_distribution.GraphDistribution, absorption_time.AbsorptionTime
):
  """The time until a graph's chain is absorbed by one of several causes.

  A cause is named as in `ABSORBED("cause")`; None is plain `ABSORBED`, to which
  a mass at zero belongs. Distributions of the time and a cause are defective:
  they sum up to that of the time.
  """

  def cause_probs(self) -> Result:
    """Returns the probability of each cause, of shape (..., number of causes).

    They are in the order of `graph.causes`, and sum to one less the mass at
    zero where that belongs to no cause.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> from phasic.graphs import ABSORBED, Graph
      >>> ends = [(ABSORBED("failure"), 1.0), (ABSORBED("repair"), 3.0)]
      >>> dist = PhaseType.from_graph(
      ...   Graph.from_transitions(lambda _: ends, "running")
      ... )
      >>> [f"{float(p):.3f}" for p in dist.cause_probs()]
      ['0.250', '0.750']
    """
    initial_probs, edges, _, prob_zero = self._by_cause()
    return self._statistic(
      "cause_probs",
      competing_risks.cause_probs(
        initial_probs,
        edges,
        prob_zero,
        len(self._causes()),
        self._cause_of_atom(),
        self._DISCRETE,
      ),
    )

  def cumulative_incidence(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Result:
    """Computes P(X <= value and absorption is by the cause).

    Args:
      value: times, or numbers of steps, (...).
      cause: one of `graph.causes`.

    Raises:
      TypeError: dtypes differ.
      ValueError: there is no such cause, or shapes do not fit.
    """
    value = self._value(value)
    number = self._number(cause)
    known = static.concrete(value)
    if known is not None and not onp.any(onp.isinf(known)):
      incidence = self._value_by_cause("cdf", value, number)
      return self._result("cumulative_incidence", incidence, value)
    # At infinity P(X <= value, absorption by the cause) is the probability of
    # the cause. The cdf is one there, so it is not used.
    last = value == float("inf")
    finite = self._value_by_cause("cdf", np.where(last, 0.0, value), number)
    incidence = np.where(last, self.cause_probs()[..., number], finite)
    return self._result("cumulative_incidence", incidence, value)

  def cause_log_prob(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Array:
    """Computes the log density of absorption by the cause at the value.

    In continuous time it is at zero the limit from the right, for plain
    `ABSORBED` the mass at zero where there is one.

    Args:
      value: times, or numbers of steps, (...).
      cause: one of `graph.causes`.

    Raises:
      TypeError: dtypes differ.
      ValueError: there is no such cause, or shapes do not fit.
    """
    value, number = self._value(value), self._number(cause)
    return self._result(
      "cause_log_prob",
      self._value_by_cause("log_density", value, number),
      value,
    )

  def cause_prob(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Array:
    """Computes the density of absorption by the cause at the value."""
    value, number = self._value(value), self._number(cause)
    return self._result(
      "cause_prob", self._value_by_cause("density", value, number), value
    )

  def cause_hazard(
    self, value: ArrayLike, cause: str | contents.Absorbed | None
  ) -> Result:
    """Computes the hazard of a cause: its absorption rate, if not yet absorbed.

    It is cause_prob(t) / P(X > t), and in discrete time cause_prob(k) / P(N >=
    k). Arguments and errors are as for `cause_log_prob`.
    """
    value = self._value(value)
    part = self._model_of_cause(self._number(cause))
    return self._result(
      "cause_hazard",
      hazards.cause_hazard(part, self._model(), value, self._DISCRETE),
      value,
    )

  def _value_by_cause(self, kind: str, value: Array, number: int) -> Array:
    """Evaluates a function, e.g. the cdf, of absorption by one cause."""
    initial_probs, edges, exits, prob_zero = self._model_of_cause(number)
    return evaluation.value(
      kind,
      (initial_probs, edges, value, exits, prob_zero),
      discrete=self._DISCRETE,
    )

  def _model_of_cause(self, number: int) -> Model:
    """Returns the chain with the exits of one cause only."""
    at_zero = number == self._cause_of_atom()
    return competing_risks.model_of_cause(number, *self._by_cause(), at_zero)

  def _number(self, cause: str | contents.Absorbed | None) -> int:
    """Returns the index of a cause in `_causes`."""
    return cause_number(cause, self._causes(), "the graph's")

  def _cause_of_atom(self) -> int | None:
    """Returns the index of the cause of a mass at zero, or None."""
    causes = self._causes()
    return causes.index(None) if None in causes else None

  def _causes(self) -> tuple[str | None, ...]:
    return self.graph.causes

  def _by_cause(self) -> EdgeModel:
    initial_probs, edges, _, prob_zero = self._model()
    assert operands.is_edges(edges)  # A graph has edges.
    targets = structures.as_index_array(self.graph.targets, "targets")
    return initial_probs, edges._replace(targets=targets), None, prob_zero


def cause_number(
  cause: str | contents.Absorbed | None,
  names: tuple[str | None, ...],
  owner: str,
) -> int:
  """Returns the index of a cause in the names of the causes.

  Raises:
    ValueError: there is no such cause.
  """
  cause = cause.cause if contents.is_absorbed(cause) else cause
  if not (cause is None or isinstance(cause, str)) or cause not in names:
    raise ValueError(
      f"cause is {raw_arguments.shown(cause)}: it must be one of {owner} causes "
      f"{names}"
    )
  return names.index(cause)


def causes(chain: object) -> tuple[str | None, ...] | None:
  """Returns the names of a chain's causes of absorption, or None."""
  if not isinstance(chain, CompetingRisks):
    return None
  return chain._causes()


def models_by_cause(chain: observed_events.HasModel) -> list[Model]:
  """Returns one model per cause, of the time until absorption by that cause.

  The last phase is where the other causes lead.

  Args:
    chain: one that has causes, see `causes`.
  """
  assert isinstance(chain, CompetingRisks)
  initial_probs, edges, exits, atom = chain._by_cause()
  initial_probs = chain_lib.proper_masses(initial_probs, atom)
  cause_of_atom = chain._cause_of_atom()
  return [
    competing_risks.model_of_cause(
      number, initial_probs, edges, exits, atom, number == cause_of_atom
    )
    for number in range(len(chain._causes()))
  ]
