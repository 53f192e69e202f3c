"""The native kernel's functions as array functions, or the portable path.

Operands are always five arrays of one dtype, float32 or float64:
initial_probs (..., p), subgenerator (..., p, p), exit_rates (..., p) or
(..., 0) if absent, prob_zero (..., 1) or (..., 0) if absent, times (..., n).
All have the same number of batch dimensions, each 1 or the common size.

With `discrete` the subgenerator is a matrix of transition probabilities,
exit_rates are probabilities of absorption and times are counts of steps.

A sparse model has the parameters of its edges (..., d) in place of the
subgenerator, no exit_rates, and three more arrays, `edges`: indices int32
(..., 2, m), of sources and targets, constants (..., m) or (..., 0) if absent,
coefficients (..., m, d) or (..., m, 0) if absent. Derivatives in constants and
coefficients are refused; `phase_type_op` says how.

Where times differ in their kind there is one array more, `kinds`, int32
(..., n), in place of the one kind: see native/kernel/api/phase_type.h.

The kernel runs on the CPU; TensorFlow copies what lies elsewhere. On a TPU take
the portable path. Which path a `tf.function` takes is fixed when it is traced.
Under `jit_compile=True` the ops are calls of `kernel_calls`.
"""

from collections.abc import Callable, Sequence
import operator
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_common
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import static

KINDS = kernel_common.KINDS


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return phase_type_op.load_error()


class _Kernel(kernel_common.Kernel):
  """The ops are a library of their own, beside the host's."""

  def on_host(self) -> Any:
    kernel, reason = kernel_common.load()
    if reason:
      raise RuntimeError(reason)
    return kernel

  def num_threads(self) -> int:
    self.require()
    return phase_type_op.num_threads()

  def set_num_threads(self, count: int) -> None:
    self.require()
    super().set_num_threads(count)  # Which checks it; `status` runs there.
    phase_type_op.set_num_threads(operator.index(count))


_kernel = _Kernel(unavailable_reason)
path = _kernel.path
path_of_call = _kernel.path_of_call
precision = _kernel.precision
set_path = _kernel.set_path
use_path = _kernel.use_path
status_message = _kernel.status_message
measure_elimination = _kernel.measure_elimination
meets_constraint = _kernel.meets_constraint
model_meets_constraints = _kernel.model_meets_constraints
num_threads = _kernel.num_threads
set_num_threads = _kernel.set_num_threads


@tf.autograph.experimental.do_not_convert
def phase_type(
  kind: str,
  operands: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  kinds: Any = None,
  discrete: bool = False,
) -> Any:
  """Evaluates one of `KINDS` at all times.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    fallback: the portable function, called as
      `fallback(kind, *operands, *edges)`, with `kinds` as the last one if
      there are any.
    edges: the three arrays of a sparse model.
    kinds: a kind for each time, which then has no other; or None.
    discrete: whether the chain goes in steps; `fallback` must fit.

  Returns:
    An array (batch..., n).

  Raises:
    ValueError: shapes or dtypes of the operands do not fit (where only the
      running op can see it, tf.errors.InvalidArgumentError).
  """
  if path_of_call() == "portable":
    return fallback(kind, *operands, *_fixed(edges, kinds))
  return phase_type_op.forward(
    KINDS.index(kind),
    0,
    [_tensors(operands)],
    _fixed(edges, kinds),
    discrete=discrete,
  )


@tf.autograph.experimental.do_not_convert
def statistics(
  kind: str,
  operands: Sequence[Any],
  weights: Any,
  edges: Sequence[Any] = (),
  kinds: Any = None,
) -> tuple[Any, ...]:
  """Returns the expected statistics that `math.expected_statistics` documents.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    weights: (batch..., n), of the times.
    edges: the three arrays of a sparse model.
    kinds: as in `phase_type`.

  Returns:
    starts and sojourns (batch..., p), jumps (batch..., p, p), or (batch..., m)
    of a sparse model, exits (batch..., p) and atom (batch..., 1).

  Raises:
    NotImplementedError: on the portable path, or, eagerly, if a derivative is
      asked for; in a graph that is NaN.
    ValueError: shapes or dtypes of the operands do not fit (where only the
      running op can see it, tf.errors.InvalidArgumentError).
  """
  if path_of_call() == "portable":
    raise NotImplementedError(kernel_common.STATISTICS_NEED_KERNEL)
  return tuple(
    phase_type_op.statistics(
      KINDS.index(kind),
      _tensors(operands),
      tf.convert_to_tensor(weights),
      _fixed(edges, kinds),
    )
  )


def status(
  kind: str,
  operands: Sequence[Any],
  edges: Sequence[Any] = (),
  kinds: Any = None,
  discrete: bool = False,
) -> onp.ndarray:
  """Returns why values are NaN: int32 codes (batch..., n) on the host.

  Raises:
    RuntimeError: the kernel cannot run.
    ValueError: the operands are traced, so there are no values yet.
  """
  given = [*operands, *edges, *([] if kinds is None else [kinds])]
  arrays = [static.concrete(x) for x in given]
  if any(x is None for x in arrays):
    raise ValueError("status needs concrete operands: call it eagerly")
  each = None if kinds is None else arrays.pop()
  count = len(operands)
  return _kernel.status(kind, arrays[:count], arrays[count:], each, discrete)


def _fixed(edges: Sequence[Any], kinds: Any) -> list[tf.Tensor]:
  """What a call has besides operands: see `phase_type_op.forward`."""
  return _tensors([*edges, *([] if kinds is None else [kinds])])


def _tensors(values: Sequence[Any]) -> list[tf.Tensor]:
  return [tf.convert_to_tensor(v) for v in values]
