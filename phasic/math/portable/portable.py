"""The portable path: phase-type functions in array code, no native kernel.

It uses uniformization, with one power sequence for all times. It runs where the
kernel cannot (GPU, TPU, a platform without the library), and tests compare the
kernel with it. JAX and TensorFlow differentiate it in forward and reverse mode,
to every order (at t = 0 to the third).

Precision: float64 for operands of any dtype; the error of logarithms is at most
max(1e-12, 8 ulp). Only JAX without 64-bit numbers is limited to float32; then
|error| <= 2**-23 (32 + 4 |log|), for log densities, survival functions and
cdfs. Numbers out of float32's range give NaN, in particular in tails where one
state outweighs another by more than about 1e25. `kernel_ops.precision()`
returns the precision.

Work: the number of steps is q t + 9 sqrt(q t) + p + 60, with q up to 2.2 times
the largest rate, and more if the truncation bound requires it. It is computed
from concrete values, up to `MAX_STEPS`, or fewer for batches of more than
`MAX_ENTRIES / MAX_STEPS` models; while tracing it is `TRACED_STEPS`. The
truncation bound detects times that need more, which give NaN. Memory grows with
steps times models, and in reverse mode with steps times times / 8.

References:
  A. Jensen, Markoff chains as an aid in the study of Markoff processes, 1953.
  J. Xue, Q. Ye, Computing exponentials of essentially non-negative matrices
    entrywise to high relative accuracy, Math. Comp. 82, 2013.
"""

from __future__ import annotations

import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.model.model_types import KernelArrays
from phasic.math.numeric import special
from phasic.math.portable import limits
from phasic.math.portable import mixture
from phasic.math.portable import nan_slopes
from phasic.math.portable import power_sequence

MAX_STEPS = {"float64": 2**17, "float32": 2**14}
# The largest number of entries of all power sequences of a batch together.
MAX_ENTRIES = 2**26
TRACED_STEPS = 2**12


def phase_type(
  kind: str,
  initial_probs: Array,
  subgenerator: Array,
  exit_rates: Array,
  prob_zero: Array,
  times: Array,
  weights: Array | None = None,
) -> Array:
  """Computes a density, survival function, cdf or its logarithm at all times.

  Args:
    kind: "log_density", "density", "log_survival", "survival", "log_cdf" or
      "cdf".
    initial_probs: (batch..., p).
    subgenerator: (batch..., p, p).
    exit_rates: (batch..., p), or (batch..., 0) to derive them.
    prob_zero: (batch..., 1), or (batch..., 0) to derive it.
    times: (batch..., n).
    weights: (batch..., p), of the phases in which the time ends, in place of
      the exit rates; for a density or its logarithm.

  Returns:
    An array (batch..., n) of the dtype of `times`; NaN for invalid values, and
    where more steps are needed than allowed.
  """
  operands = (initial_probs, subgenerator, exit_rates, prob_zero, times)
  result, _ = evaluate(kind, operands, weights)
  return nan_slopes.with_nan_slopes(result, operands)


def evaluate(
  kind: str, operands: KernelArrays, weights: Array | None = None
) -> tuple[Array, int]:
  """Computes `phase_type`; returns it and the number of steps it needed."""
  initial_probs = operands[0]
  phases = static.shape(initial_probs)[-1]
  if not isinstance(phases, int):
    raise ValueError(
      f"initial_probs has shape {static.shape(initial_probs)}: the number of "
      "phases must be static; set the array's shape"
    )
  empty = empty_result(operands)
  if empty is not None:
    return empty, 1
  limit = most_steps(operands)
  counts = _counts(operands)
  if counts is None:
    steps = min(TRACED_STEPS, limit)
    return _run(kind, steps, weights, *operands)[0], steps
  within = onp.where(counts <= limit, counts, phases + 60)
  steps = min(rounded(int(onp.max(within))), limit)
  while True:
    result, code = _run(kind, steps, weights, *operands)
    known = static.concrete(autodiff.stop_gradient(code))
    # Times that need more steps than the limit stay NaN.
    if known is None or steps >= limit:
      return result, steps
    short = onp.asarray(known) == mixture.SHORT
    if not onp.any(short & (counts <= limit)):
      return result, steps
    steps = min(8 * steps, limit)


