"""Sufficient statistics of paths, and EM updates of rates and probabilities.

An update is an expected count over an expected exposure.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.model.model_types import Edges


class SufficientStatistics(NamedTuple):
  """Expected counts and times, summed over observations, for each model.

  Attributes:
    starts: (..., p), the number of paths that start in each phase.
    visits: (..., p), the time spent in each phase; in discrete time the number
      of steps made from it.
    jumps: (..., p, p), the number of jumps between phases, zero from a phase to
      itself; for a model of edges (..., m), the number of jumps along each
      edge, including exits.
    exits: (..., p), the number of absorptions from each phase.
    stays: (..., p), the number of steps from a phase to itself; zero in
      continuous time.
    atom: (...), the number of observations of zero that are due to the mass at
      zero.
  """

  starts: Array
  visits: Array
  jumps: Array
  exits: Array
  stays: Array
  atom: Array

  @property
  def total(self) -> Array:
    """Returns the number of paths, including unobserved paths.

    The result has shape (...).
    """
    return np.sum(self.starts, axis=-1) + self.atom


class Start(TypedDict):
  """The updated initial masses and mass at zero, as `start` returns them."""

  initial_probs: Array
  prob_zero: Array | None


def updated(counts: Array, exposures: Array, old: Array | float) -> Array:
  """Returns counts / exposures, or the old value where exposures are zero."""
  exposed = exposures != 0
  return np.where(exposed, counts / np.where(exposed, exposures, 1.0), old)


def edge_parameters(
  edges: Edges,
  statistics: SufficientStatistics,
) -> Array:
  """Computes the EM update of the parameters of edge rates.

  The result has shape (..., d). A rate c + sum_k a_k theta_k is treated as
  parallel edges, one for each term. The expected jumps along the edge are split
  among the terms in proportion to their rates. So parameters never become
  negative. If a parameter is the rate of a single edge, its update is the
  number of jumps over the time.

  Args:
    edges: EdgeRates whose coefficients and constants are >= 0.
    statistics: the sufficient statistics of the chain.
  """
  edges = edge_rates.convert(edges, static.dtype_name(statistics.starts))
  exposures = np.take(statistics.visits, edges.sources, axis=-1)
  exposures = np.where(edges.sources == edges.targets, 0.0, exposures)
  if edges.coefficients is None:
    return updated(statistics.jumps, exposures, edges.parameters)
  rates = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  passed = rates != 0
  per_rate = np.where(
    passed, statistics.jumps / np.where(passed, rates, 1.0), 0.0
  )
  factors, times = (
    np.matmul(x[..., None, :], edges.coefficients)[..., 0, :]
    for x in (per_rate, exposures)
  )
  return updated(edges.parameters * factors, times, edges.parameters)


def edge_probs(edges: Edges, statistics: SufficientStatistics) -> Array:
  """Computes the EM update of the edge probabilities of a discrete chain.

  The result has shape (..., m).

  Args:
    edges: EdgeProbs without coefficients; the expected stays in a phase are
      split among parallel edges from the phase to itself in proportion to
      their probabilities.
    statistics: the sufficient statistics of the chain.
  """
  edges = edge_rates.convert(edges, static.dtype_name(statistics.starts))
  p = static.shape(statistics.visits)[-1]
  is_loop = edges.sources == edges.targets
  steps = np.take(statistics.visits, edges.sources, axis=-1)
  stays = np.take(statistics.stays, edges.sources, axis=-1)
  loops = edges._replace(
    parameters=np.where(is_loop, edges.parameters, 0.0), constants=None
  )
  _, total = edge_rates.dense(
    p, loops._replace(targets=np.zeros_like(edges.targets) + p)
  )
  total = np.take(total, edges.sources, axis=-1)
  kept = is_loop & (total != 0)
  share = np.where(kept, edges.parameters / np.where(kept, total, 1.0), 0.0)
  counts = np.where(is_loop, share * stays, statistics.jumps)
  return updated(counts, steps, edges.parameters)


def only_rates(edges: Edges) -> Edges:
  """Returns the edges; raises unless their parameters are their weights.

  Raises:
    TypeError: the edges have coefficients or constants.
  """
  if edges.coefficients is not None or edges.constants is not None:
    raise TypeError(
      "dist has edges with coefficients or constants: EM cannot update their "
      "parameters; use fit_mle, or build a graph, whose parameters EM updates"
    )
  return edges


def start(
  initial_probs: Array,
  prob_zero: Array | None,
  statistics: SufficientStatistics,
) -> Start:
  """Computes the EM update of the initial masses and of a given mass at zero.

  Args:
    initial_probs: the initial masses, (..., p).
    prob_zero: the mass at zero, (...), or None.
    statistics: the sufficient statistics of the chain.
  """
  total = statistics.total
  masses = updated(statistics.starts, total[..., None], initial_probs)
  if prob_zero is not None:
    prob_zero = updated(statistics.atom, total, prob_zero)
  return {"initial_probs": masses, "prob_zero": prob_zero}
