"""Chains without absorption: their transitions, read from a matrix or edges."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import value_rules
from phasic.math.model.edge_rates import Edges
from phasic.math.model.model_types import Given
from phasic.math.numeric import exact_sums


class Check(NamedTuple):
  """A rule for values of a chain.

  Attributes:
    name: the name of the values.
    values: an array (...).
    good: whether the rule holds for each of them.
    rule: the rule in words.
  """

  name: str
  values: Array
  good: Array
  rule: str


class StateChain(NamedTuple):
  """The transitions of a chain without absorption.

  Attributes:
    sources: the states that transitions leave, int32 (m,), on the host.
    targets: the states that they enter, int32 (m,), on the host. No transition
      leads from a state to itself: such have no effect.
    weights: their rates, or probabilities of a step, (..., m).
    leaving: the sums of the weights that leave the states, (..., p).
    num_states: p.
    good: whether all values are valid, (...).
    checks: the rules of the values.
    dtype: the name of the dtype of the results.
  """

  sources: onp.ndarray
  targets: onp.ndarray
  weights: Array
  leaving: Array
  num_states: int
  good: Array
  checks: tuple[Check, ...]
  dtype: str


def read(generator: Given, discrete: bool) -> StateChain:
  """Converts a matrix or edges; the states of edges count to the last source.

  Args:
    generator: Q, (..., p, p), dense or sparse, or `EdgeRates`; in discrete time
      the transition matrix, or `EdgeProbs`.
    discrete: whether time is counted in steps.

  Raises:
    TypeError: the dtype is complex or bool, edges have the wrong class for the
      time, or their indices are traced.
    ValueError: shapes do not fit, there are no states, or an edge leads to
      absorption.
  """
  if isinstance(generator, edge_rates.EDGES):
    sources = static.concrete(generator.sources)
    last = 0 if sources is None else int(onp.max(sources, initial=0))
    return read_edges("generator", generator, last + 1, discrete)
  if generator is None:
    raise TypeError("generator is None: it must be a matrix or edges")
  entries = structures.sparse_entries(generator, "generator")
  if entries is not None:
    return _read_sparse(*entries, discrete)
  dtype = dtypes.common_dtype({"generator": generator})
  matrix = structures.as_array(generator, dtype, "generator")
  p = _num_states(static.shape(matrix))
  matrix = structures.cast(matrix, static.wide_float())
  with onp.errstate(all="ignore"):
    sums = exact_sums.compensated_sum(matrix)
  rows, columns = onp.divmod(onp.arange(p * p, dtype=onp.int32), p)
  off = np.where(onp.eye(p) > 0, 0.0, matrix)
  largest = np.max(np.abs(matrix), axis=-1)
  checks = (
    _weights_check("generator", off),
    _sums_check(sums, largest, p, dtype, discrete),
  )
  flat = np.reshape(off, (*static.shape(off)[:-2], p * p))
  return _chain(rows, columns, flat, p, checks, dtype)


def read_edges(
  name: str, edges: Edges, num_states: int, discrete: bool
) -> StateChain:
  """Converts edges between a given number of states; errors are as in `read`.

  Args:
    name: what the edges belong to, for messages.
    edges: the edges.
    num_states: p.
    discrete: whether time is counted in steps.
  """
  family = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  if not isinstance(edges, family):
    raise TypeError(
      f"{name} is {type(edges).__name__}: it must be a matrix or "
      f"{family.__name__} where discrete is {discrete}"
    )
  linear = (edges.parameters, edges.coefficients, edges.constants)
  names = ("parameters", "coefficients", "constants")
  dtype = dtypes.common_dtype(dict(zip(names, linear, strict=True)))
  edges = edge_rates.convert(edges, dtype)
  edge_rates.check_range(edges, num_states)
  sources, targets = map(static.concrete, (edges.sources, edges.targets))
  if sources is None or targets is None:
    raise TypeError(
      f"{name} has traced sources or targets: the states that edges join must "
      "be known; pass only the parameters of edges to the compiled function"
    )
  (absorbing,) = onp.nonzero(targets == num_states)
  if len(absorbing):
    raise ValueError(
      f"{name} has {len(absorbing)} edges to absorption, the first is edge "
      f"{absorbing[0]} from state {sources[absorbing[0]]}: in a steady state "
      "nothing is absorbed; lead these edges back to a state, or leave them out"
    )
  parameters = structures.cast(edges.parameters, static.wide_float())
  constants, coefficients = (
    None if x is None else structures.cast(x, static.wide_float())
    for x in (edges.constants, edges.coefficients)
  )
  weights = edge_rates.values(parameters, constants, coefficients)
  checks = [_weights_check("edge_values", weights)]
  if discrete:
    leaving = array_ops.segment_sum(
      np.where(sources == targets, 0.0, weights), sources, num_states
    )
    tolerance = 4 * num_states * static.finfo_eps(dtype)
    checks.append(
      Check(
        "sum of edge_values from state",
        leaving,
        leaving <= 1 + tolerance,
        "probabilities of a state's edges must sum to <= 1 within 4 p eps",
      )
    )
  return _chain(sources, targets, weights, num_states, checks, dtype)


def _read_sparse(
  rows: onp.ndarray,
  columns: onp.ndarray,
  values: Array,
  shape: static.Shape,
  discrete: bool,
) -> StateChain:
  """Converts the entries of a sparse matrix."""
  dtype = dtypes.common_dtype({"generator": values})
  p = _num_states(shape)
  values = structures.cast(values, static.wide_float())
  off = np.where(rows == columns, 0.0, values)
  sums = array_ops.segment_sum(values, rows, p)
  size = array_ops.segment_sum(np.abs(values), rows, p)
  checks = (
    _weights_check("generator's entry", off),
    _sums_check(sums, size, p, dtype, discrete),
  )
  return _chain(rows, columns, off, p, checks, dtype)


def _chain(
  sources: onp.ndarray,
  targets: onp.ndarray,
  weights: Array,
  num_states: int,
  checks: Sequence[Check],
  dtype: str,
) -> StateChain:
  """Returns a chain without loops; checks may have axes after the batch's."""
  (moves,) = onp.nonzero(sources != targets)
  if len(moves) < len(sources):
    sources, targets = sources[moves], targets[moves]
    weights = np.take(weights, moves, axis=-1)
  rank = static.rank(weights) - 1
  leaving = array_ops.segment_sum(weights, sources, num_states)
  good = np.ones_like(leaving[..., 0]) > 0
  for check in checks:
    axes = tuple(range(rank, static.rank(check.good)))
    good = good & np.all(check.good, axis=axes)
  return StateChain(
    onp.asarray(sources, onp.int32),
    onp.asarray(targets, onp.int32),
    weights,
    leaving,
    num_states,
    good,
    tuple(checks),
    dtype,
  )


