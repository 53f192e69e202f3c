"""Calls of phasic's native functions in programs compiled with XLA.

Each function replaces the op of its name: it has the op's arguments and its
registered gradient. See `xla_calls`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes

import tensorflow as tf

from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs


def load(path: str) -> None:
  """Registers the FFI handlers of phasic's library with TensorFlow's XLA.

  Raises:
    NotImplementedError: the registration fails.
  """
  symbol = getattr(ctypes.CDLL(path), "PhasicRegisterWithXla", None)  # noqa: TID251  (the wheel's)
  if symbol is None:
    raise NotImplementedError(
      f"jit_compile=True: {path} was built without handlers for XLA. Call "
      "phasic outside of jit_compile=True, or take the portable path: "
      "config.use_path('portable')"
    )
  xla_calls.register(symbol, xla_calls.OURS)


def phase_type_forward(
  operands: Sequence[tf.Tensor],
  fixed: Sequence[tf.Tensor],
  attributes: Mapping[str, int],
) -> tf.Tensor:
  """Computes J_k, the k-th directional derivative, by the kernel."""
  times = _axis(operands, 4, -1)
  batch = _batch([*operands[:5], *fixed], _event_ranks(fixed))
  [result] = _phase_type(
    "forward", operands, fixed, attributes, [(*batch, times)]
  )
  return result


def phase_type_adjoint(
  operands: Sequence[tf.Tensor],
  fixed: Sequence[tf.Tensor],
  attributes: Mapping[str, int],
) -> list[tf.Tensor]:
  """Computes V_k, the pullback of J_k in its last direction, by the kernel.

  Unwanted results are zero.
  """
  ranks = _event_ranks(fixed)
  shapes = [_dims(operands, i) for i in range(5)]
  unwanted = {}
  for i, dims in enumerate(shapes):
    if not attributes["wanted"] >> i & 1:
      unwanted[i] = dims[: len(dims) - ranks[i]] + (0,) * ranks[i]
  return _phase_type("adjoint", operands, fixed, attributes, shapes, unwanted)


def phase_type_statistics(
  operands: Sequence[tf.Tensor],
  fixed: Sequence[tf.Tensor],
  attributes: Mapping[str, int],
) -> list[tf.Tensor]:
  """Computes expected path statistics by the kernel."""
  batch = _batch([*operands[:5], *fixed], _event_ranks(fixed))
  phases = _axis(operands, 0, -1)
  jumps: tuple[xla_programs.Dim, ...] = (phases, phases)
  if len(fixed) >= 3:
    jumps = (_axis([*operands, *fixed], len(operands), -1),)
  events = [(phases,), (phases,), jumps, (phases,), (1,)]
  shapes = [(*batch, *event) for event in events]
  return _phase_type("statistics", operands, fixed, attributes, shapes)


def phase_type_quantiles(
  operands: Sequence[tf.Tensor],
  edges: Sequence[tf.Tensor],
  attributes: Mapping[str, int],
) -> list[tf.Tensor]:
  """Computes quantiles and places by the kernel."""
  batch = _batch([*operands, *edges], _event_ranks(edges))
  shapes = [(*batch, _axis(operands, 4, -1))] * 2
  return _phase_type("quantiles", operands, edges, attributes, shapes)


def eliminate(
  inputs: Sequence[tf.Tensor], transposed: bool, gives_edges: bool
) -> list[tf.Tensor]:
  """Solves the linear systems of chains by the kernel."""
  shapes = [_dims(inputs, 2)]
  if gives_edges:
    shapes.append((*_dims(inputs, 1), _axis(inputs, 2, -1)))
  takes_edges = len(inputs) > 3
  return xla_calls.call(
    "PhasicEliminate",
    {"transposed": transposed, "G": int(gives_edges)},
    inputs,
    [xla_programs.Result(inputs[1].dtype, dims) for dims in shapes],
    "phasic_eliminate",
    f"transposed = {_bool(transposed)}, takes_edges = {_bool(takes_edges)}, "
    f"gives_edges = {_bool(gives_edges)}",
  )


def moments(
  inputs: Sequence[tf.Tensor],
  free: Sequence[int],
  gives_variance: bool,
  gives_gradients: bool,
  options: Mapping[str, float],
) -> list[tf.Tensor]:
  """Computes moments of the absorption time and optionally gradients.

  Gradients are for the inputs with the positions `free`, the initial masses
  last.
  """
  count = 2 if gives_variance else 1
  rank = inputs[free[-1]].shape.rank - 1
  batch = _batch(inputs, [x.shape.rank - rank for x in inputs])
  shapes, gradient_shapes = [batch] * count, []
  if gives_gradients:
    for i in free:
      events = range(rank - inputs[i].shape.rank, 0)
      gradient_shapes.append((*batch, *(_axis(inputs, i, k) for k in events)))
    shapes += gradient_shapes * count
  attributes = {
    "V": count - 1,
    "G": len(free) * count if gives_gradients else 0,
    **options,
  }
  return xla_calls.call(
    "PhasicMoments",
    attributes,
    inputs,
    [xla_programs.Result(inputs[1].dtype, dims) for dims in shapes],
    "phasic_moments",
    f"discrete = {_bool(options['discrete'])}, "
    f"gives_variance = {_bool(gives_variance)}, "
    f"gives_root = {_bool(options['gives_root'])}, "
    f"gives_gradients = {_bool(gives_gradients)}, "
    f"epsilon = {float(options['epsilon'])!r} : f64",
  )


def rule(
  values: Sequence[tf.Tensor], arguments: Sequence[tf.Tensor], name: str
) -> list[tf.Tensor]:
  """Returns the values, with a named derivative rule attached."""
  inputs = [*values, *arguments]
  return xla_calls.identity("PhasicRule", {"rule": name}, inputs, len(values))


def _phase_type(
  function: str,
  operands: Sequence[tf.Tensor],
  fixed: Sequence[tf.Tensor],
  attributes: Mapping[str, int],
  shapes: Sequence[tuple[xla_programs.Dim, ...]],
  unwanted: Mapping[int, tuple[xla_programs.Dim, ...]] | None = None,
) -> list[tf.Tensor]:
  count = len(operands)
  inputs = [*operands, *fixed]
  # The FFI handler takes the fixed operands first.
  order = [*range(count, len(inputs)), *range(count)]
  config = [
    f"kind = {attributes['kind']} : i32",
    f"order = {attributes['order']} : i32",
    "mapped_dims = 0 : i32",
    f"has_edges = {_bool(len(fixed) >= 3)}",
    f"has_kinds = {_bool(len(fixed) % 3 == 1)}",
    f"discrete = {_bool(attributes['discrete'])}",
  ]
  if "wanted" in attributes:
    config.append(f"wanted = {attributes['wanted']} : i32")
  return xla_calls.call(
    f"PhasicPhaseType{function.capitalize()}",
    {"N": count, **attributes},
    inputs,
    [
      xla_programs.Result(operands[0].dtype, dims, (unwanted or {}).get(i))
      for i, dims in enumerate(shapes)
    ],
    f"phasic_phase_type_{function}",
    ", ".join(config),
    order=order,
  )


def _event_ranks(fixed: Sequence[tf.Tensor]) -> tuple[int, ...]:
  """Returns the numbers of event dimensions of all operands."""
  edges = len(fixed) >= 3
  ranks = (1, 1, 1, 1, 1) if edges else (1, 2, 1, 1, 1)
  return ranks + ((2, 1, 2) if edges else ()) + (1,) * (len(fixed) % 3)


def _batch(
  inputs: Sequence[tf.Tensor], ranks: Sequence[int]
) -> tuple[xla_programs.Dim, ...]:
  """Returns the common batch dimensions of the inputs."""
  rank = inputs[0].shape.rank - ranks[0]
  result: list[xla_programs.Dim] = []
  for axis in range(rank):
    sizes = [x.shape[axis] for x in inputs]
    known = [size for size in sizes if size not in (None, 1)]
    if known:
      result.append(int(known[0]))
    elif None in sizes:
      places = [i for i, size in enumerate(sizes) if size is None]
      result.append(tuple((i, axis) for i in places))
    else:
      result.append(1)
  return tuple(result)


def _dims(
  inputs: Sequence[tf.Tensor], position: int
) -> tuple[xla_programs.Dim, ...]:
  rank = inputs[position].shape.rank
  return tuple(_axis(inputs, position, axis - rank) for axis in range(rank))


def _axis(
  inputs: Sequence[tf.Tensor], position: int, axis: int
) -> xla_programs.Dim:
  """Returns the size of an input's axis, where `axis` is negative."""
  shape = inputs[position].shape
  size = shape[axis]
  if size is not None:
    return int(size)
  return ((position, shape.rank + axis),)


def _bool(value: object) -> str:
  return "true" if value else "false"
