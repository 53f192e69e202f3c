"""The native kernel's functions as array functions, or the portable path.

Operands are always five arrays of one dtype, float32 or float64:
initial_probs (..., p), subgenerator (..., p, p), exit_rates (..., p) or
(..., 0) if absent, prob_zero (..., 1) or (..., 0) if absent, times (..., n).
All have the same number of batch dimensions, each 1 or the common size.

The kernel runs on CPU. What JAX places elsewhere takes the portable path.
The path is chosen while a function is traced: what `jax.jit` has compiled
keeps the path it was compiled with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import dataclasses
import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import derivatives
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import static

KINDS = (
  "log_density",
  "density",
  "log_survival",
  "survival",
  "log_cdf",
  "cdf",
)
PATHS = ("auto", "kernel", "portable")
_DTYPES = {onp.dtype("float32"), onp.dtype("float64")}

_choice = "auto"


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return ffi_targets.load()[1]


def path() -> str:
  """Returns which path runs now, "kernel" or "portable"."""
  if _choice != "auto":
    return _choice
  if unavailable_reason() or jax.default_backend() != "cpu":
    return "portable"
  return "kernel"


def precision() -> str:
  """Returns the dtype in which values are computed on the path that runs now.

  It is "float64", for float32 operands too, but on the portable path with
  64-bit numbers switched off, which has nothing wider than "float32".
  """
  return "float64" if path() == "kernel" else static.wide_float()


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
  kind: str, operands: Sequence[Any], fallback: Callable[..., Any]
) -> Any:
  """Evaluates one of `KINDS` at all times.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    fallback: the portable function, called as `fallback(kind, *operands)`.

  Returns:
    An array (batch..., n).

  Raises:
    ValueError: shapes of the operands do not fit.
    TypeError: dtypes of the operands do not fit.
    NotImplementedError: a derivative of an order above three is asked for on
      the kernel's path.
  """
  if path() == "portable":
    return fallback(kind, *operands)
  arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in operands]
  dtypes = {x.dtype for x in arrays}
  if len(dtypes) > 1 or not dtypes <= _DTYPES:
    names = [x.dtype.name for x in arrays]
    raise TypeError(
      f"operands have dtypes {names}: all must be float32 or all float64"
    )
  return multilinear.bind(_forward(kind, fallback), arrays)[0]


def phase_type_jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
) -> tuple[Any, Any]:
  """Returns `phase_type` and its derivative along five tangents."""

  def f(*x: Any) -> Any:
    return phase_type(kind, x, fallback)

  return jax.jvp(f, tuple(operands), tuple(tangents))


def phase_type_vjp(
  kind: str,
  operands: Sequence[Any],
  cotangent: Any,
  fallback: Callable[..., Any],
) -> tuple[Any, tuple[Any, ...]]:
  """Returns `phase_type` and the five cotangents of its operands."""

  def f(*x: Any) -> Any:
    return phase_type(kind, x, fallback)

  value, pullback = jax.vjp(f, *operands)
  return value, pullback(cotangent)


def status(kind: str, operands: Sequence[Any]) -> onp.ndarray:
  """Returns why values are NaN: int32 codes (batch..., n) on the host.

  Raises:
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  arrays = [onp.ascontiguousarray(x) for x in operands]
  return ffi_targets.load()[0].status(KINDS.index(kind), arrays)


def status_message(code: int) -> str:
  """Returns what a code of `status` means; 0 is "ok"."""
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  return ffi_targets.load()[0].status_message(int(code))


def num_threads() -> int:
  """Returns how many threads one call of the kernel may use.

  Raises:
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  return ffi_targets.load()[0].num_threads()


def set_num_threads(count: int) -> None:
  """Sets how many threads one call may use, the calling one included.

  Models of a batch are shared out among them; results do not depend on it, to
  the last bit. At first it is the environment variable PHASIC_NUM_THREADS or
  else the number of processors, at most eight. The
  threads are XLA's own, so there are no more of them than it has. The process
  has one setting.

  Args:
    count: from 1 to 256; 1 leaves all work to the calling thread.

  Raises:
    TypeError: `count` is not an integer.
    ValueError: `count` is out of range.
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  ffi_targets.load()[0].set_num_threads(operator.index(count))


@dataclasses.dataclass(frozen=True)
class PhaseTypeFunction(derivatives.NativeFunction):
  """One of `KINDS` with its native derivatives."""

  kind: str
  fallback: Callable[..., Any]

  max_order = 3
  event_ndims = (1, 2, 1, 1, 1)
  forward_target = ffi_targets.FORWARD
  adjoint_target = ffi_targets.ADJOINT

  @property
  def name(self) -> str:  # type: ignore[override]
    return self.kind

  def attributes(self) -> dict[str, Any]:
    return {"kind": onp.int32(KINDS.index(self.kind))}

  def event_shape(self, shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    (p,), matrix, (exits,), (atom,), (n,) = shapes
    fits = tuple(matrix) == (p, p) and exits in (0, p) and atom in (0, 1)
    if not fits or p == 0 or n == 0:
      raise ValueError(
        f"{self.kind}: event shapes are {[tuple(s) for s in shapes]}; they"
        " must be (p,), (p, p), (p,) or (0,), (1,) or (0,), (n,) with p, n > 0"
      )
    return (n,)

  def portable(self, *operands: Any) -> Any:
    return self.fallback(self.kind, *operands)


@functools.cache
def _forward(kind: str, fallback: Callable[..., Any]) -> multilinear.Map:
  return derivatives.Forward(PhaseTypeFunction(kind, fallback), 0)
