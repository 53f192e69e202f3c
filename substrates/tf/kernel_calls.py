"""Calls of phasic's native functions.

A call is an op or, in programs that TensorFlow compiles with XLA, an FFI
handler with the op's arguments and its registered gradient; see `xla_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from phasic.substrates.tf.internal import op_library
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal import xla_programs


def call(
  name: str,
  inputs: Mapping[str, tf.Tensor | Sequence[tf.Tensor]],
  attributes: Mapping[str, float],
  config: Mapping[str, float],
  results: Callable[[list[tf.Tensor]], Sequence[xla_programs.Result]],
  num_fixed: int = 0,
) -> list[tf.Tensor]:
  """Calls a native function.

  Args:
    name: its name; the op has the prefix `phasic_`, and so has the handler.
    inputs: the inputs of the op by name; lists may be empty.
    attributes: the attributes of the op, without the lengths of its inputs.
    config: the attributes of the handler: booleans, int32 and float64.
    results: returns the types of the results, given the inputs in one list.
    num_fixed: how many inputs, the last ones, the handler takes first.
  """
  if not op_library.in_xla():
    op = getattr(op_library.native_ops(), f"phasic_{name}")
    outputs = tf.nest.flatten(op(**inputs, **attributes))
    if tf.executing_eagerly():
      return outputs
    arrays = tf.nest.flatten([*inputs.values()])
    if all(x.shape.rank is not None for x in arrays):
      for x, result in zip(outputs, results(arrays), strict=True):
        x.set_shape(xla_programs.known(result.dims))
    return outputs
  arrays = tf.nest.flatten([*inputs.values()])
  operands = inputs.get("inputs")
  lengths = {} if operands is None else {"N": len(operands)}
  count = len(arrays) - num_fixed
  return xla_calls.call(
    "Phasic" + name.title().replace("_", ""),
    {**lengths, **attributes},
    arrays,
    results(arrays),
    f"phasic_{name}",
    ", ".join(f"{key} = {_literal(x)}" for key, x in config.items()),
    order=[*range(count, len(arrays)), *range(count)],
  )


def batch_dims(
  inputs: Sequence[tf.Tensor], event_ranks: Mapping[int, int]
) -> tuple[xla_programs.Dim, ...]:
  """Returns the common batch dimensions of inputs.

  Args:
    inputs: the inputs.
    event_ranks: the numbers of event dimensions by position, from position 0
      on; inputs at other positions are left out.
  """
  rank = inputs[0].shape.rank - event_ranks[0]
  result: list[xla_programs.Dim] = []
  for axis in range(rank):
    sizes = {i: inputs[i].shape[axis] for i in event_ranks}
    known = [size for size in sizes.values() if size not in (None, 1)]
    if known:
      result.append(int(known[0]))
    elif None in sizes.values():
      result.append(tuple((i, axis) for i, n in sizes.items() if n is None))
    else:
      result.append(1)
  return tuple(result)


def _literal(value: float) -> str:
  """Returns an attribute in MLIR's syntax."""
  if isinstance(value, bool):
    return "true" if value else "false"
  return (
    f"{value} : i32" if isinstance(value, int) else f"{float(value)!r} : f64"
  )
