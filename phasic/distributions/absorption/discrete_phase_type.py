"""Discrete phase-type distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, Unpack

import numpy as np

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import graph_chain
from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.m_step import rate_updates


@structures.register
class DiscretePhaseType(absorption_time.AbsorptionTime):
  """The number of steps until absorption of a finite Markov chain.

  With initial distribution alpha, probabilities T of a step from phase to
  phase and t of absorption, and an atom z at zero,

      P(N = k) = alpha T^(k-1) t,  k = 1, 2, ...,  P(N = 0) = z.

  The support is {1, 2, ...}, and 0 only with an atom. At what is not a whole
  number `prob` is zero, and `cdf` and `survival_function`, P(N > k), are those
  of the whole number below.

  Derivatives follow this formula in free coordinates: they are not
  projected on the simplex, and the diagonal of `subtransition` is data like
  all else. With `exit_probs` derivatives in T leave t as it is; without, t is
  1 - T 1. In the value there are none: see `math.discrete_phase_type.log_prob`.

  Values that break a rule raise ValueError with `validate_args=True` (under
  jit in JAX they make the result NaN). Otherwise they give NaN, with one
  warning where they are known, and `diagnose` names the reason. With
  `validate_args=True` a given `prob_zero` has to make the masses sum to one,
  and values have to be whole numbers >= 0.

  Example: throws of a die until the second six.

    >>> import numpy as np
    >>> from phasic.distributions import DiscretePhaseType
    >>> throws = DiscretePhaseType([1.0, 0.0], [[5 / 6, 1 / 6], [0.0, 5 / 6]])
    >>> print(f"{float(throws.mean()):.3f}, {float(throws.prob(3)):.6f}")
    12.000, 0.046296

  The same by its edges, from phase 0 to 1 and from 1 to absorption, which is
  phase 2; no matrix is made. A phase is kept with what its edges leave of one,
  and derivatives are those of this rule: see `math.EdgeProbs`.

    >>> from phasic.math import EdgeProbs
    >>> throws = DiscretePhaseType(
    ...   [1.0, 0.0], EdgeProbs([0, 1], [1, 2], [1 / 6, 1 / 6])
    ... )
    >>> print(f"{float(throws.mean()):.3f}, {float(throws.prob(3)):.6f}")
    12.000, 0.046296

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _DISCRETE = True

  _DERIVES = False

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at the start.",
  )
  subtransition: declared.Probs = declared.array(
    2,
    "subtransition",
    "T, (..., p, p), the probabilities of a step from phase to phase; no "
    "row's sum is above one. Or `math.EdgeProbs` with parameters (..., m), or a "
    "sparse matrix (p, p), which becomes edges.",
  )
  exit_probs: declared.Optional = declared.array(
    1,
    "probability",
    "t, (..., p), the probabilities of absorption in a step. None derives "
    "them, t = 1 - T 1, zero within 4 p eps. If given, each row of T and "
    "its exit sum to one within 4 p eps. With edges it must be None: the exits "
    "are edges to p.",
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
  ) -> GraphDiscretePhaseType:
    """Returns the distribution of the steps until a graph's chain is absorbed.

    Args:
      graph: a discrete `graphs.Graph`.
      params: its parameters, as for `GraphDiscretePhaseType`.
      edge_values: probabilities of the edges, instead of `params`.
      initial_probs: masses in the place of the graph's initial weights.
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: as `GraphDiscretePhaseType`.
      ValueError: as `GraphDiscretePhaseType`.

    Example: throws until three heads, where a head comes with probability q.

      >>> from phasic.distributions import DiscretePhaseType
      >>> from phasic.graphs import ABSORBED, Graph
      >>> def transitions(heads):
      ...   yield (heads + 1 if heads < 2 else ABSORBED), {"q": 1.0}
      >>> graph = Graph.from_transitions(
      ...   transitions, 0, params=("q",), discrete=True
      ... )
      >>> throws = DiscretePhaseType.from_graph(graph, {"q": 0.25})
      >>> print(f"{float(throws.prob(4)):.6f}")
      0.035156
    """
    return GraphDiscretePhaseType(
      graph, params, edge_values, initial_probs, **options
    )

  def as_phase_type(self) -> DiscretePhaseType:
    """Returns the same distribution with a dense matrix instead of edges.

    Raises:
      ValueError: there are more than 4096 phases.
    """
    return absorption_time.dense_form(self, DiscretePhaseType)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    matrix, exits = arrays["subtransition"], arrays["exit_probs"]
    if structure.is_edges(matrix):
      probs = rate_updates.edge_probs(
        rate_updates.only_rates(matrix), statistics
      )
      edges = matrix._replace(parameters=probs)
      return self.copy(
        **rate_updates.start(
          arrays["initial_probs"], arrays["prob_zero"], statistics
        ),
        subtransition=edges,
      )
    eye = np.eye(static.shape(matrix)[-1], dtype=static.dtype_name(matrix))
    steps = statistics.jumps + eye * statistics.stays[..., None]
    if exits is not None:
      exits = rate_updates.updated(statistics.exits, statistics.visits, exits)
    return self.copy(
      **rate_updates.start(
        arrays["initial_probs"], arrays["prob_zero"], statistics
      ),
      subtransition=rate_updates.updated(
        steps, statistics.visits[..., None], matrix
      ),
      exit_probs=exits,
    )


@structures.register
class GraphDiscretePhaseType(graph_chain.GraphChain, DiscretePhaseType):  # type: ignore[override]
  """The number of steps until the chain of a graph is absorbed.

  See `DiscretePhaseType`. Probabilities of edges are linear in parameters, or
  given as `edge_values`; one minus their sum is added to the probability to
  stay in a phase. No matrix is made: all methods use the edges. Derivatives
  exist in `params`, `edge_values` and `initial_probs`, as for
  `math.EdgeProbs`.

  Example:

    >>> from phasic.distributions import GraphDiscretePhaseType
    >>> from phasic.graphs import ABSORBED, Graph
    >>> graph = Graph.from_transitions(
    ...   lambda _: [(ABSORBED, [1.0])], 0, 1, discrete=True
    ... )
    >>> print(f"{float(GraphDiscretePhaseType(graph, [0.5]).prob(3)):.6f}")
    0.125000
  """

  __init__ = graph_chain.GraphChain.__init__

  @property  # type: ignore[misc]
  def subtransition(self) -> Array:  # type: ignore[override]
    """The step probabilities T, an array (..., p, p) for p <= 4096."""
    between, exits = self._dense()
    leaving = np.sum(between, axis=-1) + exits
    eye = np.eye(self.num_phases, dtype=self.dtype)
    return between + eye * (1.0 - leaving)[..., None]

  @property  # type: ignore[misc]
  def exit_probs(self) -> Array:  # type: ignore[override]
    """The exit probabilities of the phases, an array (..., p) for p <= 4096."""
    return self._dense()[1]
