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

The kernel runs on CPU. What JAX places elsewhere takes the portable path.
The path is chosen while a function is traced: what `jax.jit` has compiled
keeps the path it was compiled with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import derivatives
from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_common
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import phase_type_function
from phasic.substrates.jax.internal import statistics_map

KINDS = kernel_common.KINDS
_DTYPES = {onp.dtype("float32"), onp.dtype("float64")}


def unavailable_reason() -> str:
  """Returns why the kernel cannot run, "" if it can."""
  return ffi_targets.load()[1]


_kernel = kernel_common.Kernel(
  unavailable_reason, lambda: jax.default_backend() == "cpu"
)
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
    ValueError: shapes of the operands do not fit.
    TypeError: dtypes of the operands do not fit.
    NotImplementedError: a derivative of an order above three is asked for on
      the kernel's path.
  """
  if path_of_call() == "portable":
    return fallback(kind, *operands, *edges, *_given(kinds))
  structure, arrays = _checked(operands, edges)
  each = _checked_kinds(kinds)
  op = _forward(kind, fallback, bool(structure), bool(each), discrete)
  return multilinear.bind(op, [*structure, *each, *arrays])[0]


def _checked(
  operands: Sequence[Any], edges: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
  """Arrays of the edges and of the operands, whose dtypes fit."""
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
  return structure, arrays


def _checked_kinds(kinds: Any) -> list[Any]:
  """The array of kinds, or nothing."""
  each = [jnp.asarray(x) for x in _given(kinds)]
  if each and each[0].dtype != onp.int32:
    raise TypeError(f"kinds are {each[0].dtype}: must be int32")
  return each


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
    NotImplementedError: on the portable path, or a derivative is asked for.
    ValueError: shapes of the operands do not fit.
    TypeError: dtypes of the operands do not fit.
  """
  if path_of_call() == "portable":
    raise NotImplementedError(kernel_common.STATISTICS_NEED_KERNEL)
  structure, arrays = _checked(operands, edges)
  each = _checked_kinds(kinds)
  function = phase_type_function.PhaseTypeFunction(
    kind, None, bool(structure), bool(each)
  )
  op = statistics_map.Statistics(function, 1)
  weights = jnp.asarray(weights, arrays[0].dtype)
  return tuple(multilinear.bind(op, [*structure, *each, *arrays], [[weights]]))


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


@functools.cache
def _forward(
  kind: str,
  fallback: Callable[..., Any],
  has_edges: bool,
  has_kinds: bool,
  discrete: bool,
) -> multilinear.Map:
  function = phase_type_function.PhaseTypeFunction(
    kind, fallback, has_edges, has_kinds, discrete
  )
  return derivatives.Forward(function, 0)


def _given(kinds: Any) -> tuple[Any, ...]:
  return () if kinds is None else (kinds,)
