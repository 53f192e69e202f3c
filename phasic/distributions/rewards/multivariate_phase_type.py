"""Multivariate phase-type distributions: several rewards of one chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from phasic.distributions.absorption import atoms
from phasic.distributions.base import declared
from phasic.distributions.rewards import graph_rewards
from phasic.distributions.rewards import reward_totals
from phasic.graphs.core import graph as graph_lib
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model.model_types import Model


@structures.register
class MultivariatePhaseType(reward_totals.RewardTotals):
  """Rewards Y_r = sum_i r_ir (time spent in phase i) until absorption.

  This is the class MPH* of Kulkarni, with an atom. One value is a vector of R
  rewards. Each reward, and each sum of them with weights >= 0, is a
  `PhaseType`; means, covariances, mixed moments, the joint Laplace transform
  and samples exist for all, on the edges of a graph at any size. There is no
  formula for the joint density in general: `log_prob` and `prob` exist where
  the chain is feed-forward, see `math.phase_type.joint_log_prob`.

  Example: the times in two stages of a queue, of which the second may be left
  out.

    >>> import numpy as np
    >>> from phasic.distributions import MultivariatePhaseType
    >>> matrix = np.asarray([[-2.0, 1.0], [0.0, -4.0]])
    >>> dist = MultivariatePhaseType([1.0, 0.0], matrix, np.eye(2))
    >>> [f"{float(m):.3f}" for m in dist.mean()]
    ['0.500', '0.125']
    >>> print(f"{float(dist.prob([0.5, 0.25])):.6f}")
    0.541341
    >>> print(f"{float(dist.projection([1.0, 2.0]).mean()):.3f}")
    0.750

  References:
    V. Kulkarni, A new class of multivariate phase type distributions, Oper.
      Res. 37, 1989.
    M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
      probability, 2017, chapter 8.
  """

  _DERIVES = False

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at time zero.",
  )
  subgenerator: declared.Rates = declared.array(
    2,
    "subgenerator",
    "S, (..., p, p), the rates between phases, per unit of time; or "
    "`math.EdgeRates`, as in `PhaseType`.",
  )
  rewards: declared.Required = declared.array(
    2, "nonnegative", "r, (..., p, R), per unit of time, finite and >= 0."
  )
  exit_rates: declared.Optional = declared.array(
    1,
    "nonnegative",
    "s, (..., p). None derives them as in `PhaseType`.",
    default=None,
  )
  prob_zero: declared.Derived = atoms.prob_zero(
    "z, (...), the mass at the origin of paths that never start. None "
    "derives it as in `PhaseType`.",
  )

  @classmethod
  def from_graph(
    cls,
    graph: graph_lib.Graph,
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    rewards: ArrayLike | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
    **options: Unpack[declared.Options],
  ) -> GraphMultivariatePhaseType:
    """Returns the joint distribution of rewards of a graph's chain.

    Args:
      graph: a continuous `graphs.Graph`.
      params: its parameters, as for `GraphPhaseType`.
      rewards: r, (..., p, R), in the order of the graph's states.
      edge_values: weights in the place of parameters.
      initial_probs: masses in the place of the graph's initial weights.
      **options: `validate_args`, `allow_nan_stats` and `name`.

    Raises:
      TypeError: as `GraphPhaseType`, or there are no rewards.
      ValueError: as `GraphPhaseType`.

    Example: the tree of four lineages: its height, and the length of all
    branches.

      >>> from phasic.distributions import MultivariatePhaseType
      >>> from phasic.graphs import ABSORBED, Graph
      >>> def transitions(n):
      ...   yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}
      >>> graph = Graph.from_transitions(transitions, 4, params=("coal",))
      >>> rewards = [[1.0, n] for n in graph.states]
      >>> tree = MultivariatePhaseType.from_graph(graph, {"coal": 1.0}, rewards)
      >>> [f"{float(m):.3f}" for m in tree.mean()]
      ['1.500', '3.667']
    """
    return GraphMultivariatePhaseType(
      graph, params, rewards, edge_values, initial_probs, **options
    )

  def _derived_chain(self) -> Model:
    arrays = self._arrays()
    names = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
    initial_probs, matrix, exits, prob_zero = (arrays[name] for name in names)
    return initial_probs, matrix, exits, prob_zero


@structures.register
class GraphMultivariatePhaseType(  # type: ignore[override]
  graph_rewards.GraphRewards, MultivariatePhaseType
):
  """Accumulated rewards of the chain of a graph, see `MultivariatePhaseType`.

  Weights of edges are linear in parameters, or given as `edge_values`. No
  matrix is made, but for densities and for the distributions of rewards that
  are zero in some phases: these take up to 4096 phases. Derivatives exist in
  `params`, `rewards`, `edge_values` and `initial_probs`.

  Example:

    >>> from phasic.distributions import GraphMultivariatePhaseType
    >>> from phasic.graphs import ABSORBED, Graph
    >>> graph = Graph.from_transitions(lambda n: [(ABSORBED, [n])], 4, 1)
    >>> dist = GraphMultivariatePhaseType(graph, [0.5], [[1.0, 3.0]])
    >>> [f"{float(m):.3f}" for m in dist.mean()]
    ['0.500', '1.500']
  """

  __init__ = graph_rewards.GraphRewards.__init__

  @property  # type: ignore[misc]
  def subgenerator(self) -> Array:  # type: ignore[override]
    """Rates between the phases, S (..., p, p), for up to 4096 phases."""
    return self._dense_subgenerator()

  @property  # type: ignore[misc]
  def exit_rates(self) -> Array:  # type: ignore[override]
    """Exit rates, s (..., p), for up to 4096 phases."""
    return self._dense()[1]
