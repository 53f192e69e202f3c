"""Targets of the quantile search, limits of the cdf, and errors of Newton steps.

A quantile exists between the atom at zero and the absorption probability, which
is less than one if the chain can reach a trap. The target is F(q) or 1 - F(q),
whichever is at most one half, so that both tails keep their digits. Newton's
method works on the mass between the target and the nearer limit: F - F(0) or
F(inf) - F.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killing
from phasic.math.model.model_types import EdgeArrays, ModelArrays
from phasic.math.numeric import exact_sums
from phasic.math.portable import portable_edges


class Limits(NamedTuple):
  """F(0), F(inf) and a time scale of each model.

  All arrays have shape (batch..., 1).

  Attributes:
    atom: F(0).
    positive: P(X > 0).
    absorbed: F(inf).
    caught: P(X = inf), zero if absorption is certain.
    time: the expected time until absorption or a trap.
  """

  atom: Array
  positive: Array
  absorbed: Array
  caught: Array
  time: Array


def find(operands: ModelArrays, edges: EdgeArrays, discrete: bool) -> Limits:
  """Computes the `Limits` of models.

  Args:
    operands: the kernel's four operands of a model.
    edges: its arrays of edges.
    discrete: whether time is counted in steps.
  """
  timed = (*operands, np.zeros_like(operands[0][..., :1]))
  atom, positive = (
    kernel_ops.phase_type(
      kind, timed, portable_edges.fallback(discrete), edges, discrete=discrete
    )
    for kind in ("cdf", "survival")
  )
  passage = chain_calls.value_of_operands(_passage, operands, edges, discrete)
  absorbed, caught = passage[..., :1], passage[..., 1:2]
  one = np.ones_like(absorbed)
  # Without a trap F(inf) is exactly one, whatever the rounding error.
  absorbed = np.where(caught > 0, absorbed, one)
  return Limits(atom, positive, absorbed, caught, passage[..., 2:])


def _passage(system: chain_solves.System) -> Array:
  """Computes P(X < inf), P(X = inf) and the mean time to absorption or a trap.

  The result is (..., 3).
  """
  passage, positive = killing.absorbed_or_caught(system)
  m = static.shape(system.weights)[-1]
  none = np.zeros_like(positive)
  ends = np.concatenate([none[..., :m], passage.weights[..., m:]], axis=-1)
  per_edge = np.stack([positive, ends, none], axis=-1)
  start = np.zeros_like(passage.weights[..., :1] + system.initial)
  counted = start + (1.0 - passage.weights[..., m:])  # Zero in traps.
  per_phase = np.stack([start, start, counted], axis=-1)
  x = chain_solves.solve(passage, per_phase, per_edge)
  total = np.sum(system.initial[..., None] * x, axis=-2)
  time = exact_sums.times_power(total[..., 2], -system.exponent)
  probs_and_time = np.stack(
    [system.atom + total[..., 0], total[..., 1], time], axis=-1
  )
  return chain_solves.checked_entries(system, probs_and_time)


LOG_HALF = -0.6931471805599453


class Targets(NamedTuple):
  """Values that F or 1 - F must reach, one for each entry.

  Attributes:
    upper: whether the target is a survival probability, else one of F.
    value: the target, at most about one half; zero if only its logarithm can be
      represented.
    log_value: the logarithm of the target.
    bad: whether the entry is invalid.
  """

  upper: Array
  value: Array
  log_value: Array
  bad: Array


class Ends(NamedTuple):
  """The limit of F, at zero or infinity, from which each target is measured.

  Attributes:
    rising: whether the mass is F - F(0), else F(inf) - F.
    ratio: c with (M' - r) / (M - r) = 1 + c (M' / M - 1), where M is the target
      and r its value at that end; one if r is zero.
    is_plain: whether r is zero.
    first: whether the quantile is zero.
    never: whether the quantile is inf.
    bound: an upper bound of the quantile, by Markov's inequality.
  """

  rising: Array
  ratio: Array
  is_plain: Array
  first: Array
  never: Array
  bound: Array


def read(form: str, x: Array) -> Targets:
  """Converts probabilities in one of several forms to `Targets`.

  Args:
    form: the form of entries: u in [0, 1]; log u; log(1 - u);
      or -log(1 - u) for positive entries, else log u.
    x: the array.
  """
  bad = x != x
  if form == "cdf":
    bad = bad | (x < 0) | (x > 1)
    x = np.where(bad, 0.5, x)
    upper = x > 0.5
    value = np.where(upper, 1.0 - x, x)
    with onp.errstate(divide="ignore"):
      return Targets(upper, value, np.log(value), bad)
  if form == "folded":
    size = -np.abs(np.where(bad, LOG_HALF, x))
    return Targets(x > 0, np.exp(size), size, bad)
  bad = bad | (x > 0)
  x = np.where(bad, LOG_HALF, x)
  near = x > LOG_HALF
  value = np.where(near, -np.expm1(np.where(near, x, LOG_HALF)), np.exp(x))
  with onp.errstate(divide="ignore"):
    log_value = np.where(near, np.log(np.where(near, value, 1.0)), x)
  upper = near if form == "log_cdf" else np.logical_not(near)
  return Targets(upper, value, log_value, bad)


def ends(targets: Targets, limits: Limits) -> Ends:
  """Chooses a limit of F for each target; finds quantiles that are 0 or inf."""
  upper, value, log_value, _ = targets
  nothing = log_value == -math.inf
  below = (value <= limits.atom) & (limits.atom > 0)
  first = np.where(upper, value >= limits.positive, below | nothing)
  above = (value <= limits.caught) & (limits.caught > 0)
  never = np.where(upper, above | nothing, value >= limits.absorbed)
  never = never & np.logical_not(first)
  start = np.where(upper, limits.positive, limits.atom)
  end = np.where(upper, limits.caught, limits.absorbed)
  range_of_mass = np.abs(end - start)
  rising = np.abs(value - start) <= 0.5 * range_of_mass
  reference = np.where(rising, start, end)
  is_plain = reference == 0
  usable = np.logical_not(is_plain | first | never)
  mass = np.where(usable, value - reference, 1.0)
  ratio = np.where(usable, value, 1.0) / mass
  ahead = np.where(rising, 0.5 * range_of_mass, np.abs(value - end))
  tiny = onp.finfo(static.dtype_name(value)).tiny
  with onp.errstate(over="ignore"):
    bound = 4.0 * limits.time / np.maximum(ahead, tiny)
  return Ends(rising, ratio, is_plain, first, never, bound)


def mass_error(ends_: Ends, change: Array) -> Array:
  """Computes the log of the ratio of the current mass to the target mass.

  The ratio is (M' - r) / (M - r), and change = log(M' / M). M is the target, M'
  the value at the current time and r the limit of F from which masses are
  measured; see `Ends`.

  The result is NaN if M' and r are too close to have a difference with digits.
  """

  def measured(change: Array) -> Array:
    few = np.minimum(np.maximum(change, -40.0), 40.0)
    eps = float(onp.finfo(static.dtype_name(change)).eps)
    shift = ends_.ratio * np.expm1(few)
    near = np.abs(shift) < 0.5
    known = 1.0 + shift > 8.0 * eps * np.abs(ends_.ratio)
    far = np.where(known, np.log(np.where(known, 1.0 + shift, 1.0)), math.nan)
    error = np.where(near, np.log1p(np.where(near, shift, 0.0)), far)
    return np.where(ends_.is_plain, change, error)

  some = np.any(np.logical_not(ends_.is_plain))
  return control_flow.cond(some, measured, lambda x: x, change)
