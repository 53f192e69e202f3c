"""The M-step of a graph's parameters."""

from collections.abc import Mapping
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions.absorption import of_graph
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import Scalar
from phasic.math.maximization import expected_paths
from phasic.math.maximization import linear_maximum
from phasic.math.maximization import ratios


def maximized_params(
  distribution: Any, paths: expected_paths.ExpectedPaths
) -> Array | dict[str, Array]:
  """Returns a graph's parameters, in the form that they were given in.

  In continuous time, where no constant or coefficient is negative and masses
  of starts have no parameters, they are ratios. Else the M-step is a concave
  problem in a few numbers that has no such solution; it is solved on the host.

  Args:
    distribution: one of a graph with `params`.
    paths: of the E-step.

  Returns:
    Parameters (..., d), or a mapping. NaN where a graph that is traced turns
    out to have no ratios.

  Raises:
    TypeError: values are traced, and the M-step needs the host.
  """
  graph = distribution.graph
  found: Array
  if needs_host(distribution):
    found = _on_host(distribution, paths)
  else:
    found = ratios.edge_parameters(distribution._model()[1], paths)
    found = np.where(_has_no_ratios(distribution), math.nan, found)
  if not isinstance(distribution.params, Mapping):
    return found
  return {name: found[..., c] for c, name in enumerate(graph.parameter_names)}


def needs_host(distribution: of_graph.OfGraph) -> bool:
  """Whether the parameters are found on the host, as far as is known."""
  if distribution.params is None:
    return False
  known = static.concrete(_has_no_ratios(distribution))
  return distribution.graph.discrete or (known is not None and bool(known))


def _has_no_ratios(distribution: of_graph.OfGraph) -> Scalar:
  """Whether the M-step is no ratio, in continuous time."""
  graph = distribution.graph
  found = [graph.constants < 0, graph.coefficients < 0]
  if distribution._parameters["initial_probs"] is None:
    found.append(graph.initial_coefficients != 0)
  flat = [np.reshape(x, (-1,)) for x in found]
  return np.any(np.concatenate(flat, axis=0))


def _on_host(
  distribution: of_graph.OfGraph, paths: expected_paths.ExpectedPaths
) -> Array:
  """Returns the likeliest parameters, (..., d)."""
  graph, params = distribution.graph, distribution._arrays()["params"]
  free = distribution._parameters["initial_probs"] is not None
  arrays = (
    *(params, paths.starts, paths.visits, paths.jumps, paths.stays),
    *(paths.atom, graph.sources, graph.constants, graph.coefficients),
    *(graph.initial_constants, graph.initial_coefficients),
  )
  known = [static.concrete(x) for x in arrays]
  if any(x is None for x in known):
    raise TypeError(
      "parameters are traced: the M-step of this graph's parameters (in "
      "discrete time, with negative coefficients, or with masses of starts "
      "that have parameters) needs their values"
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
  whole = onp.reshape(onp.asarray(found), (*batch, onp.shape(params)[-1]))
  return structures.cast(whole, static.dtype_name(paths.starts))
