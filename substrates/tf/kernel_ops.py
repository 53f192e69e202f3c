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
(..., n), in place of the one kind: see native/kernel/phase_type.h.

The kernel runs on the CPU; TensorFlow copies what lies elsewhere. Under
`tf.function(jit_compile=True)` and on a TPU take the portable path. Which path
a `tf.function` takes is fixed when it is traced.
"""

from collections.abc import Callable, Iterator, Sequence
import contextlib
import operator
from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import gradients
from phasic.substrates.tf.internal import phase_type_op
from phasic.substrates.tf.internal import static

KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)
PATHS = ("auto", "kernel", "portable")
_STATISTICS_NEED_KERNEL = (
  "expected statistics need the native kernel: derivatives of the portable "
  "path hold them only as differences"
)

_choice = "auto"


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return phase_type_op.load_error()


def path() -> str:
  """Returns which path runs now, "kernel" or "portable"."""
  if _choice != "auto":
    return _choice
  return "portable" if unavailable_reason() else "kernel"


def precision() -> str:
  """Returns the dtype in which values are computed on the path that runs now.

  It is "float64" on both paths, for float32 operands too.
  """
  return static.wide_float()


def set_path(choice: str) -> None:
  """Chooses the path: "kernel", "portable", or "auto" (kernel if it can run).

  Raises:
    ValueError: `choice` is none of these.
    RuntimeError: `choice` is "kernel" and it cannot run; the reason is given.
  """
  global _choice
  if choice not in PATHS:
    raise ValueError(f"path is {choice!r}: it must be one of {PATHS}")
  if choice == "kernel" and unavailable_reason():
    raise RuntimeError(unavailable_reason())
  _choice = choice


@contextlib.contextmanager
def use_path(choice: str) -> Iterator[None]:
  """Context manager that chooses the path and restores the earlier choice."""
  before = _choice
  set_path(choice)
  try:
    yield
  finally:
    set_path(before)


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
  if path() == "portable":
    return fallback(kind, *operands, *_fixed(edges, kinds))
  return phase_type_op.forward(
    KINDS.index(kind),
    0,
    [_tensors(operands)],
    _fixed(edges, kinds),
    discrete=discrete,
  )


@tf.autograph.experimental.do_not_convert
def phase_type_jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  kinds: Any = None,
  discrete: bool = False,
) -> tuple[Any, Any]:
  """Returns `phase_type` and its derivative along five tangents."""
  if path() == "portable":
    return gradients.jvp(
      lambda *x: fallback(kind, *x, *_fixed(edges, kinds)),
      _tensors(operands),
      _tensors(tangents),
    )
  value = phase_type(
    kind, operands, fallback, edges, kinds=kinds, discrete=discrete
  )
  groups = [_tensors(operands), _tensors(tangents)]
  return value, phase_type_op.forward(
    KINDS.index(kind),
    1,
    groups,
    _fixed(edges, kinds),
    discrete=discrete,
  )


@tf.autograph.experimental.do_not_convert
def phase_type_vjp(
  kind: str,
  operands: Sequence[Any],
  cotangent: Any,
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  wanted: Sequence[bool] = (True,) * 5,
  kinds: Any = None,
  discrete: bool = False,
) -> tuple[Any, tuple[Any, ...]]:
  """Returns `phase_type` and the cotangents of its operands.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    cotangent: (batch..., n), of the value.
    fallback: as in `phase_type`.
    edges: the three arrays of a sparse model.
    wanted: for each operand whether its cotangent is computed.
    kinds: as in `phase_type`.
    discrete: as in `phase_type`.

  Returns:
    The value and five cotangents, None where they are not wanted.
  """
  if path() == "portable":
    value, pullback = gradients.vjp(
      lambda *x: fallback(kind, *x, *_fixed(edges, kinds)), *_tensors(operands)
    )
    every = pullback(cotangent)
    return value, tuple(
      bar if own else None for bar, own in zip(every, wanted, strict=True)
    )
  value = phase_type(
    kind, operands, fallback, edges, kinds=kinds, discrete=discrete
  )
  bars = phase_type_op.adjoint(
    KINDS.index(kind),
    1,
    [_tensors(operands)],
    tf.convert_to_tensor(cotangent),
    _fixed(edges, kinds),
    wanted,
    discrete=discrete,
  )
  return value, tuple(bars)


@tf.autograph.experimental.do_not_convert
def statistics(
  kind: str,
  operands: Sequence[Any],
  weights: Any,
  edges: Sequence[Any] = (),
) -> tuple[Any, ...]:
  """Returns the expected statistics that `math.expected_statistics` documents.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    weights: (batch..., n), of the times.
    edges: the three arrays of a sparse model.

  Returns:
    starts and sojourns (batch..., p), jumps (batch..., p, p), or (batch..., m)
    of a sparse model, exits (batch..., p) and atom (batch..., 1).

  Raises:
    NotImplementedError: on the portable path, or, eagerly, if a derivative is
      asked for; in a graph that is NaN.
    ValueError: shapes or dtypes of the operands do not fit (where only the
      running op can see it, tf.errors.InvalidArgumentError).
  """
  if path() == "portable":
    raise NotImplementedError(_STATISTICS_NEED_KERNEL)
  return tuple(
    phase_type_op.statistics(
      KINDS.index(kind),
      _tensors(operands),
      tf.convert_to_tensor(weights),
      _tensors(edges),
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
  arrays = [onp.ascontiguousarray(x) for x in arrays]
  each = None if kinds is None else arrays.pop()
  count = len(operands)
  return _host_kernel().status(
    KINDS.index(kind),
    arrays[:count],
    arrays[count:] or None,
    kinds=each,
    discrete=discrete,
  )


def status_message(code: int) -> str:
  """Returns what a code of `status` means; 0 is "ok"."""
  return _host_kernel().status_message(int(code))


def num_threads() -> int:
  """Returns how many threads one call of the kernel may use.

  Raises:
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  return phase_type_op.num_threads()


def set_num_threads(count: int) -> None:
  """Sets how many threads one call may use, the calling one included.

  Models of a batch are shared out among them; results do not depend on it, to
  the last bit. At first it is the environment variable PHASIC_NUM_THREADS or
  else the number of processors, at most eight. The
  process has one setting for its TensorFlow ops.

  Args:
    count: from 1 to 256; 1 leaves all work to the calling thread.

  Raises:
    TypeError: `count` is not an integer.
    ValueError: `count` is out of range.
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  count = operator.index(count)
  # Which checks it; `status` runs there.
  _host_kernel().set_num_threads(count)
  phase_type_op.set_num_threads(count)


def _host_kernel() -> Any:
  """The kernel's Python module, which needs no TensorFlow."""
  try:
    from phasic._native import _kernel
  except Exception as error:
    raise RuntimeError(
      f"the native kernel cannot be loaded: {error}"
    ) from error
  return _kernel


def _fixed(edges: Sequence[Any], kinds: Any) -> list[tf.Tensor]:
  """What a call has besides operands: see `phase_type_op.forward`."""
  return _tensors([*edges, *([] if kinds is None else [kinds])])


def _tensors(values: Sequence[Any]) -> list[tf.Tensor]:
  return [tf.convert_to_tensor(v) for v in values]
