"""Calls of the native kernel on the oracle's operands."""

import os
from typing import Any

import numpy as onp

from tests.oracle import phase_type_oracle as oracle

try:
  from phasic._native import _kernel
except ImportError:
  if "TEST_SRCDIR" in os.environ:  # Under Bazel the kernel has been built.
    raise
  _kernel = None

UNAVAILABLE = "phasic._native._kernel has not been built; `make test` builds it"


def available() -> bool:
  return _kernel is not None


def module() -> Any:
  """The pybind11 module of the kernel."""
  return _kernel


def kind_code(kind: str) -> int:
  return oracle.KINDS.index(kind)


def inputs(operands: oracle.Operands, dtype: Any = onp.float64) -> list[Any]:
  """The kernel's five operands: absent ones are empty, times are [n]."""

  def array(x, shape):
    return onp.asarray(x, dtype).reshape(shape)

  absent = onp.zeros((0,), dtype)
  p = len(onp.asarray(operands.initial_probs))
  return [
    array(operands.initial_probs, (p,)),
    array(operands.subgenerator, (p, p)),
    absent if operands.exit_rates is None else array(operands.exit_rates, (p,)),
    absent if operands.prob_zero is None else array(operands.prob_zero, (1,)),
    array(operands.time, (-1,)),
  ]


def directional(
  kind: str,
  operands: oracle.Operands,
  directions: tuple[oracle.Operands, ...] = (),
) -> onp.ndarray:
  """J_k at each time: the value without directions. Shape [n]."""
  arrays = inputs(operands)
  for direction in directions:
    arrays += inputs(direction)
  return _kernel.forward(kind_code(kind), len(directions), arrays)


def gradient(
  kind: str,
  operands: oracle.Operands,
  directions: tuple[oracle.Operands, ...] = (),
) -> oracle.Gradient:
  """V_{k+1} with cotangent one: flat derivatives for each operand."""
  arrays = inputs(operands)
  for direction in directions:
    arrays += inputs(direction)
  arrays.append(onp.ones_like(arrays[4]))
  bars = _kernel.adjoint(kind_code(kind), len(directions) + 1, arrays)
  return oracle.Gradient(*(onp.ravel(bar) for bar in bars))


def status(kind: str, arrays: list[Any]) -> list[str]:
  """The messages that belong to the results, [n] flattened."""
  codes = onp.ravel(_kernel.status(kind_code(kind), arrays))
  return [_kernel.status_message(int(code)) for code in codes]
