"""The M-step for the parameters of a graph."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import numpy as onp

from phasic.distributions.absorption import of_graph
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import Scalar
from phasic.math.m_step import linear_maximum
from phasic.math.m_step import rate_updates
from phasic.math.model import operands


def m_step(
  distribution: of_graph.OfGraph,
  statistics: rate_updates.SufficientStatistics,
) -> Array | dict[str, Array]:
  """Computes the M-step of a graph's parameters, as an array or a mapping.

  In continuous time, without negative constants or coefficients, and with
  initial probabilities that have no parameters, the solution is a ratio. Else
  the M-step is a concave problem in few variables, solved on the host.

  Args:
    distribution: a distribution of a graph with `params`.
    statistics: the sufficient statistics of the E-step.

  Returns:
    Parameters (..., d), or a mapping. NaN where a traced graph turns out to
    need the concave problem.

  Raises:
    TypeError: values are traced, and the M-step needs concrete ones.
  """
  graph = distribution.graph
  found: Array
  if needs_host(distribution):
    found = _on_host(distribution, statistics)
  else:
    edges = distribution._model()[1]
    assert operands.is_edges(edges)  # A graph has edges.
    found = rate_updates.edge_parameters(edges, statistics)
    found = np.where(_has_no_ratios(distribution), math.nan, found)
  if not isinstance(distribution.params, Mapping):
    return found
  return {
    name: found[..., c] for c, name in enumerate(graph.parameter_names or ())
  }


def needs_host(distribution: of_graph.OfGraph) -> bool:
  """Returns whether the M-step is known to run on the host."""
  if distribution.params is None:
    return False
  known = static.concrete(_has_no_ratios(distribution))
  return distribution.graph.discrete or (known is not None and bool(known))


def _has_no_ratios(distribution: of_graph.OfGraph) -> Scalar:
  """Returns whether the M-step has no closed form as ratios of statistics."""
  graph = distribution.graph
  found = [graph.constants < 0, graph.coefficients < 0]
  if distribution._parameters["initial_probs"] is None:
    found.append(graph.initial_coefficients != 0)
  flat = [np.reshape(x, (-1,)) for x in found]
  return np.any(np.concatenate(flat, axis=0))


def _on_host(
  distribution: of_graph.OfGraph,
  statistics: rate_updates.SufficientStatistics,
) -> Array:
  """Computes the M-step numerically on the host, for parameters (..., d)."""
  graph, params = distribution.graph, distribution._arrays()["params"]
  free = distribution._parameters["initial_probs"] is not None
  arrays = (
    *(
      params,
      statistics.starts,
      statistics.visits,
      statistics.jumps,
      statistics.stays,
    ),
    *(statistics.atom, graph.sources, graph.constants, graph.coefficients),
    *(graph.initial_constants, graph.initial_coefficients),
  )
  known = [static.concrete(x) for x in arrays]
  if any(x is None for x in known):
    raise TypeError(
      "parameters are traced: the M-step needs concrete values if time is "
      "discrete, if a coefficient is negative or if initial masses depend on "
      "parameters; call it outside jit"
    )
  params, starts, visits, jumps, stays, atom, sources, *weights = (
    onp.asarray(x, onp.int64 if i == 6 else onp.float64)
    for i, x in enumerate(known)
  )
  constants, coefficients, initial_constants, initial_coefficients = weights
  leads = sources[None, :] == onp.arange(graph.num_phases)[:, None]
  leads = onp.asarray(leads, onp.float64)
  batch = onp.shape(starts)[:-1]
  params = onp.broadcast_to(params, (*batch, onp.shape(params)[-1]))
  found = []
  for index in onp.ndindex(*batch):
    counts, linear = [jumps[index]], [(constants, coefficients)]
    costs = onp.zeros(onp.shape(params)[-1])
    if graph.discrete:
      stay = (1.0 - onp.dot(leads, constants), -onp.dot(leads, coefficients))
      counts, linear = [*counts, stays[index]], [*linear, stay]
    else:
      costs = onp.dot(onp.dot(visits[index], leads), coefficients)
    sums = onp.zeros((0, len(costs)))
    if not free:
      counts.append(onp.append(starts[index], atom[index]))
      linear.append((initial_constants, initial_coefficients))
      sums = onp.sum(initial_coefficients, axis=0)[None, :]
    found.append(
      linear_maximum.maximum(
        onp.concatenate(counts),
        onp.concatenate([x for x, _ in linear]),
        onp.concatenate([x for _, x in linear]),
        costs,
        sums,
        params[index],
      )
    )
  solutions = onp.reshape(onp.asarray(found), (*batch, onp.shape(params)[-1]))
  return structures.cast(solutions, static.dtype_name(statistics.starts))
