"""Lays out a model and times of any batch shapes as the kernel's operands.

The kernel shares one power sequence among the times on the last axis. So
dimensions of the times that the model lacks, or has with size 1, are moved to
the last axis. The remaining ones are batch dimensions of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
from typing import NamedTuple, TypeGuard

import numpy as np

from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Tree
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import sparse_matrices
from phasic.math.model.model_types import (
  Edges,
  Given,
  Matrix,
  Model,
  TimedModel,
)
from phasic.math.numeric import array_utils

# This maps the name of a matrix to the class of edges that may replace it.
EDGES: dict[str, type[Edges]] = {
  "subgenerator": edge_rates.EdgeRates,
  "subtransition": edge_probs.EdgeProbs,
}


def argument_names(discrete: bool, *others: str) -> tuple[str, ...]:
  """Returns the argument names of functions of a model.

  Args:
    discrete: whether time is discrete.
    *others: the names of other arguments, which come after the matrix.
  """
  if discrete:
    return "initial_probs", "subtransition", *others, "exit_probs", "prob_zero"
  return "initial_probs", "subgenerator", *others, "exit_rates", "prob_zero"


# The argument names of functions of one time.
ARGUMENTS = argument_names(False, "value")


class Layout(NamedTuple):
  """The mapping from the shapes of arguments to the shapes of kernel operands.

  Attributes:
    batch: the model's batch shape.
    kept: the axes of `batch` that stay batch dimensions of the operands.
    times_shape: the shape of the times, padded to the model's rank.
    full: the shape of the result.
    axes: the result's axes that are kept, and the axes of the times alone.
    is_flat: whether results and times, if these have the model's rank, are laid
      out as they are: batch dimensions, then one of the times.
  """

  batch: static.Shape
  kept: tuple[int, ...]
  times_shape: static.Shape
  full: static.Shape
  axes: tuple[tuple[int, ...], tuple[int, ...]]
  is_flat: bool


def convert(
  *values: Given, names: Sequence[str] = ARGUMENTS
) -> tuple[Tree, ...]:
  """Converts the arguments to arrays of their common dtype, except None.

  Args:
    *values: the arguments; `subgenerator` may be EdgeRates, in discrete time
      EdgeProbs, or a sparse matrix, which becomes these.
    names: their names, see `argument_names`.

  Raises:
    TypeError: dtypes differ, or are complex or bool, edges
      have the wrong class for the time, or a required argument is None.
    ValueError: shapes do not fit, or an edge's index is out of range.
  """
  by_name = dict(zip(names, values, strict=True))
  by_name[names[1]], by_name[names[-2]] = sparse_matrices.as_edges(
    names[1], by_name[names[1]], by_name[names[-2]], names[1] == "subtransition"
  )
  for name in names[:-2]:
    if by_name[name] is None:
      raise TypeError(f"{name} is None: it must be an array")
  for name, x in by_name.items():
    if name != names[1] and is_edges(x):
      raise TypeError(
        f"{name} is {type(x).__name__}: it must be an array; pass edges as "
        f"the argument {names[1]}"
      )
  subgenerator = by_name[names[1]]
  if isinstance(subgenerator, edge_rates.EDGES):
    if not isinstance(subgenerator, EDGES[names[1]]):
      raise TypeError(
        f"{names[1]} is {type(subgenerator).__name__}: it must be an array or "
        f"{EDGES[names[1]].__name__}"
      )
    by_name[names[1]] = subgenerator.parameters
    edges = {
      "coefficients": subgenerator.coefficients,
      "constants": subgenerator.constants,
    }
    dtype = _dtype({**by_name, **edges}, names)
  else:
    dtype = _dtype(by_name, names)
  arrays: dict[str, Tree] = {
    name: None if x is None else structures.as_array(x, dtype, name)
    for name, x in by_name.items()
  }
  if isinstance(subgenerator, edge_rates.EDGES):
    arrays[names[1]] = edge_rates.convert(subgenerator, dtype)
  check_shapes(
    arrays[names[0]],
    arrays[names[1]],
    arrays[names[-2]],
    arrays[names[-1]],
    names,
  )
  return tuple(arrays[name] for name in names)


def _dtype(arguments: Mapping[str, object], names: Sequence[str]) -> str:
  """Returns the common dtype of a model and values, see `dtypes.is_narrower`."""
  values = names[2:-2]
  if any(getattr(arguments[x], "dtype", None) is not None for x in values):
    model_dtype = dtypes.common_dtype(
      {k: x for k, x in arguments.items() if k not in values}
    )
    narrow = [
      x for x in values if dtypes.is_narrower(arguments[x], x, model_dtype)
    ]
    arguments = {k: x for k, x in arguments.items() if k not in narrow}
  return dtypes.common_dtype(arguments)


def is_edges(x: object) -> TypeGuard[Edges]:
  """Returns whether `x` is EdgeRates or EdgeProbs."""
  return isinstance(x, tuple(EDGES.values()))


def batch_shape(model: Model) -> static.Shape:
  """Returns the batch shape of a model as `convert` returns it."""
  initial, rates, exits, atom = model
  rates_and_rank = (
    (rates.parameters, 1) if isinstance(rates, edge_rates.EDGES) else (rates, 2)
  )
  return static.broadcast_shapes(
    batch_of(initial, 1),
    batch_of(*rates_and_rank),
    batch_of(exits, 1),
    batch_of(atom, 0),
  )


def check_shapes(
  initial_probs: Array,
  subgenerator: Matrix,
  exit_rates: Array | None,
  prob_zero: Array | None,
  names: Sequence[str] = ARGUMENTS,
) -> static.Shape:
  """Checks the shapes of a model; raises ValueError if they do not fit.

  Returns:
    The model's batch shape.
  """
  alpha = static.shape(initial_probs)
  if len(alpha) < 1:
    raise ValueError(f"{names[0]} is a scalar: it must have shape (..., p)")
  _check_phases(names[0], alpha)
  if is_edges(subgenerator):
    if exit_rates is not None:
      raise ValueError(
        f"{names[-2]} is given: it must be None, since the edges to absorption "
        "are the exits"
      )
    if isinstance(alpha[-1], int):
      edge_rates.check_range(subgenerator, alpha[-1])
    batches = [
      (names[0], alpha[:-1]),
      ("parameters", static.shape(subgenerator.parameters)[:-1]),
    ]
  else:
    batches = _check_dense(alpha, subgenerator, exit_rates, names)
  if prob_zero is not None:
    batches.append(("prob_zero", static.shape(prob_zero)))
  try:
    return static.broadcast_shapes(*(shape for _, shape in batches))
  except ValueError:
    listed = ", ".join(f"{name} {shape}" for name, shape in batches)
    raise ValueError(f"batch shapes do not broadcast: {listed}") from None


def _check_dense(
  alpha: static.Shape,
  subgenerator: Matrix,
  exit_rates: Array | None,
  names: Sequence[str],
) -> list[tuple[str, static.Shape]]:
  """Checks shapes of a dense model; returns argument names and batch shapes."""
  matrix = static.shape(subgenerator)
  name, exit_name = names[1], names[-2]
  if len(matrix) < 2 or _differ(matrix[-1], matrix[-2]):
    raise ValueError(
      f"{name} has shape {matrix}: it must be square, (..., p, p)"
    )
  _check_phases(name, matrix)
  if _differ(alpha[-1], matrix[-1]):
    raise ValueError(
      f"{names[0]} has shape {alpha} and {name} {matrix}: the number "
      "of phases p must agree in (..., p) and (..., p, p)"
    )
  batches = [(names[0], alpha[:-1]), (name, matrix[:-2])]
  if exit_rates is not None:
    exits = static.shape(exit_rates)
    if len(exits) < 1 or _differ(exits[-1], alpha[-1]):
      raise ValueError(
        f"{exit_name} has shape {exits}: it must be (..., p) with p = "
        f"{alpha[-1]}, as in {names[0]}"
      )
    batches.append((exit_name, exits[:-1]))
  return batches


def _check_phases(name: str, shape: static.Shape) -> None:
  """Raises ValueError for an array (..., p) if there are no phases."""
  d = shape[-1]
  if isinstance(d, int) and d == 0:
    raise ValueError(
      f"{name} has shape {shape}: the number of phases p, its last dimension, "
      "must be at least 1"
    )


def canonical(
  arguments: TimedModel, names: Sequence[str] = ARGUMENTS
) -> tuple[tuple[Array, ...], Layout]:
  """Returns the kernel's five operands of a model and times, and their layout.

  Args:
    arguments: initial_probs, subgenerator, times, exit_rates, prob_zero, as
      `convert` returns them.
    names: their names.

  Raises:
    ValueError: the times do not broadcast with the model.
  """
  initial_probs, subgenerator, times, exit_rates, prob_zero = arguments
  if isinstance(subgenerator, edge_rates.EDGES):
    rates = (subgenerator.parameters, 1)
  else:
    rates = (subgenerator, 2)
  model = ((initial_probs, 1), rates, (exit_rates, 1), (prob_zero, 0))
  batches = [batch_of(x, rank) for x, rank in model]
  times_shape = static.shape(times)
  sizes = (*batches[0], *batches[1], *batches[2], *batches[3], *times_shape)
  # Sizes that are not known may have no hash, so they cannot be keys of a
  # cache.
  find = _kept_layout if {*map(type, sizes)} <= {int} else _find_layout
  layout = find(tuple(batches), times_shape, names[2])
  none = (*[1] * len(layout.kept), 0)
  operands = [
    structures.empty(none, initial_probs)
    if x is None
    else _model_operand(layout, x, rank)
    for x, rank in model
  ]
  return (*operands, times_operand(layout, times)), layout


def batch_of(x: Array | None, event_rank: int) -> static.Shape:
  """Returns the batch dimensions of an array; () for None."""
  if x is None:
    return ()
  shape = static.shape(x)
  return shape[: len(shape) - event_rank]


def _find_layout(
  batches: tuple[static.Shape, ...], times_shape: static.Shape, name: str
) -> Layout:
  """Returns the layout for batch shapes of a model, and times of a name."""
  batch = static.broadcast_shapes(*batches)
  try:
    full = static.broadcast_shapes(times_shape, batch)
  except ValueError:
    raise ValueError(
      f"{name} has shape {times_shape} and the model has batch shape "
      f"{batch}: they do not broadcast"
    ) from None
  missing = max(0, len(batch) - len(times_shape))
  padded = (1,) * missing + times_shape
  kept = tuple(i for i, d in enumerate(batch) if not _is_one(d))
  model_axes = tuple(len(padded) - len(batch) + i for i in kept)
  time_axes = tuple(i for i in range(len(padded)) if i not in model_axes)
  is_flat = len(time_axes) == 1 and model_axes + time_axes == tuple(
    range(len(padded))
  )
  return Layout(batch, kept, padded, full, (model_axes, time_axes), is_flat)


_kept_layout = functools.lru_cache(maxsize=256)(_find_layout)


def constants(model: Model) -> Model:
  """Returns a model's four arguments with derivatives stopped."""
  initial_probs, rates, exits, prob_zero = model
  fixed = autodiff.stop_gradient
  return (
    fixed(initial_probs),
    rates._replace(parameters=fixed(rates.parameters))
    if is_edges(rates)
    else fixed(rates),
    None if exits is None else fixed(exits),
    None if prob_zero is None else fixed(prob_zero),
  )


