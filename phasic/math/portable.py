"""The portable path: phase-type functions in array code, no native kernel.

Uniformization with one power sequence for all times. It runs where the kernel
cannot (GPU, TPU, a platform without the library) and checks it in tests;
autodiff goes through it in JAX and TensorFlow, forward and reverse.

The number of steps is q t + 9 sqrt(q t) + p + 60, and more where a bound on
what is left out asks for it. It is found from the values where they are
known, up to `MAX_STEPS`; while tracing it is `TRACED_STEPS`. Times that need
more give NaN, which the bound shows: nothing is cut off silently.

References:
  A. Jensen, Markoff chains as an aid in the study of Markoff processes, 1953.
  J. Xue, Q. Ye, Computing exponentials of essentially non-negative matrices
    entrywise to high relative accuracy, Math. Comp. 82, 2013.
"""

import math

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import gradients
from phasic.internal import static
from phasic.math import chain as chain_lib
from phasic.math import poisson
from phasic.math import power_sequence

MAX_STEPS = 2**17
TRACED_STEPS = 2**12
_CHUNK = 2**22  # Entries of the table times by steps that are held at once.


def phase_type(kind, initial_probs, subgenerator, exit_rates, prob_zero, times):
  """Returns one of the functions of a phase-type distribution at all times.

  Args:
    kind: "log_density", "density", "log_survival", "survival", "log_cdf" or
      "cdf".
    initial_probs: (batch..., p).
    subgenerator: (batch..., p, p).
    exit_rates: (batch..., p), or (batch..., 0) to derive them.
    prob_zero: (batch..., 1), or (batch..., 0) to derive it.
    times: (batch..., n).

  Returns:
    An array (batch..., n) of the dtype of `times`; NaN where a value breaks a
    rule or more steps are needed than there may be.
  """
  operands = (initial_probs, subgenerator, exit_rates, prob_zero, times)
  phases = static.shape(initial_probs)[-1]
  if not isinstance(phases, int):
    raise ValueError("the number of phases must be known statically")
  counts = _counts(operands)
  if counts is None:
    return _run(kind, TRACED_STEPS, *operands)[0]
  within = onp.where(counts <= MAX_STEPS, counts, phases + 60)
  steps = _round(int(onp.max(within)))
  while True:
    result, short = _run(kind, steps, *operands)
    known = static.concrete(gradients.stop_gradient(short))
    # Times whose own count is beyond the limit stay NaN.
    if known is None or steps >= MAX_STEPS:
      return result
    if not onp.any((onp.asarray(known) > 0) & (counts <= MAX_STEPS)):
      return result
    steps = min(2 * steps, MAX_STEPS)


def _evaluate(
  kind, steps, initial_probs, subgenerator, exit_rates, prob_zero, times
):
  """Returns the result, and 1.0 where more steps are needed, else 0.0."""
  operands = (initial_probs, subgenerator, exit_rates, prob_zero, times)
  dtype = static.dtype_name(times)
  wide = [np.asarray(x, dtype=static.wide_float()) for x in operands]
  with onp.errstate(all="ignore"):
    chain = chain_lib.derive(wide[:4], static.finfo_eps(dtype))
    log_value, value, short = _positive_times(kind, chain, wide[4], steps)
    result = _whole_line(kind, chain, wide[4], log_value, value)
    # The product makes the derivatives NaN as well.
    result = result * np.where(chain.bad, math.nan, 1.0)[..., None]
    short = np.where(short & ~chain.bad[..., None], 1.0, 0.0)
    return np.asarray(result, dtype=dtype), short


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1))


def _positive_times(kind, chain, times, steps):
  """Returns logarithm, value and what is short of steps, at 0 <= t < inf.

  At other times the entries mean nothing.
  """
  end = np.ones_like(chain.exits)
  if kind in ("density", "log_density"):
    end = chain.exits
  elif kind in ("cdf", "log_cdf"):
    chain = chain_lib.with_absorbing_state(chain)
    size = static.shape(chain.initial)[-1]
    end = np.asarray(onp.arange(size) == size - 1, dtype=times.dtype)
    end = end + np.zeros_like(chain.initial)
  rate = power_sequence.uniformization_rate(chain.totals)
  usable = (times >= 0) & (times < math.inf) & ~chain.bad[..., None]
  means = rate[..., None] * np.where(usable, times, 0.0)
  sequence = power_sequence.sequence(
    chain.initial, chain.off, chain.totals, end, steps
  )
  return _mix(sequence, means)


