"""Converts a graph and its parameters to arguments of `phasic.math`."""

from __future__ import annotations

from typing import Any

from phasic.graphs.core import graph as graph_lib
from phasic.graphs.parts.parameters import ParamsLike
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model.model_types import Edges


def chain_arrays(
  graph: graph_lib.Graph,
  params: ParamsLike | None,
  edge_values: ArrayLike | None,
  initial_probs: ArrayLike | None,
  dtype: str,
) -> tuple[Array, Edges, None, Any]:
  """Returns the four arguments that describe a chain in `phasic.math`.

  They are the initial probabilities, the edges, None for the exits, and the
  atom at zero or None.

  Args:
    graph: the graph.
    params: its parameters (..., d) or None.
    edge_values: weights of the edges (..., m) in their place, or None.
    initial_probs: masses (..., p) in the place of the graph's initial weights,
      or None. Where they are given the mass at zero is None, to be derived.
    dtype: of the results.
  """
  edges = graph.edge_weights(params, edge_values)
  linear = (edges.parameters, edges.coefficients, edges.constants)
  parameters, coefficients, constants = (
    None if x is None else structures.cast(x, dtype) for x in linear
  )
  edges = edges._replace(
    parameters=parameters, coefficients=coefficients, constants=constants
  )
  prob_zero = None
  if initial_probs is None:
    initial_probs = graph.initial_probs(params)
    prob_zero = structures.cast(graph.prob_zero(params), dtype)
  return structures.cast(initial_probs, dtype), edges, None, prob_zero
