"""Distributions whose chain is a graph, and the M-step for its parameters."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import competing_risks
from phasic.distributions.absorption import graph_distribution
from phasic.distributions.base import distribution
from phasic.distributions.base import parameter_properties
from phasic.graphs.core import graph as graph_lib
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, Scalar
from phasic.math.m_step import linear_maximum
from phasic.math.m_step import rate_updates
from phasic.math.model import operands
from phasic.math.model import plausible


class GraphChain(competing_risks.CompetingRisks):
  """The time until absorption of a chain that is given by a graph.

  A subclass puts it before the class whose methods it has as well.
  """

  def __init__(
    self,
    graph: graph_lib.Graph,
    params: ArrayLike | Mapping[str, ArrayLike] | None = None,
    edge_values: ArrayLike | None = None,
    initial_probs: ArrayLike | None = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str | None = None,
  ):
    """Makes a batch of distributions.

    Args:
      graph: the states and what weights are, of the same kind of time.
      params: (..., d), or a mapping of the graph's names to arrays that
        broadcast; None where there are none.
      edge_values: (..., m), weights of the edges in the graph's order, in the
        place of those that are linear in parameters.
      initial_probs: alpha, (..., p), masses of the phases at time zero, in the
        place of the graph's initial weights; the mass at zero is one minus
        their sum.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name; None for the name of its class.

    Raises:
      TypeError: the graph is none or of the other kind of time, dtypes differ,
        or are complex or bool.
      ValueError: a name is unknown or missing, `params` and `edge_values` are
        both given, or shapes do not fit; with `validate_args`, a value breaks
        a rule.
    """
    distribution.Distribution._keep(
      self,
      {
        "graph": graph,
        "params": params,
        "edge_values": edge_values,
        "initial_probs": initial_probs,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": type(self).__name__ if name is None else name,
      },
    )
    self._check_graph(graph, self._parameters["initial_probs"])
    self._check_shapes()
    self._check_values(self._model)

  def _check_shapes(self) -> None:
    self._chain()

  def _is_surely_valid(self) -> bool:
    if self._kept is None:
      return False
    return plausible.is_surely_model(self._chain(), self._DISCRETE)

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return self.graph.num_phases

  def _batch_shape(self) -> static.Shape:
    if self._kept is not None:
      return operands.batch_shape(self._chain())
    properties = self.parameter_properties()
    shapes = parameter_properties.batch_shapes(properties, self._arrays())
    return static.broadcast_shapes(*shapes)

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    arrays = self._arrays()
    changed: dict[str, Array | dict[str, Array]] = {}
    if arrays["initial_probs"] is not None:
      changed["initial_probs"] = rate_updates.updated(
        statistics.starts, statistics.total[..., None], arrays["initial_probs"]
      )
    if arrays["edge_values"] is not None:
      rule = (
        rate_updates.edge_probs
        if self._DISCRETE
        else rate_updates.edge_parameters
      )
      edges = self._model()[1]
      assert operands.is_edges(edges)
      changed["edge_values"] = rule(edges, statistics)
    elif arrays["params"] is not None:
      changed["params"] = m_step(self, statistics)
    return self.copy(**changed)

  def _m_step_on_host(self) -> bool:
    return needs_host(self)


def m_step(
  distribution: graph_distribution.GraphDistribution,
  statistics: rate_updates.SufficientStatistics,
) -> Array | dict[str, Array]:
  """Computes the M-step: the graph's new parameters, as an array or a mapping.

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
  params: Array
  if needs_host(distribution):
    params = _on_host(distribution, statistics)
  else:
    edges = distribution._model()[1]
    assert operands.is_edges(edges)  # A graph has edges.
    params = rate_updates.edge_parameters(edges, statistics)
    params = np.where(_has_no_ratios(distribution), math.nan, params)
  if not isinstance(distribution.params, Mapping):
    return params
  return {
    name: params[..., c] for c, name in enumerate(graph.parameter_names or ())
  }


def needs_host(distribution: graph_distribution.GraphDistribution) -> bool:
  """Returns True if the M-step surely runs on the host."""
  if distribution.params is None:
    return False
  known = static.concrete(_has_no_ratios(distribution))
  return distribution.graph.discrete or (known is not None and bool(known))


def _has_no_ratios(
  distribution: graph_distribution.GraphDistribution,
) -> Scalar:
  """Returns whether the M-step has no closed form as ratios of statistics."""
  graph = distribution.graph
  broken = [graph.constants < 0, graph.coefficients < 0]
  if distribution._parameters["initial_probs"] is None:
    broken.append(graph.initial_coefficients != 0)
  flat = [np.reshape(x, (-1,)) for x in broken]
  return np.any(np.concatenate(flat, axis=0))


def _on_host(
  distribution: graph_distribution.GraphDistribution,
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
  rows = []
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
    rows.append(
      linear_maximum.maximum(
        onp.concatenate(counts),
        onp.concatenate([x for x, _ in linear]),
        onp.concatenate([x for _, x in linear]),
        costs,
        sums,
        params[index],
      )
    )
  solutions = onp.reshape(onp.asarray(rows), (*batch, onp.shape(params)[-1]))
  return structures.cast(solutions, static.dtype_name(statistics.starts))
