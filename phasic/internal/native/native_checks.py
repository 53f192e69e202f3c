"""Checks for tests that a native function writes exactly its outputs.

All substrates share this file: it calls the library's plain function.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as onp

from phasic.internal.native import native_declarations
from phasic.internal.native import native_libraries
from phasic.internal.native import native_shapes

# The number of guard bytes before and after the memory of each output.
_GUARD = 4096
# The op is called twice. The memory of the outputs is filled with the first
# byte before the first call, and with the second byte before the second call.
# An entry of an output was not written if neither call has changed its bytes.
_FILLS = (0x55, 0xAA)


def check(
  function: native_declarations.NativeFunction,
  inputs: Sequence[onp.ndarray],
  options: str,
) -> None:
  """Calls an op twice and checks that it writes its outputs and nothing else.

  Args:
    function: the op.
    inputs: arrays of the declared dtypes, with equal numbers of batch
      dimensions.
    options: the text that the headers read.

  Raises:
    RuntimeError: it fails, writes out of bounds or to inputs, leaves entries of
      an output unwritten, or returns different results the second time.
  """
  declaration = function.declaration
  runs = [_run(function, inputs, options, fill) for fill in _FILLS]
  for operand, first, second in zip(declaration.outputs, *runs, strict=True):
    unwritten = (first == _FILLS[0]) & (second == _FILLS[1])
    entries = onp.all(unwritten, axis=-1)
    if onp.any(entries):
      raise RuntimeError(
        declaration.error(
          f"{int(onp.sum(entries))} of the {entries.size} entries of output "
          f"{operand.name} are not written: the op must write all of them"
        )
      )
    if not onp.array_equal(first, second):
      raise RuntimeError(
        declaration.error(
          f"output {operand.name} differs between two calls with the same "
          "arguments: it is read before it is written, or not deterministic"
        )
      )


def _run(
  function: native_declarations.NativeFunction,
  inputs: Sequence[onp.ndarray],
  options: str,
  fill: int,
) -> list[onp.ndarray]:
  """Calls an op on guarded memory; returns the bytes of each output.

  The bytes have shape (entries, bytes of an entry).
  """
  declaration = function.declaration
  copies = [onp.array(native_libraries.plain(x)) for x in inputs]
  memory, outputs = [], []
  for shape, dtype in native_shapes.output_types(function, copies):
    size = int(onp.prod(shape)) * onp.dtype(dtype).itemsize
    raw = onp.full(size + 2 * _GUARD, fill, onp.uint8)
    memory.append(raw)
    outputs.append(raw[_GUARD : _GUARD + size].view(dtype).reshape(shape))
  problem = native_libraries.run(
    function.library, declaration, copies, outputs, options
  )
  if problem:
    raise RuntimeError(problem)
  for operand, x, copy in zip(declaration.inputs, inputs, copies, strict=True):
    if onp.asarray(x).tobytes() != copy.tobytes():
      raise RuntimeError(
        declaration.error(
          f"input {operand.name} is written to: it must not be changed"
        )
      )
  for operand, raw in zip(declaration.outputs, memory, strict=True):
    outside = onp.concatenate([raw[:_GUARD], raw[raw.size - _GUARD :]])
    if onp.any(outside != fill):
      raise RuntimeError(
        declaration.error(
          f"the native function writes outside of output {operand.name}"
        )
      )
  return [
    raw[_GUARD : raw.size - _GUARD].reshape(x.size, x.dtype.itemsize)
    for raw, x in zip(memory, outputs, strict=True)
  ]
