"""Finds the steps k at which alpha P^k end is positive, even if it underflows.

A term of a power sequence may be zero because no path has that many steps, as
in a periodic chain, or because it underflowed. Boolean powers distinguish the
two cases.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal.arrays import Array


def find(
  initial: Array, transitions: Array, end: Array, count: int, block: int
) -> Array:
  """Returns which terms alpha P^k end are truly > 0, (..., count * block).

  Sets of states are arrays of zeros and ones. P^B is computed by squaring,
  columns P^i end for i < B by doubling, and rows alpha P^(j B) by a scan.

  Args:
    initial: initial masses (..., m).
    transitions: the matrix (..., m, m), its diagonal too.
    end: end weights (..., m).
    count: the number of blocks, static.
    block: their length B, static and a power of two.
  """
  row, power, end = (_indicator(x) for x in (initial, transitions, end))
  batch = np.zeros_like(power[..., 0]) + np.zeros_like(row * end)
  columns = (end + batch)[..., None]
  for _ in range(block.bit_length() - 1):
    columns = np.concatenate([columns, _product(power, columns)], axis=-1)
    power = _product(power, power)

  def step(state: Array, _: Array) -> tuple[Array, Array]:
    return _product(state[..., None, :], power)[..., 0, :], state

  indices = np.zeros((count,), dtype=batch.dtype)
  _, rows = control_flow.scan(step, row + batch, indices)
  found = _product(np.moveaxis(rows, 0, -2), columns) > 0
  shape = (*static.shape(found)[:-2], count * block)
  return np.reshape(found, shape)


def _indicator(x: Array) -> Array:
  """Returns one where x is positive, else zero."""
  x = autodiff.stop_gradient(x)
  return np.where(x > 0, np.ones_like(x), 0.0)


def _product(a: Array, b: Array) -> Array:
  return _indicator(np.matmul(a, b))
