"""The portable path of discrete chains: their functions in array code.

The power sequence of the continuous path, with the transition matrix instead of
a uniformized one, gives the terms alpha T^k t, alpha T^k 1 and, with absorption
as one more state, the cdf. Each count selects one term. JAX and TensorFlow
differentiate it in forward and reverse mode, to every order.

Precision: float64 for operands of any dtype. Only JAX without 64-bit numbers is
limited to float32; then |error| <= 2**-23 (32 + 4 |log| + p k / 8) for the
logarithms at k steps. Numbers out of range give NaN. Rows that sum to one
within rounding count as rows that sum to one. The actual sums differ from one
by up to 4 p eps, which may matter after very many steps.

Work: as many steps as the largest count, for concrete counts up to
`portable.MAX_STEPS`, while tracing up to `portable.TRACED_STEPS`. Larger counts
give NaN. Memory grows with steps times models.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
import numpy as onp

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import custom_gradient
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model.model_types import KernelArrays
from phasic.math.numeric import semirings
from phasic.math.numeric import special
from phasic.math.portable import limits
from phasic.math.portable import nan_slopes
from phasic.math.portable import portable
from phasic.math.portable import power_sequence
from phasic.math.portable import transition_power


def phase_type(
  kind: str,
  initial_probs: Array,
  subtransition: Array,
  exit_probs: Array,
  prob_zero: Array,
  counts: Array,
  completes: bool = False,
  weights: Array | None = None,
) -> Array:
  """Computes a function of a discrete phase-type distribution at all counts.

  Args:
    kind: "log_density", "density", "log_survival", "survival", "log_cdf" or
      "cdf".
    initial_probs: (batch..., p).
    subtransition: (batch..., p, p).
    exit_probs: (batch..., p), or (batch..., 0) to derive them.
    prob_zero: (batch..., 1), or (batch..., 0) to derive it.
    counts: (batch..., n).
    completes: see `chain.derive_steps`.
    weights: as in `portable.phase_type`.

  Returns:
    An array (batch..., n) of the dtype of `counts`; NaN for invalid values, and
    where more steps are needed than allowed. The derivative in an integer count
    is NaN.
  """
  operands = (initial_probs, subtransition, exit_probs, prob_zero, counts)
  empty = portable.empty_result(operands)
  if empty is not None:
    return empty
  steps = _steps(operands)
  dtype = static.dtype_name(counts)
  wide = [
    structures.cast(x, static.wide_float())
    for x in (*operands[:4], autodiff.stop_gradient(counts))
  ]
  if weights is not None:
    weights = structures.cast(weights, static.wide_float())
  with onp.errstate(all="ignore"):
    result = _run(kind, dtype, steps, completes, weights, *wide)
  result = nan_slopes.with_nan_slopes(result, operands)
  return _with_slope(result, np.broadcast_to(counts, static.shape(result)))


def _steps(operands: KernelArrays) -> int:
  """Returns how many terms of the power sequence are computed."""
  limit = portable.most_steps(operands)
  counts = static.concrete(autodiff.stop_gradient(operands[4]))
  if counts is None:
    return min(portable.TRACED_STEPS, limit)
  counts = onp.asarray(counts, dtype=onp.float64)
  usable = counts[(counts >= 0) & (counts < limit)]
  largest = onp.max(usable) if usable.size else 0.0
  return min(portable.rounded(int(largest) + 1), limit)


def _evaluate(
  kind: str,
  dtype: str,
  steps: int,
  completes: bool,
  weights: Array | None,
  *operands: Array,
) -> Array:
  """Computes `phase_type`, whose derivatives treat the counts as constants."""
  *model, counts = operands
  chain = chain_lib.derive_steps(model, static.finfo_eps(dtype), completes)
  log = kind.startswith("log_")
  quantity = kind.removeprefix("log_")
  steps_taken = np.floor(counts)
  index = steps_taken - 1 if quantity == "density" else steps_taken
  exponents, values = _terms(quantity, steps, chain, index, weights)
  if log:
    result = special.log_sum(values) + exponents * math.log(2)
  else:
    exponents = np.maximum(exponents, -1990.0)
    half = np.floor(exponents / 2)
    result = values * array_ops.power_of_two(half)
    result = result * array_ops.power_of_two(exponents - half)
  last = limits.limit(
    quantity, chain.initial, chain.off, chain.exits, chain.atom, counts
  )
  result = _whole_line(
    quantity, log, chain.atom[..., None], last, counts, result
  )
  # Multiplication by NaN makes the derivatives NaN as well.
  result = result * np.where(chain.bad, math.nan, 1.0)[..., None]
  return structures.cast(result, dtype)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1, 2, 3))


def _terms(
  quantity: str,
  steps: int,
  chain: chain_lib.StepChain,
  index: Array,
  weights: Array | None,
) -> tuple[Array, Array]:
  """Computes terms of the power sequence at indices: exponents and values.

  Both have shape (..., n); a term is its value times 2**exponent.

  A value is NaN beyond the last term, and a placeholder at a negative or
  infinite index.
  """
  end = np.ones_like(chain.exits)
  if quantity == "density":
    end = chain.exits if weights is None else weights
  elif quantity == "cdf":
    chain = chain_lib.steps_with_absorbing_state(chain)
    size = static.shape(chain.initial)[-1]
    end = structures.cast(onp.arange(size) == size - 1, chain.initial.dtype)
    end = end + np.zeros_like(chain.initial)
  sequence = power_sequence.chain_terms(
    chain.initial,
    chain.off,
    chain.keep,
    chain.lose,
    chain.exits,
    end,
    steps,
  )
  size = static.shape(end)[-1]
  block = transition_power.block_length(
    steps, size, static.dtype_name(chain.initial)
  )
  eye = np.eye(size, dtype=end.dtype)
  reachable = semirings.reachable_step_counts(
    chain.initial,
    chain.off + (chain.keep - chain.lose)[..., None] * eye,
    end,
    -(-steps // block),
    block,
  )
  fixed = autodiff.stop_gradient
  underflow = np.where(reachable, sequence.underflow, 0.0)
  underflow = underflow > static.finfo_eps(end) * fixed(sequence.values)
  underflow = underflow | (
    reachable & np.logical_not(fixed(sequence.values) > 0)
  )
  values = sequence.values * np.where(underflow, math.nan, 1.0)
  usable = (index >= 0) & (index < math.inf)
  known = usable & (index < static.shape(values)[-1])
  clipped = np.where(known, index, 0.0)
  picked = _pick(values, clipped)
  # Placeholders at negative or infinite indices must not have derivatives.
  picked = np.where(usable, picked, 1.0)
  picked = picked * np.where(usable & np.logical_not(known), math.nan, 1.0)
  return _pick(sequence.exponents, clipped), picked


def _pick(table: Array, index: Array) -> Array:
  """Selects table[..., index] for indices (..., n); batches broadcast."""
  batch = np.zeros_like(table[..., :1])
  index = index + batch
  steps, n = static.shape(table)[-1], static.shape(index)[-1]
  table = table + np.zeros_like(index[..., :1])
  models = math.prod(static.shape(index)[:-1])
  flat = np.reshape(index, (models, n))
  offsets = structures.cast(steps * np.arange(models), "int32")
  places = offsets[:, None] + structures.cast(flat, "int32")
  picked = np.take(np.reshape(table, (-1,)), places, axis=0)
  return np.reshape(picked, static.shape(index))


def _whole_line(
  quantity: str,
  log: bool,
  atom: Array,
  last: Array | float,
  counts: Array,
  result: Array,
) -> Array:
  """Sets results at zero, non-integer, negative, infinite and NaN counts."""

  def put(where: Array, value: float) -> Array:
    return np.where(where, portable.logarithm(value) if log else value, result)

  if quantity == "density":
    result = put(np.floor(counts) != counts, 0.0)
    at_zero = atom
    if log:
      at_zero = np.where(atom > 0, np.log(np.where(atom > 0, atom, 1.0)), -1.0)
      at_zero = np.where(atom > 0, at_zero, -math.inf)
    result = np.where(counts == 0, at_zero, result)
  before = 1.0 if quantity == "survival" else 0.0
  result = put(counts < 0, before)
  return portable.at_the_end(counts, last, log, result)


def _forward(result: Array, counts: Array) -> tuple[Array, Array]:
  return result, counts


def _backward(counts: Array, cotangent: Array) -> tuple[Array, Array]:
  return cotangent, _slope(counts, cotangent)


def _along(
  primals: Sequence[Array], tangents: Sequence[Array]
) -> tuple[Array, Array]:
  return primals[0], tangents[0] + _slope(primals[1], tangents[1])


def _slope(counts: Array, along: Array) -> Array:
  """Returns the derivative along `along`: NaN at integer counts, else zero."""
  jumps = (np.floor(counts) == counts) & (counts >= 0) & (counts < math.inf)
  return np.where(jumps & (along != 0), math.nan, np.zeros_like(along))


@custom_gradient.custom_gradient(
  vjp_fwd=_forward, vjp_bwd=_backward, jvp_fn=_along
)
def _with_slope(result: Array, counts: Array) -> Array:
  """Returns the result, whose derivative with respect to counts is `_slope`."""
  return result
