"""Continuous phase-type distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, Unpack

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import graph_chain
from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import time_units
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.m_step import rate_updates
from phasic.math.model import chain as chain_lib
from phasic.math.moments import passages


@structures.register
class PhaseType(absorption_time.AbsorptionTime):
  """The time until absorption of a finite Markov chain.

  With initial distribution alpha, subgenerator S, exit rates s and an atom z
  at zero, the density is f(t) = alpha exp(S t) s for t > 0. The base measure
  is Lebesgue's on (0, inf) plus a unit mass at 0, so that `prob(0.)` is z
  where z > 0, else alpha . s.

  Derivatives follow this formula in free coordinates: they are not
  projected on the simplex. If `exit_rates` are given, the off-diagonals and
  the exits are the data: the diagonal of `subgenerator` is not read, its
  derivative is zero by definition, and changing S_ij changes the diagonal
  that is implied.

  Values that break a rule raise ValueError with `validate_args=True` (under
  jit in JAX they make the result NaN). Otherwise they give NaN, with one
  warning where they are known, and `diagnose` names the reason. Without
  `validate_args` the arrays are free coordinates: a diagonal that does not agree
  with given `exit_rates` is not read, and where the masses and a given
  `prob_zero` do not sum to one there is a warning, functions follow their
  formulas, and log likelihoods of data are NaN. If all exits that are derived
  count as zero, a warning says so.

  The derivative of a logarithm where it is -inf is NaN, and so is that of the
  density in time at an atom. Where absorption may never come the mean is inf,
  and values at infinity are NaN. Derivatives in time and in other arguments are
  NaN where rates times times are so large that they would be off by 1e-3; see
  `math.phase_type.log_prob`.

  Example:

    >>> import numpy as np
    >>> from phasic.distributions import PhaseType
    >>> erlang = PhaseType([1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]])
    >>> print(f"{float(erlang.mean()):.3f}, {float(erlang.prob(1.0)):.6f}")
    1.000, 0.541341

  The same by its edges, from phase 0 to 1 and from 1 to absorption, which is
  phase 2; no matrix is made. Distributions with the same edges share a
  compilation.

    >>> from phasic.math import EdgeRates
    >>> dist = PhaseType([1.0, 0.0], EdgeRates([0, 1], [1, 2], [2.0, 2.0]))
    >>> print(f"{float(dist.mean()):.3f}, {float(dist.prob(1.0)):.6f}")
    1.000, 0.541341

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017.
  """

  _DERIVES = False
  _TIME_POWERS: ClassVar[Mapping[str, float]] = {
    "initial_probs": 0,
    "subgenerator": -1,
    "exit_rates": -1,
    "prob_zero": 0,
  }

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at time zero.",
  )
  subgenerator: declared.Rates = declared.array(
    2,
    "subgenerator",
    "S, (..., p, p), the rates between phases, per unit of time; or "
    "`math.EdgeRates` with parameters (..., m), or a sparse matrix (p, p), which "
    "becomes edges.",
  )
  exit_rates: declared.Optional = declared.array(
    1,
    "nonnegative",
    "s, (..., p). None derives them, s = -S 1, where what is within 4 p eps "
    "of zero, relative to the row, counts as zero. With edges it must be None: "
    "the exits are edges to p.",
    default=None,
  )
  prob_zero: declared.Derived = kept_chain.prob_zero()

  @classmethod
  def from_graph(
    cls,
    graph: graph_lib.Graph,
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
    **options: Unpack[declared.Options],
  ) -> GraphPhaseType:
    """Returns the distribution of the time until a graph's chain is absorbed.

    Args:
      graph: a continuous `graphs.Graph`.
      params: its parameters, as for `GraphPhaseType`.
      edge_values: weights in their place.
      initial_probs: masses in the place of the graph's initial weights.
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: as `GraphPhaseType`.
      ValueError: as `GraphPhaseType`.

    Example: the age of the common ancestor of four lineages.

      >>> from phasic.distributions import PhaseType
      >>> from phasic.graphs import ABSORBED, Graph
      >>> def transitions(n):
      ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
      >>> graph = Graph.from_transitions(transitions, 4, params=("coal",))
      >>> age = PhaseType.from_graph(graph, {"coal": 2.0})
      >>> print(f"{float(age.mean()):.6f}, {float(age.cdf(1.0)):.6f}")
      0.750000, 0.758874
    """
    return GraphPhaseType(graph, params, edge_values, initial_probs, **options)

  def expected_sojourn_times(self) -> Result:
    """Computes the expected sojourn times alpha (-S)^-1, an array (..., p).

    They are inf where the chain may be caught.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0, 0.0], [[-2.0, 1.0], [1.0, -1.0]])
      >>> [f"{float(x):.6f}" for x in dist.expected_sojourn_times()]
      ['1.000000', '1.000000']
    """
    return self._statistic(
      "expected_sojourn_times", passages.expected_sojourn_times(*self._model())
    )

  def as_phase_type(self) -> PhaseType:
    """Returns the same distribution with a dense matrix instead of edges.

    Raises:
      ValueError: there are more than 4096 phases.
    """
    return absorption_time.dense_form(self, PhaseType)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    matrix, given = arrays["subgenerator"], arrays["exit_rates"]
    if structure.is_edges(matrix):
      given_edges = rate_updates.only_rates(matrix)
      rates = rate_updates.edge_parameters(given_edges, statistics)
      edges = matrix._replace(parameters=rates)
      return self.copy(
        **rate_updates.start(
          arrays["initial_probs"], arrays["prob_zero"], statistics
        ),
        subgenerator=edges,
      )
    p, dtype = static.shape(matrix)[-1], static.dtype_name(matrix)
    old_exits = given
    if old_exits is None:
      none, atom = matrix[..., 0, :0], np.zeros_like(matrix[..., 0, :1])
      operands = (matrix[..., 0, :], matrix, none, atom)
      old_exits = chain_lib.derive(operands, static.finfo_eps(dtype)).exits
    eye = np.eye(p, dtype=dtype)
    between = np.where(eye > 0, 0.0, matrix)
    rates = rate_updates.updated(
      statistics.jumps, statistics.visits[..., None], between
    )
    exits = rate_updates.updated(statistics.exits, statistics.visits, old_exits)
    leaving = np.sum(rates, axis=-1) + exits
    return self.copy(
      **rate_updates.start(
        arrays["initial_probs"], arrays["prob_zero"], statistics
      ),
      subgenerator=rates - eye * leaving[..., None],
      exit_rates=None if given is None else exits,
    )


@structures.register
class GraphPhaseType(graph_chain.GraphChain, PhaseType):  # type: ignore[override]
  """The time until the chain of a graph is absorbed, see `PhaseType`.

  Weights of edges are linear in parameters, or given as `edge_values`. No
  matrix is made: all methods go by the edges. Derivatives exist in `params`,
  `edge_values` and `initial_probs`.

  Example:

    >>> from phasic.distributions import GraphPhaseType
    >>> from phasic.graphs import ABSORBED, Graph
    >>> graph = Graph.from_transitions(lambda n: [(ABSORBED, [n])], 3, 1)
    >>> print(f"{float(GraphPhaseType(graph, [2.0]).prob(0.5)):.6f}")
    0.298722
  """

  __init__ = graph_chain.GraphChain.__init__

  @property  # type: ignore[misc]
  def subgenerator(self) -> Array:  # type: ignore[override]
    """The rates between the phases, S, an array (..., p, p) for p <= 4096."""
    return self._dense_subgenerator()

  @property  # type: ignore[misc]
  def exit_rates(self) -> Array:  # type: ignore[override]
    """The exit rate of each phase, an array (..., p) for p <= 4096."""
    return self._dense()[1]

  def _scaled(self, factor: Array) -> Self:
    given = self._arrays()
    params, edge_values = time_units.scaled_weights(
      self.graph, self.params, given["edge_values"], factor
    )
    start = given["initial_probs"]
    is_replaced = params is None and self.params is not None
    if start is None and is_replaced and time_units.has_free_start(self.graph):
      start = self.graph.initial_probs(self.params)
    return self.copy(
      params=params, edge_values=edge_values, initial_probs=start
    )
