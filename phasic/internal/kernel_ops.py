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
coefficients (..., m, d) or (..., m, 0) if absent.

Where times differ in their kind there is one array more, `kinds`, int32
(..., n), in place of the one kind: see native/kernel/phase_type.h.
"""

from collections.abc import Callable, Iterator, Sequence
import contextlib
import functools
import operator
from typing import Any

import numpy as onp

from phasic.internal import static

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


@functools.cache
def _load() -> tuple[Any, str]:
  """Returns the kernel's module and "", or None and why there is none."""
  try:
    from phasic._native import _kernel
  except Exception as error:  # Whatever fails, the portable path works.
    return None, f"the native kernel cannot be loaded: {error}"
  return _kernel, ""


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return _load()[1]


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
    ValueError: shapes or dtypes of the operands do not fit.
  """
  if path() == "portable":
    return fallback(kind, *operands, *edges, *_given(kinds))
  kernel = _load()[0]
  return kernel.forward(
    KINDS.index(kind),
    0,
    _arrays(operands),
    _edges(edges),
    kinds=kinds,
    discrete=discrete,
  )


def phase_type_jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  kinds: Any = None,
  discrete: bool = False,
) -> tuple[Any, Any]:
  """Returns `phase_type` and its derivative along five tangents.

  Raises:
    NotImplementedError: on the portable path, as NumPy has no autodiff.
  """
  _require_kernel("jvp")
  value = phase_type(
    kind, operands, fallback, edges, kinds=kinds, discrete=discrete
  )
  inputs = _arrays(operands) + _arrays(tangents)
  kernel = _load()[0]
  return value, kernel.forward(
    KINDS.index(kind),
    1,
    inputs,
    _edges(edges),
    kinds=kinds,
    discrete=discrete,
  )


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

  Raises:
    NotImplementedError: on the portable path, as NumPy has no autodiff.
  """
  _require_kernel("vjp")
  value = phase_type(
    kind, operands, fallback, edges, kinds=kinds, discrete=discrete
  )
  inputs = _arrays(operands) + _arrays([cotangent])
  kernel = _load()[0]
  mask = sum(1 << i for i, own in enumerate(wanted) if own)
  bars = kernel.adjoint(
    KINDS.index(kind),
    1,
    inputs,
    _edges(edges),
    wanted=mask,
    kinds=kinds,
    discrete=discrete,
  )
  return value, tuple(
    bar if own else None for bar, own in zip(bars, wanted, strict=True)
  )


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
    NotImplementedError: on the portable path.
    ValueError: shapes or dtypes of the operands do not fit.
  """
  if path() == "portable":
    raise NotImplementedError(_STATISTICS_NEED_KERNEL)
  inputs = _arrays(operands) + _arrays([weights])
  kernel = _load()[0]
  return tuple(kernel.statistics(KINDS.index(kind), inputs, _edges(edges)))


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
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  kernel = _load()[0]
  return kernel.status(
    KINDS.index(kind),
    _arrays(operands),
    _edges(edges),
    kinds=kinds,
    discrete=discrete,
  )


def status_message(code: int) -> str:
  """Returns what a code of `status` means; 0 is "ok"."""
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  return _load()[0].status_message(int(code))


def num_threads() -> int:
  """Returns how many threads one call of the kernel may use.

  Raises:
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  return _load()[0].num_threads()


def set_num_threads(count: int) -> None:
  """Sets how many threads one call may use, the calling one included.

  Models of a batch are shared out among them; results do not depend on it, to
  the last bit. At first it is the environment variable PHASIC_NUM_THREADS or
  else the number of processors, at most eight. The
  process has one setting.

  Args:
    count: from 1 to 256; 1 leaves all work to the calling thread.

  Raises:
    TypeError: `count` is not an integer.
    ValueError: `count` is out of range.
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  _load()[0].set_num_threads(operator.index(count))


def _arrays(values: Sequence[Any]) -> list[onp.ndarray]:
  return [onp.ascontiguousarray(v) for v in values]


def _edges(edges: Sequence[Any]) -> list[onp.ndarray] | None:
  return _arrays(edges) if edges else None


def _given(kinds: Any) -> tuple[Any, ...]:
  return () if kinds is None else (kinds,)


def _require_kernel(rule: str) -> None:
  if path() == "portable":
    reason = unavailable_reason() or "the portable path was chosen"
    raise NotImplementedError(
      f"{rule} in NumPy needs the native kernel, as NumPy has no autodiff: "
      f"{reason}"
    )