def edges(layout: Layout, arguments: TimedModel) -> tuple[Array, ...]:
  """Returns the edges as arrays for the kernel; () for a dense model."""
  rates = arguments[1]
  if not is_edges(rates):
    return ()
  return edge_rates.arrays(rates, len(layout.kept))


def _model_operand(layout: Layout, x: Array, event_rank: int) -> Array:
  """Lays out an array of a model as the kernel's operand."""
  if event_rank and not layout.batch:
    return x
  shape = static.shape(x)
  batch, event = shape[: len(shape) - event_rank], shape[-event_rank:]
  event = event if event_rank else (1,)
  batch = (1,) * (len(layout.batch) - len(batch)) + tuple(batch)
  return np.reshape(x, (*(batch[i] for i in layout.kept), *event))


def times_operand(layout: Layout, times: Array) -> Array:
  """Lays out times as the kernel's operand."""
  return _to_last_axis(layout, times, layout.times_shape)


def result(layout: Layout, x: Array) -> Array:
  """Reshapes the kernel's result to the shape of times and model."""
  if layout.is_flat:
    return x
  kept, time_axes = layout.axes
  order = kept + time_axes
  x = np.reshape(x, tuple(layout.full[i] for i in order))
  return _transposed(x, tuple(order.index(i) for i in range(len(order))))


