"""Calls of the native phase-type kernel with tensors.

The kernel runs on the CPU; TensorFlow copies tensors on other devices. Under
`jit_compile=True` the ops are calls of `kernel_calls`. Derivatives in constants
and coefficients of edges do not exist, see `phase_type_op`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import operator
import types
from typing import TypeVar

import tensorflow as tf

from phasic.substrates.tf.internal import array_functions
from phasic.substrates.tf.internal import kernel_common
from phasic.substrates.tf.internal import op_library
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal.arrays import Array, ArrayLike

_T = TypeVar("_T")


class _Kernel(kernel_common.Kernel):
  """The kernel choice for TensorFlow, whose ops are in a separate library."""

  def on_host(self) -> types.ModuleType:
    kernel, reason = kernel_common.load()
    if reason:
      raise RuntimeError(reason)
    return kernel

  def num_threads(self) -> int:
    self.require()
    return op_library.num_threads()

  def set_num_threads(self, count: int) -> None:
    self.require()
    super().set_num_threads(
      count
    )  # This checks `count`, and sets the number of threads of `status`.
    op_library.set_num_threads(operator.index(count))

  def set_work_limit(self, seconds: float | None) -> float:
    self.require()
    limit = super().set_work_limit(seconds)  # This checks `seconds`.
    op_library.set_max_work(limit)
    return limit


KERNEL = _Kernel(op_library.load_error, 25)


@tf.autograph.experimental.do_not_convert
def portable(
  kind: str,
  operands: Sequence[ArrayLike],
  fallback: Callable[..., _T],
  fixed: Sequence[ArrayLike],
) -> _T:
  """Computes a phase-type function by the portable code `fallback`."""
  return fallback(kind, *operands, *_tensors(fixed))


@tf.autograph.experimental.do_not_convert
def forward(
  kind: str,
  groups: Sequence[Sequence[ArrayLike]],
  fallback: Callable[..., object],
  fixed: Sequence[ArrayLike],
  discrete: bool,
) -> Array:
  """Computes the k-th directional derivative of a phase-type function."""
  number, order = kernel_common.KINDS.index(kind), len(groups) - 1
  tensors = [_tensors(group) for group in groups]
  return phase_type_op.forward(
    number, order, tensors, _tensors(fixed), discrete=discrete
  )


@tf.autograph.experimental.do_not_convert
def adjoint(
  kind: str,
  operands: Sequence[ArrayLike],
  cotangent: ArrayLike,
  wanted: Sequence[int],
  fallback: Callable[..., object],
  fixed: Sequence[ArrayLike],
  discrete: bool,
) -> Sequence[Array]:
  """Computes the cotangents of the operands whose indices are in `wanted`."""
  number, indices = kernel_common.KINDS.index(kind), range(len(operands))
  results = phase_type_op.adjoint(
    number,
    1,
    [_tensors(operands)],
    tf.convert_to_tensor(cotangent),
    _tensors(fixed),
    [i in wanted for i in indices],
    discrete,
  )
  return [results[i] for i in wanted]


@tf.autograph.experimental.do_not_convert
def quantiles(
  form: str,
  operands: Sequence[ArrayLike],
  fallback: Callable[..., object],
  edges: Sequence[ArrayLike],
  discrete: bool,
) -> tuple[Array, ...]:
  """Computes `kernel_ops.quantiles` by the kernel, without derivatives."""
  number = kernel_common.FORMS.index(form)
  return phase_type_op.quantiles(
    number, _tensors(operands), _tensors(edges), discrete
  )


@tf.autograph.experimental.do_not_convert
def statistics(
  kind: str,
  operands: Sequence[ArrayLike],
  weights: ArrayLike,
  fallback: Callable[..., object],
  fixed: Sequence[ArrayLike],
) -> Sequence[Array]:
  """Computes expected path statistics by the kernel, without derivatives."""
  number = kernel_common.KINDS.index(kind)
  *operands, weights = _tensors([*operands, weights])
  return phase_type_op.statistics(number, operands, weights, _tensors(fixed))


def _tensors(values: Sequence[ArrayLike]) -> list[tf.Tensor]:
  return [array_functions.asarray(v) for v in values]
