"""Converts the arguments of functions that use elimination to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_rates
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import EdgeArrays, Given, Model, ModelArrays

# Arguments as users give them, before conversion.
Values: TypeAlias = Sequence[Given]


class ChainArguments(NamedTuple):
  """A model's arguments, all with the model's number of batch dimensions.

  Attributes:
    initial: alpha, (..., p).
    rates: S or T, (..., p, p); for edges their parameters, (..., d).
    exits: (..., p), or (..., 0) to derive them, and for edges.
    atom: (..., 1), or (..., 0) to derive it.
    edges: None, or the sources, targets, constants and coefficients, without
      batch dimensions.
  """

  initial: Array
  rates: Array
  exits: Array
  atom: Array
  edges: tuple[Array, Array, Array | None, Array | None] | None


def convert(
  values: Values, discrete: bool, **event_ranks: int
) -> tuple[ChainArguments, tuple[Array, ...], static.Shape, str]:
  """Converts a model and other arrays to one dtype and one batch rank.

  Args:
    values: initial_probs; subgenerator or subtransition, or edges; other
      arrays; exits; prob_zero.
    discrete: whether time is counted in steps.
    **event_ranks: the ranks of the other arrays, by their names, without batch
      dimensions.

  Returns:
    `ChainArguments`; a tuple of the other arrays, with the same number of batch
    dimensions; the common batch shape; the dtype's name.

  Raises:
    TypeError: dtypes differ, or are complex or bool, or edges
      have the wrong class for the time.
    ValueError: shapes do not fit, or there are no phases.
  """
  names = operands_lib.argument_names(discrete, *event_ranks)
  initial, rates, *arrays, exits, atom = operands_lib.convert(
    *values, names=names
  )
  batch = operands_lib.batch_shape((initial, rates, exits, atom))
  for x, (name, rank) in zip(arrays, event_ranks.items(), strict=True):
    batch = _check_argument(name, x, rank, batch, static.shape(initial)[-1])
  size = len(batch)
  padded_arrays = [
    padded(x, rank, size)
    for x, rank in zip(arrays, event_ranks.values(), strict=True)
  ]
  model = _with_rank(size, (initial, rates, exits, atom))
  return model, tuple(padded_arrays), batch, static.dtype_name(initial)


def aligned_arrays(
  model: Model, batch: static.Shape = ()
) -> tuple[ChainArguments, static.Shape, str]:
  """Pads the arrays of a model to the same number of batch dimensions.

  Args:
    model: initial_probs; subgenerator or subtransition, or edges; exits and
      prob_zero, or None for these; as `operands.convert` returns them.
    batch: a shape with which the batch is broadcast.

  Returns:
    `ChainArguments`; the batch shape; the dtype's name.
  """
  batch = static.broadcast_shapes(operands_lib.batch_shape(model), batch)
  return _with_rank(len(batch), model), batch, static.dtype_name(model[0])


def convert_operands(
  operands: ModelArrays, edges: EdgeArrays
) -> ChainArguments:
  """Converts the kernel's operands of models that have the same edges.

  Args:
    operands: the kernel's four operands of a model.
    edges: its arrays of edges.
  """
  initial, rates, exits, atom = operands
  if not edges:
    return ChainArguments(initial, rates, exits, atom, None)
  indices, *values = edges
  indices = np.reshape(indices, static.shape(indices)[-2:])
  # Absent ones have no columns.
  constants, coefficients = (
    np.reshape(x, shape[-rank:]) if shape[-1] != 0 else None
    for x, shape, rank in zip(
      values, map(static.shape, values), (1, 2), strict=True
    )
  )
  edge_arrays = (indices[0], indices[1], constants, coefficients)
  return ChainArguments(initial, rates, exits, atom, edge_arrays)


def dense(model: ChainArguments) -> tuple[Array, Array]:
  """Returns the matrix and the exits of a model, made from edges if it has them.

  The matrix of edges has the edges from a phase to itself on its diagonal.
  """
  if model.edges is None:
    return model.rates, model.exits
  sources, targets, constants, coefficients = model.edges
  edges = edge_rates.EdgeRates(
    sources, targets, model.rates, coefficients, constants
  )
  return edge_rates.dense(static.shape(model.initial)[-1], edges)


def _check_argument(
  name: str, x: Array, rank: int, batch: static.Shape, phases: object
) -> static.Shape:
  """Checks a shape; returns its batch dimensions broadcast with `batch`."""
  shape = static.shape(x)
  if len(shape) < rank:
    raise ValueError(
      f"{name} has shape {shape}: it must have at least {rank} dimensions"
    )
  leading = shape[: len(shape) - rank]
  if rank > 0:
    size = shape[len(leading)]
    known = isinstance(size, int) and isinstance(phases, int)
    if known and size != phases:
      wanted = "(..., p)" if rank == 1 else "(..., p, r)"
      raise ValueError(
        f"{name} has shape {shape}: it must be {wanted} with p = {phases}, as "
        "in initial_probs"
      )
  try:
    return static.broadcast_shapes(leading, batch)
  except ValueError:
    raise ValueError(
      f"{name} has batch shape {leading} and the model {batch}: they do not "
      "broadcast"
    ) from None


def _with_rank(size: int, model: Model) -> ChainArguments:
  """Returns `ChainArguments` with `size` batch dimensions."""
  initial, rates, exits, atom = model
  edges = None
  if isinstance(rates, edge_rates.EDGES):
    edges = (rates.sources, rates.targets, rates.constants, rates.coefficients)
    rates = rates.parameters
  none = np.zeros((*[1] * size, 0), dtype=initial.dtype)
  return ChainArguments(
    padded(initial, 1, size),
    padded(rates, 2 if edges is None else 1, size),
    none if exits is None else padded(exits, 1, size),
    none if atom is None else padded(atom, 0, size)[..., None],
    edges,
  )


def padded(x: Array, event_rank: int, size: int) -> Array:
  """Prepends axes of size one, so that x has `size` batch dimensions."""
  shape = static.shape(x)
  missing = size - (len(shape) - event_rank)
  return np.reshape(x, (*[1] * missing, *shape)) if missing else x
