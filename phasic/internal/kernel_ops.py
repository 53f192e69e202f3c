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
(..., n), in place of the one kind: see native/kernel/api/phase_type.h.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from phasic.internal import kernel_common

KINDS = kernel_common.KINDS


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return kernel_common.load()[1]


_kernel = kernel_common.Kernel(unavailable_reason)
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
  if path_of_call() == "portable":
    return fallback(kind, *operands, *edges, *_given(kinds))
  kernel = _kernel.on_host()
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
  kernel = _kernel.on_host()
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
  return value, _adjoint(kind, 1, inputs, edges, wanted, kinds, discrete)


def phase_type_hvp(
  kind: str,
  operands: Sequence[Any],
  tangents: Sequence[Any],
  cotangent: Any,
  fallback: Callable[..., Any],
  edges: Sequence[Any] = (),
  wanted: Sequence[bool] = (True,) * 5,
  kinds: Any = None,
  discrete: bool = False,
) -> tuple[Any, ...]:
  """Returns how the cotangents of `phase_type_vjp` change along five tangents.

  It is the Hessian of the sum of cotangent times values, times the tangents.

  Raises:
    NotImplementedError: on the portable path, as NumPy has no autodiff.
  """
  del fallback
  _require_kernel("hvp")
  inputs = _arrays(operands) + _arrays(tangents) + _arrays([cotangent])
  return _adjoint(kind, 2, inputs, edges, wanted, kinds, discrete)


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
    NotImplementedError: on the portable path.
    ValueError: shapes or dtypes of the operands do not fit.
  """
  if path_of_call() == "portable":
    raise NotImplementedError(kernel_common.STATISTICS_NEED_KERNEL)
  inputs = _arrays(operands) + _arrays([weights])
  kernel = _kernel.on_host()
  return tuple(
    kernel.statistics(KINDS.index(kind), inputs, _edges(edges), kinds=kinds)
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
  """
  return _kernel.status(kind, operands, edges, kinds, discrete)


def _adjoint(
  kind: str,
  order: int,
  inputs: list[onp.ndarray],
  edges: Sequence[Any],
  wanted: Sequence[bool],
  kinds: Any,
  discrete: bool,
) -> tuple[Any, ...]:
  """Returns the kernel's V of an order, None where that is not wanted."""
  bars = _kernel.on_host().adjoint(
    KINDS.index(kind),
    order,
    inputs,
    _edges(edges),
    wanted=sum(1 << i for i, own in enumerate(wanted) if own),
    kinds=kinds,
    discrete=discrete,
  )
  return tuple(
    bar if own else None for bar, own in zip(bars, wanted, strict=True)
  )


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