def empty_result(operands: KernelArrays) -> Array | None:
  """Returns the result if it is known to be empty, else None."""
  times = static.shape(operands[4])
  batch = static.broadcast_shapes(_batch(operands), times[:-1])
  shape = (*batch, times[-1])
  if not any(isinstance(d, int) and d == 0 for d in shape):
    return None
  return np.zeros(shape, dtype=static.dtype_name(operands[4]))


def _batch(operands: KernelArrays) -> static.Shape:
  """Returns the batch shape of the models."""
  vectors = [static.shape(operands[i])[:-1] for i in (0, 2, 3)]
  return static.broadcast_shapes(*vectors, static.shape(operands[1])[:-2])


def most_steps(operands: KernelArrays) -> int:
  """Returns the largest number of steps allowed for a batch of models."""
  sizes = _batch(operands)
  models = math.prod(d for d in sizes if isinstance(d, int))
  by_memory = max(1, MAX_ENTRIES // max(1, models))
  return min(MAX_STEPS[static.wide_float()], by_memory)


def _run(
  kind: str,
  steps: int,
  weights: Array | None,
  initial_probs: Array,
  subgenerator: Array,
  exit_rates: Array,
  prob_zero: Array,
  times: Array,
) -> tuple[Array, Array]:
  """Computes `phase_type`, and the status codes of `mixture.mix`.

  Invalid models have the code `OK`.

  The stages are compiled one by one: kinds share them, and one large program
  would compile more slowly.
  """
  operands = (initial_probs, subgenerator, exit_rates, prob_zero, times)
  dtype = static.dtype_name(times)
  wide = [structures.cast(x, static.wide_float()) for x in operands]
  with onp.errstate(all="ignore"):
    chain = _derive(tuple(wide[:4]), static.finfo_eps(dtype))
    if weights is not None:
      weights = structures.cast(weights, static.wide_float())
    return of_chain(kind, steps, chain, wide[4], dtype, weights)


def of_chain(
  kind: str,
  steps: int,
  chain: chain_lib.Chain,
  times: Array,
  dtype: str,
  weights: Array | None = None,
) -> tuple[Array, Array]:
  """Computes `phase_type` of a chain in `dtype`, and its status codes.

  The fields of the chain are independent variables for derivatives.
  """
  quantity = kind.removeprefix("log_")
  sequence, rate = _sequence(quantity, steps, chain, weights)
  mixed = _mix(sequence, rate, chain.bad, times)
  last = limits.limit(
    quantity, chain.initial, chain.off, chain.exits, chain.atom, times
  )
  return _finish(kind, dtype, chain.atom, chain.bad, last, times, mixed)


def _power_sequence(
  quantity: str, steps: int, chain: chain_lib.Chain, weights: Array | None
) -> tuple[power_sequence.Sequence, Array]:
  """Returns the power sequence of a quantity, and the uniformization rate."""
  end = np.ones_like(chain.exits)
  absorbed = chain.exits
  if quantity == "density":
    end = chain.exits if weights is None else weights
  elif quantity == "cdf":
    chain = chain_lib.with_absorbing_state(chain)
    size = static.shape(chain.initial)[-1]
    end = structures.cast(onp.arange(size) == size - 1, chain.initial.dtype)
    end = end + np.zeros_like(chain.initial)
    absorbed = np.zeros_like(chain.totals)
  sequence = power_sequence.sequence(
    chain.initial, chain.off, chain.totals, absorbed, end, steps
  )
  return sequence, power_sequence.uniformization_rate(chain.totals)


def _mixture(
  sequence: power_sequence.Sequence, rate: Array, bad: Array, times: Array
) -> tuple[Array, ...]:
  """Computes the mixture's log, value and status code at times 0 <= t < inf.

  Entries at other times are placeholders.
  """
  usable = (times >= 0) & (times < math.inf) & np.logical_not(bad[..., None])
  return mixture.mix(sequence, rate[..., None] * np.where(usable, times, 0.0))


def _result(
  kind: str,
  dtype: str,
  atom: Array,
  bad: Array,
  last: Array | float,
  times: Array,
  mixed: tuple[Array, ...],
) -> tuple[Array, Array]:
  """Returns results at all times, including 0 and inf, and the status codes."""
  log_value, value, code = mixed
  result = _whole_line(kind, atom[..., None], last, times, log_value, value)
  # Multiplication by NaN makes the derivatives NaN as well.
  result = result * np.where(bad, math.nan, 1.0)[..., None]
  code = np.where(bad[..., None], 1.0 * mixture.OK, code)
  return structures.cast(result, dtype), code


_derive = control_flow.compiled(chain_lib.derive, static_argnums=(1,))
_sequence = control_flow.compiled(_power_sequence, static_argnums=(0, 1))
_mix = control_flow.compiled(_mixture)
_finish = control_flow.compiled(_result, static_argnums=(0, 1))


def _whole_line(
  kind: str,
  atom: Array,
  last: Array | float,
  times: Array,
  log_value: Array,
  value: Array,
) -> Array:
  """Sets the values at zero, negative, infinite and NaN times."""
  log = kind.startswith("log_")
  result = log_value if log else value
  if kind in ("density", "log_density"):
    has_atom = (times == 0) & (atom > 0)
    at_zero = np.log(np.where(atom > 0, atom, 1.0)) if log else atom
    result = np.where(has_atom, at_zero, result)
  before = 1.0 if kind in ("survival", "log_survival") else 0.0
  result = np.where(times < 0, logarithm(before) if log else before, result)
  return at_the_end(times, last, log, result)


def at_the_end(
  times: Array, last: Array | float, log: bool, result: Array
) -> Array:
  """Sets values at infinite times to `last` or its log, at NaN times to NaN."""
  if log:
    last = special.log_sum(last + np.zeros_like(times[..., :1]))
  result = np.where(times == math.inf, last, result)
  return np.where(times == times, result, math.nan)


def _counts(operands: KernelArrays) -> onp.ndarray | None:
  """Computes the numbers of steps (batch..., n) on the host, None if traced."""
  known = [static.concrete(autodiff.stop_gradient(x)) for x in operands]
  if any(x is None for x in known):
    return None
  alpha, matrix, exits, _, times = (
    onp.asarray(x, dtype=onp.float64) for x in known
  )
  p = onp.shape(alpha)[-1]
  rates = -onp.diagonal(matrix, axis1=-2, axis2=-1)
  if onp.shape(exits)[-1]:
    off = onp.where(onp.eye(p, dtype=bool), 0.0, matrix)
    rates = onp.sum(off, axis=-1) + exits
  with onp.errstate(all="ignore"):
    largest = onp.max(rates, axis=-1)[..., None] * (16 / 15)
    rate = onp.exp2(onp.ceil(onp.log2(onp.where(largest > 0, largest, 1.0))))
    means = rate * times
    usable = onp.isfinite(means) & (means >= 0)
    means = onp.where(usable, means, 0.0)
    return means + 9 * onp.sqrt(means) + p + 60


def rounded(steps: int) -> int:
  """Rounds up to two significant bits, so that few lengths are compiled."""
  unit = 2 ** max(0, int(steps).bit_length() - 2)
  return (steps + unit - 1) // unit * unit


def logarithm(x: float) -> float:
  """Returns the logarithm of a number >= 0, -inf of zero."""
  return math.log(x) if x > 0 else -math.inf