def _whole_line(kind, chain, times, log_value, value):
  """Adds the atom at zero, negative and infinite times, and NaN."""
  atom = chain.atom[..., None]
  log = kind.startswith("log_")
  result = log_value if log else value
  if kind in ("density", "log_density"):
    has_atom = (times == 0) & (atom > 0)
    at_zero = np.log(np.where(atom > 0, atom, 1.0)) if log else atom
    result = np.where(has_atom, at_zero, result)
    before, after = 0.0, 0.0
  elif kind in ("survival", "log_survival"):
    before, after = 1.0, 0.0
  else:
    before, after = 0.0, 1.0
  if log:
    before, after = _log(before), _log(after)
  result = np.where(times < 0, before, result)
  result = np.where(times == math.inf, after, result)
  return np.where(times == times, result, math.nan)


def _mix(sequence, means):
  """Sums the sequence with Poisson weights, a block of times at a time."""
  steps = static.shape(sequence.values)[-1]
  n = static.shape(means)[-1]
  models = static.shape(sequence.values)[:-1]
  size = math.prod(d for d in models if isinstance(d, int))
  block = max(1, _CHUNK // (steps * max(size, 1)))
  if not isinstance(n, int) or n <= block:
    return _mix_block(sequence, means)
  parts = [
    _mix_block(sequence, means[..., i : i + block]) for i in range(0, n, block)
  ]
  logs, values, shorts = zip(*parts, strict=True)
  return (
    np.concatenate(logs, axis=-1),
    np.concatenate(values, axis=-1),
    np.concatenate(shorts, axis=-1),
  )


def _mix_block(sequence, means):
  """Returns log value, value and whether steps are missing, (batch..., n).

  The values enter linearly, scaled by a constant, so that derivatives with
  respect to entries that are zero come out as well.
  """
  steps = static.shape(sequence.values)[-1]
  counts = onp.arange(steps)
  values = sequence.values[..., None, :]
  logs = sequence.logs[..., None, :]
  x = means[..., None]
  log_terms = poisson.log_weights(counts, x) + logs
  constant = gradients.stop_gradient
  sizes = np.log(np.where(values > 0, values, 1.0))
  sizes = np.where(values > 0, log_terms + sizes, -math.inf)
  top = constant(np.max(sizes, axis=-1))
  top = np.where(top > -math.inf, top, 0.0)
  cap = 700.0 if static.dtype_name(means) == "float64" else 80.0
  weights = np.exp(np.minimum(log_terms - top[..., None], cap))
  zero = poisson.zero_weights(counts, np.where(x > 0, 0.0, x))
  zero = zero * np.exp(np.minimum(logs - top[..., None], cap))
  weights = np.where(x > 0, weights, zero)
  total = np.sum(weights * values, axis=-1)
  log_value = top + np.log(total)
  missing = _missing(sequence, means, constant(log_value), steps)
  # The product makes the derivatives NaN as well.
  poison = np.where(missing, math.nan, 1.0)
  return log_value * poison, np.exp(top) * total * poison, missing


def _missing(sequence, means, log_value, steps):
  """Whether the terms left out may matter, or a positive sum underflowed."""
  means = gradients.stop_gradient(means)
  ratio = means / (steps + 1)
  converges = ratio < 1
  log_tail = poisson.log_weights(onp.asarray(steps), means) - np.log1p(
    -np.where(converges, ratio, 0.0)
  )
  rest = sequence.log_rest[..., None] + log_tail
  eps = static.finfo_eps(means)
  complete = converges & (rest <= log_value + math.log(eps / 8))
  reached = sequence.reached[..., None]
  lost = reached & (means > 0) & (log_value == -math.inf)
  nothing = ~reached | (means == 0)
  return (~complete & ~nothing) | lost


def _counts(operands):
  """Returns the numbers of steps (batch..., n) on the host, None if traced."""
  known = [static.concrete(gradients.stop_gradient(x)) for x in operands]
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
    means = onp.max(rates, axis=-1)[..., None] * times
    usable = onp.isfinite(means) & (means >= 0)
    means = onp.where(usable, means, 0.0)
    return means + 9 * onp.sqrt(means) + p + 60


def _round(steps):
  """Rounds up to two significant bits: few lengths, few compilations."""
  unit = 2 ** max(0, int(steps).bit_length() - 2)
  return min(MAX_STEPS, (steps + unit - 1) // unit * unit)


def _log(x):
  return math.log(x) if x > 0 else -math.inf
