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
from phasic.internal.tape import modes
from phasic.internal.tape import phase_type as primitives

KINDS = kernel_common.KINDS
_Traced = modes.Traced


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
  if _Traced in map(type, operands):
    call = _call(kind, edges, kinds, discrete)
    return primitives.forward(call, 0, operands)
  return _kernel.on_host().forward(
    KINDS.index(kind),
    0,
    _arrays(operands),
    _edges(edges),
    kinds=kinds,
    discrete=discrete,
  )


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
  if modes.any_traced([*operands, weights]):
    raise NotImplementedError(
      "a derivative of expected statistics was asked for: they have none. Where "
      "they are constants for a derivative, as an E-step is, apply stop_gradient "
      "to the arguments"
    )
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


def _call(
  kind: str, edges: Sequence[Any], kinds: Any, discrete: bool
) -> primitives.Call:
  """The kernel's J and V."""
  kernel = _kernel.on_host()
  number = KINDS.index(kind)
  # Copies: what a derivative is of does not change any more.
  held = [onp.array(modes.without_derivative(x)) for x in edges] or None
  options = {"kinds": modes.without_derivative(kinds), "discrete": discrete}

  def forward(order: int, arrays: Sequence[Any]) -> Any:
    return kernel.forward(number, order, _arrays(arrays), held, **options)

  def adjoint(
    order: int, arrays: Sequence[Any], wanted: Sequence[bool]
  ) -> Sequence[Any]:
    bits = sum(1 << i for i, own in enumerate(wanted) if own)
    return kernel.adjoint(
      number, order, _arrays(arrays), held, wanted=bits, **options
    )

  return primitives.Call(forward, adjoint)


def _arrays(values: Sequence[Any]) -> list[onp.ndarray]:
  return [onp.ascontiguousarray(v) for v in values]


def _edges(edges: Sequence[Any]) -> list[onp.ndarray] | None:
  return _arrays(edges) if edges else None


def _given(kinds: Any) -> tuple[Any, ...]:
  return () if kinds is None else (kinds,)
