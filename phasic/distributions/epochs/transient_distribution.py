"""The transient state distribution: P(phase | not absorbed) at a time.

Let Q = S - k I be the subgenerator of the chain killed at the rate k, and
y = alpha (-Q)^-1 the expected times in its phases. The time-reversed chain jumps
from j to i at the rate y_i w_ij / y_j and is absorbed at the rate alpha_j / y_j.
Let g_j(t) be its density of absorption from phase j. Then

    (alpha exp(S t))_j = y_j exp(k t) g_j(t),

and from the start y / sum(y) its density g gives the sum over j: the log of the
mass that is not absorbed is log g + k t + log sum(y), and the probability of
phase j is y_j / sum(y) times the derivative of log g in the start at j. That is
one gradient of the kernel. Nothing is subtracted, the mass may underflow, and
with k = 1 / t absorption need not be reachable. Phases with y_j below 1e-288
(1e-28 in single precision) are left out.

References:
  M. Bladt, B. F. Nielsen, Matrix-exponential distributions in applied
    probability, 2017, section 5.3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import elimination_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.model import edge_rates
from phasic.math.portable import elimination


class TransientDistribution(NamedTuple):
  """The distribution of a chain's phases at a time, given no absorption.

  Attributes:
    probs: the probabilities of the phases, given no absorption, (..., p).
    log_mass: the log probability that the chain is not absorbed, (...); NaN if
      omitted phases might matter, or a value breaks a rule.
    log_lost: the log of a bound on the mass that is lost, (...), because phases
      are omitted or their probabilities underflow.
  """

  probs: Array
  log_mass: Array
  log_lost: Array


def transient_distribution(
  initial: Array, edges: edge_rates.EdgeRates, time: Array
) -> TransientDistribution:
  """Computes the transient state distribution at a time.

  Args:
    initial: alpha, (..., p); it need not sum to one.
    edges: `math.EdgeRates` without coefficients.
    time: t > 0, (...).
  """
  return TransientDistribution(
    *_run(initial, edges.parameters, edges.sources, edges.targets, time)
  )


def _evaluate(
  initial: Array, rates: Array, sources: Array, targets: Array, time: Array
) -> tuple[Array, Array, Array]:
  """Computes probabilities, log mass and log of lost mass at a time."""
  p, m = static.shape(initial)[-1], static.shape(rates)[-1]
  batch = static.broadcast_shapes(
    static.shape(initial)[:-1], static.shape(rates)[:-1], static.shape(time)
  )
  initial = np.broadcast_to(initial, (*batch, p))
  rates = np.broadcast_to(rates, (*batch, m))
  time = np.broadcast_to(time, batch)
  killing = autodiff.stop_gradient(1.0 / time)
  times = _killed_times(initial, sources, targets, rates, killing)
  # Below this floor, ratios of products lose digits. A phase omitted for it
  # contributes at most floor * e * (its total rate) to the mass.
  info = onp.finfo(static.dtype_name(times))
  floor = float(info.tiny) * 2.0 ** (32 if info.bits == 32 else 64)
  wrong = np.any(np.isnan(times), axis=-1)
  visited = times > floor
  times = np.where(visited, times, 0.0)
  divisor = np.where(visited, times, 1.0)
  inner = targets < p
  ends = np.where(inner, targets, 0)
  flows = rates * np.take(times, sources, axis=-1)
  back = np.where(inner, flows / np.take(divisor, ends, axis=-1), 0.0)
  total = np.sum(times, axis=-1)
  # With initial mass zero, the mass at all times is zero.
  empty = total == 0.0
  total = np.where(empty, 1.0, total)
  start = times / total[..., None]
  reversed_edges = edge_rates.EdgeRates(
    _joined(ends, onp.arange(p)),
    _joined(sources, onp.full(p, p)),
    np.concatenate([back, initial / divisor], axis=-1),
  )
  log_density, slopes = evaluation.value_and_start_slopes(
    "log_density", (start, reversed_edges, time, None, 0.0)
  )
  probs = np.where(empty[..., None], 0.0, start * slopes)
  log_mass = log_density + killing * time + np.log(total)
  log_mass = np.where(empty, -float("inf"), log_mass)
  led_to = inner & (rates > 0.0) & np.take(visited, sources, axis=-1)
  unseen = np.any(
    led_to & np.logical_not(np.take(visited, ends, axis=-1)), axis=-1
  )
  unseen = unseen | np.any((initial > 0.0) & np.logical_not(visited), axis=-1)
  fastest = autodiff.stop_gradient(np.sum(rates, axis=-1) + killing)
  least = math.log(p * floor) + 1.0 + np.log(np.abs(fastest))
  unsure = unseen & (log_mass < least - math.log(info.eps))
  log_mass = np.where(unsure | wrong, float("nan"), log_mass)
  small = np.any(visited & (probs == 0.0), axis=-1)
  smallest = autodiff.stop_gradient(log_mass) + math.log(p * info.tiny)
  log_lost = np.maximum(
    np.where(unseen, least, -float("inf")),
    np.where(small, smallest, -float("inf")),
  )
  return probs, log_mass, log_lost


_run = control_flow.compiled(_evaluate)


def _killed_times(
  initial: Array, sources: Array, targets: Array, rates: Array, killing: Array
) -> Array:
  """Computes alpha (k I - S)^-1, (..., p), for killing rates k."""
  p = static.shape(initial)[-1]
  indices = np.stack(
    [_joined(sources, onp.arange(p)), _joined(targets, onp.full(p, p))]
  )
  ones = (1,) * static.rank(killing)
  kills = np.broadcast_to(killing[..., None], static.shape(initial))
  return elimination_ops.eliminate(
    elimination.eliminate,
    np.reshape(indices, (*ones, *static.shape(indices))),
    np.concatenate([rates, kills], axis=-1),
    initial[..., None],
    transposed=True,
  )[..., 0]


def _joined(indices: Array, more: onp.ndarray) -> Array:
  """Concatenates two lists of indices to one int32 array."""
  parts = (indices, more)
  return np.concatenate([structures.cast(x, "int32") for x in parts])