def _num_states(shape: static.Shape) -> int:
  """Returns the number of states of a matrix; raises if it is not square."""
  p = shape[-1] if len(shape) > 1 else 0
  if shape[-2:] != (p, p) or p == 0:
    raise ValueError(
      f"generator has shape {shape}: it must be (..., p, p) with p > 0"
    )
  return p


def _weights_check(name: str, weights: Array) -> Check:
  """Checks that weights are >= 0 and finite."""
  good = (weights >= 0) & (weights < math.inf)
  return Check(name, weights, good, "it must be >= 0 and finite")


def _sums_check(
  sums: Array, size: Array, p: int, dtype: str, discrete: bool
) -> Check:
  """Checks the row sums of a matrix, given the sizes of its rows."""
  tolerance = 4 * p * static.finfo_eps(dtype)
  name = "row sum of generator"
  if discrete:
    good = np.abs(sums - 1) <= tolerance
    return Check(name, sums, good, "it must be 1 within 4 p eps")
  return Check(
    name,
    sums,
    np.abs(sums) <= tolerance * size,
    "it must be 0 within 4 p eps of the row's largest entry",
  )


def reason(chain: StateChain) -> str:
  """Returns which rule is broken first; "" if none is known to be."""
  for check in chain.checks:
    try:
      value_rules.check(check.name, check.values, check.good, check.rule)
    except ValueError as error:
      return str(error)
  return ""
