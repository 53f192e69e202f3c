"""Models in the widest precision, with equal weights of their phases."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Edges, Model, TimedModel
from phasic.math.numeric import array_utils


class WeightedModel(NamedTuple):
  """A model with a weight for each phase.

  Attributes:
    initial: alpha, (..., p), positive somewhere.
    edges: (..., m) rates or probabilities, as functions of their parameters.
    weights: equal ones, (..., p), in the unit of the rates.
    unit: the weight, (...).
    empty: where alpha is zero, (...); None if it is known to be nowhere.
    good: one, or NaN where the mass at zero is invalid, (...); None for ones.
  """

  initial: Array
  edges: Edges
  weights: Array
  unit: Array
  empty: Array | None
  good: Array | None


def make(
  model: Model, times_shape: static.Shape, discrete: bool
) -> WeightedModel:
  """Converts a model to edges in the widest precision, and adds weights.

  Args:
    model: as in `transient`.
    times_shape: a shape with which the batch is broadcast.
    discrete: whether time is discrete.
  """
  initial, edges, atom, good = listed(model, discrete)
  p = static.shape(initial)[-1]
  none = np.all(initial == 0.0, axis=-1)
  empty = None if array_utils.are_true(np.logical_not(none)) else none
  unit = unit_of(edges, discrete)
  batch = operands.batch_shape((initial, edges, None, atom))
  batch = static.broadcast_shapes(batch, times_shape)
  shape = raw_arguments.checked_size((*batch, p))
  weights = np.broadcast_to(unit[..., None], shape)
  return WeightedModel(initial, edges, weights, unit, empty, good)


def unit_of(edges: Edges, discrete: bool) -> Array:
  """Returns the largest rate, one if there is none or in discrete time, (...)."""
  if discrete or static.shape(edges.sources)[-1] == 0:
    return np.ones_like(np.sum(edges.parameters, axis=-1))
  rates = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  largest = np.max(autodiff.stop_gradient(rates), axis=-1)
  return np.where(largest > 0.0, largest, 1.0)


def listed(
  model: Model, discrete: bool
) -> tuple[Array, Edges, Array | None, Array | None]:
  """Converts a model to edges in the widest precision, and checks its masses.

  Args:
    model: as in `transient`.
    discrete: whether time is discrete.

  Returns:
    Initial masses, edges, the mass at zero, None if it is derived, and `good`
    of `WeightedModel`.
  """
  initial, edges, _, atom = model = widened(model, discrete)
  good: Array | None = None
  if isinstance(edges, edge_rates.EDGES):
    edges = edges._replace(
      sources=structures.cast(edges.sources, "int32"),
      targets=structures.cast(edges.targets, "int32"),
    )
  else:
    initial, edges, atom, good = _edges_of_matrix(model, discrete)
  p = static.shape(initial)[-1]
  if atom is None:
    total = np.sum(initial, axis=-1)
    valid = total <= 1.0 + 4 * p * static.finfo_eps(initial)
  else:
    valid = (atom >= 0.0) & (atom <= 1.0)
  return initial, edges, atom, also(good, valid)


def _edges_of_matrix(
  model: Model, discrete: bool
) -> tuple[Array, Edges, Array, Array | None]:
  """Returns initial masses, edges, the mass at zero, and `good` for the rows."""
  arguments, _, dtype = chain_arguments.aligned_arrays(model)
  edge_list = chain_solves.edge_list_of_matrix(
    arguments, discrete, static.finfo_eps(dtype)
  )
  weights, p = edge_list.weights, static.shape(edge_list.initial)[-1]
  kind: type[Edges] = edge_rates.EdgeRates
  if discrete:
    kind = edge_probs.EdgeProbs
    stays = np.reshape(
      edge_list.stay[..., None] * onp.eye(p),
      (*static.shape(edge_list.stay)[:-1], p * p),
    )
    weights = weights + array_utils.joined(stays, np.zeros_like(edge_list.stay))
  edges = kind(edge_list.indices[0], edge_list.indices[1], weights)
  good = (
    None if edge_list.bad is None else also(None, np.logical_not(edge_list.bad))
  )
  return edge_list.initial, edges, edge_list.atom[..., 0], good


def also(good: Array | None, valid: Array) -> Array | None:
  """Returns the factors `good`, with NaN also where `valid` is false."""
  if array_utils.are_true(valid):
    return good
  factors = np.where(valid, 1.0, math.nan)
  return factors if good is None else good * factors


def checked_times(
  model: WeightedModel, times: Array, discrete: bool
) -> tuple[Array, Array | None]:
  """Replaces invalid times, and returns factors that make results there NaN."""
  valid = killed_chains.good_times(times, discrete)
  if not array_utils.are_true(valid):
    times = np.where(valid, times, 0.0)
  return times, also(model.good, valid)


def arguments(model: WeightedModel, initial: Array, times: Array) -> TimedModel:
  """Returns the arguments of the kernel's call."""
  none = np.zeros((), dtype=static.dtype_name(times))
  return initial, model.edges, times, model.weights, none


def leads_to(model: WeightedModel, hidden: Array, later: Array) -> Array:
  """Returns whether hidden phases can have mass.

  The result has shape (...).

  Args:
    model: the model.
    hidden: one for hidden phases, else zero, (..., p).
    later: whether the time is above zero, (...); at zero nothing has moved.
  """
  edges = model.edges
  rates = edge_rates.values(
    edges.parameters, edges.constants, edges.coefficients
  )
  none = np.zeros_like(hidden[..., :1])
  shown = 1.0 - hidden
  begins = np.take(shown, edges.sources, axis=-1)
  ends = np.take(
    np.concatenate([hidden, none], axis=-1), edges.targets, axis=-1
  )
  is_led_to = np.any((rates > 0.0) & (begins * ends > 0.0), axis=-1)
  starts = np.any((model.initial > 0.0) & (hidden > 0.0), axis=-1)
  return (is_led_to & later) | starts


def widened(model: Model, discrete: bool) -> Model:
  """Converts a model's four arguments to the widest available precision.

  Exits, the mass at zero and the tolerances are derived in the given precision:
  so the chain stays the same.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None; as `operands.convert` returns them.
    discrete: whether time is discrete.

  Returns:
    The four arguments, with edges in place of the matrix if the precision was
    lower; NaN for invalid values.
  """
  initial, matrix, exits, atom = model
  wide = static.wide_float()
  if static.dtype_name(initial) == wide:
    return model
  converted, _, _, dtype = chain_arguments.convert(
    (initial, matrix, exits, atom), discrete
  )
  system = chain_solves.derive(converted, discrete, dtype)
  has_stays = discrete and not operands.is_edges(matrix)
  option = killed_chains.Option(discrete, has_stays)
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  good = np.where(system.bad, math.nan, 1.0)
  edges = kind(*killed_chains.edges(option, system))
  return system.initial * good[..., None], edges, None, system.atom