def cotangent(layout: Layout, x: Array, name: str) -> Array:
  """Lays out a cotangent of the result as the kernel's operand.

  Raises:
    ValueError: it does not broadcast to the shape of the result.
  """
  shape, full = static.shape(x), layout.full
  missing = len(full) - len(shape)
  fits = missing >= 0 and not any(
    _differ(a, b) and not _is_one(a)
    for a, b in zip(shape, full[missing:], strict=True)
  )
  if not fits:
    raise ValueError(
      f"{name} has shape {shape}: it must broadcast to shape {tuple(full)}"
    )
  return _to_last_axis(layout, np.broadcast_to(x, full), full)


def rows(layout: Layout, x: Array) -> Array:
  """Reshapes a kernel result with a row for each model to the batch shape."""
  event = static.shape(x)[len(layout.kept) :]
  return np.reshape(x, (*layout.batch, *event))


def summed(x: Array, shape: static.Shape) -> Array:
  """Sums over the dimensions that broadcasting added to an array."""
  full = static.shape(x)
  extra = len(full) - len(shape)
  padded = (1,) * extra + tuple(shape)
  for axis in range(len(full) - 1, -1, -1):
    if _is_one(padded[axis]) and not _is_one(full[axis]):
      x = np.sum(x, axis=axis)
  return np.reshape(x, shape)


def _to_last_axis(layout: Layout, x: Array, shape: static.Shape) -> Array:
  """Moves the axes of the times to the end and flattens them."""
  if layout.is_flat and static.rank(x) == len(shape):
    return x
  kept, time_axes = layout.axes
  x = _transposed(np.reshape(x, shape), kept + time_axes)
  return array_utils.merged(x, len(time_axes))


def _transposed(x: Array, order: tuple[int, ...]) -> Array:
  return x if list(order) == sorted(order) else np.transpose(x, order)


def _is_one(d: object) -> bool:
  return isinstance(d, int) and d == 1


def _differ(a: object, b: object) -> bool:
  return isinstance(a, int) and isinstance(b, int) and a != b
