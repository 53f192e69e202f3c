"""The portable path of `kernel_ops.quantiles`."""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal.arrays import Array
from phasic.math.quantiles import quantiles_counts
from phasic.math.quantiles import quantiles_limits
from phasic.math.quantiles import quantiles_search
from phasic.math.quantiles import quantiles_targets

# The number of the kernel's operands: a model's four, and times.
_NUM_OPERANDS = 5


def quantiles(form: str, discrete: bool, *arrays: Array) -> tuple[Array, Array]:
  """Computes quantiles and places, see `kernel_ops.quantiles`.

  Args:
    form: as there.
    discrete: as there.
    *arrays: the five operands, then the arrays of edges, if there are any.
  """
  return _run(form, discrete, kernel_ops.path(), *arrays)


def _evaluate(
  form: str, discrete: bool, path: str, *arrays: Array
) -> tuple[Array, Array]:
  """Runs the search; `path` is only a key of the compiler's cache."""
  *model, x = arrays[:_NUM_OPERANDS]
  edges = arrays[_NUM_OPERANDS:]
  limits = quantiles_limits.find(model, edges, discrete)
  targets = quantiles_targets.read(form, x)
  if discrete:
    q = quantiles_counts.find(form, x, targets, limits, model, edges)
  else:
    q = quantiles_search.find(targets, limits, model, edges)
  strictly = np.where(
    targets.upper,
    targets.value > limits.positive,
    targets.value < limits.atom,
  )
  usable = (limits.time > 0) & (limits.time < math.inf)
  typical = np.where(usable, limits.time, 1.0)
  at = np.where((q == 0) | (q == math.inf), typical, q)
  at = np.where((q == 0) & strictly, 0.0, at)
  return q, np.where(targets.upper, at, -at)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1, 2))
