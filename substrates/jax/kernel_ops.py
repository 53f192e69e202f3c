"""The native kernel's functions as array functions, or the portable path.

Operands are always five arrays of one dtype, float32 or float64:
initial_probs (..., p), subgenerator (..., p, p), exit_rates (..., p) or
(..., 0) if absent, prob_zero (..., 1) or (..., 0) if absent, times (..., n).
All have the same number of batch dimensions, each 1 or the common size.

A sparse model has the parameters of its edges (..., d) in place of the
subgenerator, no exit_rates, and three more arrays, `edges`: indices int32
(..., 2, m), of sources and targets, constants (..., m) or (..., 0) if absent,
coefficients (..., m, d) or (..., m, 0) if absent.

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
  kind: str,
  operands: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
) -> Any:
  """Evaluates one of `KINDS` at all times.

  Args:
    kind: one of `KINDS`.
    operands: the five operands.
    fallback: the portable function, called as
      `fallback(kind, *operands, *edges)`.
    edges: the three arrays of a sparse model.

  Returns:
    An array (batch..., n).

  Raises:
    ValueError: shapes of the operands do not fit.
    TypeError: dtypes of the operands do not fit.
    NotImplementedError: a derivative of an order above three is asked for on
      the kernel's path.
  """
  if path() == "portable":
    return fallback(kind, *operands, *edges)
  arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in operands]
  structure = [jnp.asarray(x) for x in edges]
  dtypes = {x.dtype for x in [*arrays, *structure[1:]]}
  if len(dtypes) > 1 or not dtypes <= _DTYPES:
    names = [x.dtype.name for x in arrays]
    raise TypeError(
      f"operands have dtypes {names}: all must be float32 or all float64"
    )
  if structure and structure[0].dtype != onp.int32:
    raise TypeError(f"edges: indices are {structure[0].dtype}: must be int32")
  op = _forward(kind, fallback, bool(structure))
  return multilinear.bind(op, [*structure, *arrays])[0]


def phase_type_jvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
) -> tuple[Any, Any]:
  """Returns `phase_type` and its derivative along five tangents."""

  def f(*x: Any) -> Any:
    return phase_type(kind, x, fallback, edges)

  return jax.jvp(f, tuple(operands), tuple(tangents))


def phase_type_vjp(
  kind: str,
  operands: Sequence[Any],
  cotangent: Any,
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
) -> tuple[Any, tuple[Any, ...]]:
  """Returns `phase_type` and the five cotangents of its operands."""

  def f(*x: Any) -> Any:
    return phase_type(kind, x, fallback, edges)

  value, pullback = jax.vjp(f, *operands)
  return value, pullback(cotangent)


def status(
  kind: str, operands: Sequence[Any], edges: Sequence[Any] = ()
) -> onp.ndarray:
  """Returns why values are NaN: int32 codes (batch..., n) on the host.

  Raises:
    RuntimeError: the kernel cannot run.
  """
  if unavailable_reason():
    raise RuntimeError(unavailable_reason())
  arrays = [onp.ascontiguousarray(x) for x in operands]
  structure = [onp.ascontiguousarray(x) for x in edges]
  kernel = ffi_targets.load()[0]
  return kernel.status(KINDS.index(kind), arrays, structure or None)


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
  has_edges: bool = False

  max_order = 3
  forward_target = ffi_targets.FORWARD
  adjoint_target = ffi_targets.ADJOINT

  @property
  def name(self) -> str:  # type: ignore[override]
    return self.kind

  @property
  def fixed_event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    return (2, 1, 2) if self.has_edges else ()

  @property
  def event_ndims(self) -> tuple[int, ...]:  # type: ignore[override]
    return (1, 1 if self.has_edges else 2, 1, 1, 1)

  def attributes(self) -> dict[str, Any]:
    kind = onp.int32(KINDS.index(self.kind))
    return {"kind": kind, "has_edges": self.has_edges}

  def event_shape(self, shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    *fixed, (p,), rates, (exits,), (atom,), (n,) = shapes
    if self.has_edges:
      (two, m), (constants,), (edges, d) = fixed
      (own,) = rates
      fits = two == 2 and edges == m and constants in (0, m)
      fits = fits and own == (d if d != 0 else m) and exits == 0
    else:
      fits = tuple(rates) == (p, p) and exits in (0, p)
    if not fits or atom not in (0, 1) or p == 0 or n == 0:
      raise ValueError(
        f"{self.kind}: event shapes are {[tuple(s) for s in shapes]}; they"
        " must be (p,), (p, p), (p,) or (0,), (1,) or (0,), (n,) with p, n > 0;"
        " those of edges are (2, m), (m,) or (0,), (m, d) or (m, 0), and then"
        " (p,), (d,) or (m,), (0,), (1,) or (0,), (n,)"
      )
    return (n,)

  def portable(self, *operands: Any) -> Any:
    count = len(self.fixed_event_ndims)
    return self.fallback(self.kind, *operands[count:], *operands[:count])


@functools.cache
def _forward(
  kind: str, fallback: Callable[..., Any], has_edges: bool
) -> multilinear.Map:
  return derivatives.Forward(PhaseTypeFunction(kind, fallback, has_edges), 0)
