"""Random choices of first phases, holding times and next phases.

Arrays of phases and of random numbers are (n, number of models); phase p is
absorption.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.sampling import jump_tables
from phasic.math.sampling.jump_tables import JumpTables


def first_phases(uniform: Array, tables: JumpTables) -> Array:
  """Draws first phases from the initial masses and the atom at zero.

  Args:
    uniform: uniform numbers in [0, 1).
    tables: `JumpTables`.
  """
  p = static.shape(tables.scales)[-1]
  starts = np.reshape(tables.starts, (-1,))
  low = _model(tables) * (p + 1)
  low = low + np.zeros_like(structures.cast(uniform, "int32"))
  bits = int(p + 1).bit_length()
  return jump_tables.draw(uniform, starts, low, low + p, bits) - low


def next_phases(uniform: Array, tables: JumpTables, phase: Array) -> Array:
  """Draws the phase after each given phase in [0, p)."""
  m = static.shape(tables.targets)[0]
  model = _model(tables)
  sums = np.reshape(tables.sums, (-1,))
  low = np.take(tables.first, phase, axis=0)
  high = np.maximum(np.take(tables.last, phase, axis=0) - 1, low)
  low, high = low + m * model, high + m * model
  edge = jump_tables.draw(uniform, sums, low, high, tables.depth)
  return np.take(tables.targets, edge - m * model, axis=0)


def holding_times(scales: Array, exponential: Array, discrete: bool) -> Array:
  """Scales exponential numbers to holding times; integers in discrete time.

  Args:
    scales: the scales of the phases; inf if a phase is never left.
    exponential: exponential random numbers of rate one.
    discrete: whether time is counted in steps.
  """
  hold = exponential * scales
  return np.floor(hold) + 1.0 if discrete else hold


def phase_values(values: Array, phase: Array) -> Array:
  """Looks up values (models, p) at each path's phase in [0, p)."""
  models, p = static.shape(values)
  flat = np.reshape(values, (models * p,))
  return np.take(flat, phase + p * _model(values), axis=0)


def _model(x: JumpTables | Array) -> Array:
  """Returns the indices 0, 1, ... of the models."""
  starts = x.starts if isinstance(x, jump_tables.JumpTables) else x
  return structures.cast(np.arange(static.shape(starts)[0]), "int32")
