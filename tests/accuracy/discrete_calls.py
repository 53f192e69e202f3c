"""Calls of the native kernel on discrete chains."""

from typing import Any

import numpy as onp

from tests.accuracy import kernel_calls
from tests.oracle import discrete_oracle as oracle


def inputs(model: oracle.Operands, counts: Any) -> list[onp.ndarray]:
  """The kernel's five operands: absent ones are empty."""
  absent = onp.zeros(0)
  exits, atom = model.exit_probs, model.prob_zero
  return [
    onp.asarray(model.initial_probs, onp.float64),
    onp.asarray(model.transitions, onp.float64),
    absent if exits is None else onp.asarray(exits, onp.float64),
    absent if atom is None else onp.reshape(onp.float64(atom), (1,)),
    onp.ravel(onp.asarray(counts, onp.float64)),
  ]


def _flat(
  model: oracle.Operands, counts: Any, directions: tuple[oracle.Operands, ...]
) -> list[onp.ndarray]:
  arrays = inputs(model, counts)
  zeros = onp.zeros_like(arrays[-1])
  for v in directions:
    arrays += inputs(v, zeros)
  return arrays


def directional(
  kind: str,
  model: oracle.Operands,
  counts: Any,
  directions: tuple[oracle.Operands, ...] = (),
  kinds: Any = None,
) -> onp.ndarray:
  """J_k at each count; `kinds` are numbers, in the place of `kind`."""
  return kernel_calls.module().forward(
    oracle.KINDS.index(kind),
    len(directions),
    _flat(model, counts, directions),
    kinds=_kinds(kinds),
    discrete=True,
  )


def gradient(
  kind: str,
  model: oracle.Operands,
  counts: Any,
  cotangent: Any,
  directions: tuple[oracle.Operands, ...] = (),
  kinds: Any = None,
) -> list[onp.ndarray]:
  """V_{k+1}: flat cotangents of the five operands."""
  arrays = _flat(model, counts, directions)
  arrays.append(onp.asarray(cotangent, onp.float64))
  bars = kernel_calls.module().adjoint(
    oracle.KINDS.index(kind),
    len(directions) + 1,
    arrays,
    kinds=_kinds(kinds),
    discrete=True,
  )
  return [onp.ravel(bar) for bar in bars]


def status(
  kind: str, model: oracle.Operands, counts: Any, kinds: Any = None
) -> list[str]:
  """The messages that belong to the results."""
  module = kernel_calls.module()
  codes = module.status(
    oracle.KINDS.index(kind),
    inputs(model, counts),
    kinds=_kinds(kinds),
    discrete=True,
  )
  return [module.status_message(int(code)) for code in codes]


def _kinds(kinds: Any) -> onp.ndarray | None:
  return None if kinds is None else onp.asarray(kinds, onp.int32)
