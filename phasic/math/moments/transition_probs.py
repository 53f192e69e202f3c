"""Transition probabilities between phases, and from phases to absorption.

Each is the density of a model with one start and one weight, see
`phase_expectations`. Absorption is a phase that is never left, so that nothing is
subtracted.
"""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.internal import control_flow
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model import phase_arguments
from phasic.math.model.model_types import (
  Edges,
  Given,
  Model,
  SubgeneratorLike,
  SubtransitionLike,
)
from phasic.math.moments import phase_vectors
from phasic.math.moments import weighted_models
from phasic.math.numeric import array_utils

# Up to this number of phases all entries are computed by themselves, with a
# small relative error in each.
_FEW_PHASES = 8


def transition_probs(
  value: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  num_phases: int | None = None,
) -> Array:
  """Computes P(in phase j at time t | in phase i at time 0), exp(S t).

  Each entry has a small relative error if there are at most 8 phases. If there
  are more, entries below 1e-262 of the sum of their row have an error of 1e-277
  of that; `log_transition_probs` has digits of all of them. Many times of one
  model share its work. A chain without absorption is valid. The method is
  uniformization (Jensen, 1953; Grassmann, 1977).

  Args:
    value: t, (...), finite and >= 0, else results are NaN.
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    num_phases: p, for edges; None derives it: the largest target is absorption,
      unless it is a source.

  Returns:
    An array (..., p, p) with the start in its rows, where (...) is the common
    batch shape of times and model.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, there are no phases or more than 4096, or
      sources and targets are traced and `num_phases` is None.

  Example: two stages.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> probs = pm.phase_type.transition_probs(1.0, edges)
    >>> [f"{float(x):.6f}" for row in probs for x in row]
    ['0.367879', '0.367879', '0.000000', '0.367879']
  """
  arguments = (value, subgenerator, exit_rates, num_phases)
  return _transitions("density", *arguments, discrete=False)


def log_transition_probs(
  value: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  num_phases: int | None = None,
) -> Array:
  """Computes log P(in phase j at time t | in phase i at time 0).

  An entry is finite, however small the probability, if edges of positive rates
  lead from i to j. All others are -inf, and so are those off the diagonal at
  t = 0. Each of the p^2 entries is computed by itself.

  Arguments, result and errors are as in `transition_probs`.

  Example: the second stage is never left for the first one.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> logs = pm.phase_type.log_transition_probs(1e-300, edges)
    >>> [f"{float(x):.4f}" for row in logs for x in row]
    ['0.0000', '-690.7755', '-inf', '0.0000']
  """
  arguments = (value, subgenerator, exit_rates, num_phases)
  return _transitions("log_density", *arguments, discrete=False)


def discrete_transition_probs(
  value: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  num_phases: int | None = None,
) -> Array:
  """Computes P(in phase j after k steps | in phase i before), T^k.

  Arguments, result and errors are as in `phase_type.transition_probs`, with T,
  (..., p, p), or `EdgeProbs`, and integers k >= 0, else results are NaN.

  Example: a step, and two.

    >>> from phasic import math as pm
    >>> steps = [[0.5, 0.25], [0.0, 0.5]]
    >>> probs = pm.discrete_phase_type.transition_probs([1, 2], steps)
    >>> [f"{float(x):.4f}" for row in probs[1] for x in row]
    ['0.2500', '0.2500', '0.0000', '0.2500']
  """
  arguments = (value, subtransition, exit_probs, num_phases)
  return _transitions("density", *arguments, discrete=True)


def discrete_log_transition_probs(
  value: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  num_phases: int | None = None,
) -> Array:
  """Computes log P(in phase j after k steps | in phase i before).

  Arguments, result and errors are as in `transition_probs`; an entry is -inf
  only where no path of k steps leads from i to j.

  Example: a million steps, 1e6 log(1/2).

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [0.5])
    >>> logs = pm.discrete_phase_type.log_transition_probs(1e6, edges)
    >>> print(f"{float(logs[0, 0]):.3f}")
    -693147.181
  """
  arguments = (value, subtransition, exit_probs, num_phases)
  return _transitions("log_density", *arguments, discrete=True)


def absorption_probs(
  value: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  num_phases: int | None = None,
  num_causes: int | None = None,
) -> Array:
  """Computes P(absorbed by time t | in phase i at time 0), by causes too.

  It is the integral over [0, t] of exp(S u) s_c du for exit rates s_c of a
  cause c. Nothing is subtracted: each entry has a small relative error.

  Args:
    value: t, (...), finite and >= 0, else results are NaN.
    subgenerator: S, (..., p, p), or `EdgeRates`. With causes, target p + c of
      an edge is absorption by cause c.
    exit_rates: s, (..., p), or None. With causes, (..., p, causes), which a
      matrix S needs.
    num_phases: p, for edges; None derives it: the largest target is absorption
      by the last cause, unless it is a source.
    num_causes: the number of causes of absorption; None does not tell causes
      apart.

  Returns:
    An array (..., p), or (..., p, causes), where (...) is the common batch
    shape of times and model.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, there are no phases or more than 4096, or
      sources and targets are traced and `num_phases` is None.

  Example: the first stage ends in the second one or by cause 1, which then has
    two thirds of its exits.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 0, 1], [1, 3, 2], [1.0, 2.0, 1.0])
    >>> probs = pm.phase_type.absorption_probs(50.0, edges, num_causes=2)
    >>> [f"{float(x):.4f}" for row in probs for x in row]
    ['0.3333', '0.6667', '1.0000', '0.0000']
  """
  arguments = (value, subgenerator, exit_rates, num_phases, num_causes)
  return _absorptions("density", *arguments)


def log_absorption_probs(
  value: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  num_phases: int | None = None,
  num_causes: int | None = None,
) -> Array:
  """Computes log P(absorbed by time t | in phase i at time 0), by causes too.

  Arguments, result and errors are as in `absorption_probs`; an entry is -inf
  only at t = 0, or where no path leads to absorption.

  Example: two jumps within 1e-200 units of time, log(1e-400 / 2).

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> logs = pm.phase_type.log_absorption_probs(1e-200, edges)
    >>> [f"{float(x):.4f}" for x in logs]
    ['-921.7272', '-460.5170']
  """
  arguments = (value, subgenerator, exit_rates, num_phases, num_causes)
  return _absorptions("log_density", *arguments)


def _transitions(
  kind: str,
  value: Given,
  matrix: Given,
  exits: Given,
  num_phases: int | None,
  discrete: bool,
) -> Array:
  """Computes transition probabilities, or their logarithms."""
  name = operands.argument_names(discrete)[1]
  p = phase_arguments.num_phases(name, matrix, num_phases)
  _check_size(name, p)
  model, times, dtype = _converted(p, matrix, value, exits, discrete)
  result = _run_transitions(kind, discrete, model, times)
  return structures.cast(result, dtype)


def _absorptions(
  kind: str,
  value: Given,
  matrix: Given,
  exits: Given,
  num_phases: int | None,
  num_causes: int | None,
) -> Array:
  """Computes absorption probabilities, or their logarithms."""
  name = "subgenerator"
  count = 1
  if num_causes is not None:
    count = raw_arguments.integer("num_causes", num_causes)
    if count < 1:
      raise ValueError(f"num_causes is {count}: it must be at least 1")
  p = phase_arguments.num_phases(name, matrix, num_phases, count)
  if kind == "log_density":
    _check_size(name, p)
  by_cause: Array | None = None
  # Causes of edges are phases that are never left, after all others.
  size = p + count if operands.is_edges(matrix) else p
  if num_causes is not None and not operands.is_edges(matrix):
    by_cause = _rates_by_cause(exits, p, count)
    exits = np.sum(by_cause, axis=-1)
  model, times, dtype = _converted(size, matrix, value, exits, False)
  if by_cause is not None:
    by_cause = structures.cast(by_cause, static.wide_float())
  result = _run_absorptions(kind, p, count, model, by_cause, times)
  result = structures.cast(result, dtype)
  return result[..., 0] if num_causes is None else result


def _rates_by_cause(exits: Given, p: int, count: int) -> Array:
  """Converts exit rates by cause; raises ValueError unless (..., p, causes)."""
  if exits is None:
    raise ValueError(
      "exit_rates is None: with num_causes it must be (..., p, causes), or the "
      "subgenerator must be EdgeRates"
    )
  rates = structures.as_array(exits, None, "exit_rates")
  shape = static.shape(rates)
  if len(shape) < 2 or shape[-2:] != (p, count):
    raise ValueError(
      f"exit_rates has shape {shape}: with num_causes it must be "
      f"(..., p, causes), here (..., {p}, {count})"
    )
  return rates


def _converted(
  size: int, matrix: Given, value: Given, exits: Given, discrete: bool
) -> tuple[Model, Array, str]:
  """Returns a model with some initial masses, wide times, and the dtype."""
  names = operands.argument_names(discrete, "value")
  start = [1.0] + [0.0] * (size - 1)
  converted = operands.convert(start, matrix, value, exits, None, names=names)
  operands.canonical(converted, names)  # Raises if shapes do not broadcast.
  initial, rates, times, given_exits, _ = converted
  wide_times = structures.cast(times, static.wide_float())
  return (
    (initial, rates, given_exits, None),
    wide_times,
    static.dtype_name(times),
  )


def _check_size(name: str, p: int) -> None:
  """Raises ValueError if there are too many phases for all pairs of them."""
  most = edge_rates.MAX_DENSE_PHASES
  if p > most:
    raise ValueError(
      f"{name} has {p} phases: for probabilities between all of them it may have "
      f"at most {most}; compute rows by occupancy, columns by expm_multiply, or "
      "entries by log_phase_expectation"
    )


def _evaluate_transitions(
  kind: str, discrete: bool, model: Model, times: Array
) -> Array:
  """Computes transition probabilities (..., p, p), or their logarithms."""
  p = static.shape(model[0])[-1]
  _, edges, _, good = weighted_models.listed(model, discrete)
  units = structures.constant(onp.eye(p), static.dtype_name(times))
  if kind == "log_density" or p <= _FEW_PHASES:
    starts = units[:, None, :]
    result = phase_vectors.between(
      kind, discrete, starts, edges, times, units, 2
    )
  else:
    unit = weighted_models.unit_of(edges, discrete)
    edges = edges._replace(parameters=edges.parameters[..., None, :])
    result = phase_vectors.rows(
      discrete, units, edges, times[..., None], unit[..., None]
    )
  result = array_utils.at_most(result, 0.0 if kind == "log_density" else 1.0)
  return result if good is None else result * good[..., None, None]


def _evaluate_absorptions(
  kind: str,
  p: int,
  count: int,
  model: Model,
  by_cause: Array | None,
  times: Array,
) -> Array:
  """Computes absorption probabilities (..., p, causes), or their logarithms."""
  _, edges, _, good = weighted_models.listed(model, False)
  if by_cause is not None:
    good = weighted_models.also(
      good, np.all(np.all(by_cause >= 0.0, axis=-1), axis=-1)
    )
    edges = _with_causes(edges, p, count, by_cause)
  dtype = static.dtype_name(times)
  ends = structures.constant(onp.eye(count, p + count, p), dtype)
  if kind == "log_density" or p <= _FEW_PHASES:
    starts = structures.constant(onp.eye(p, p + count), dtype)[:, None, :]
    result = phase_vectors.between(kind, False, starts, edges, times, ends, 2)
  else:
    edges = edges._replace(parameters=edges.parameters[..., None, :])
    result = phase_vectors.columns(False, edges, times[..., None], ends)
    result = np.moveaxis(result[..., :p], -1, -2)
  result = array_utils.at_most(result, 0.0 if kind == "log_density" else 1.0)
  return result if good is None else result * good[..., None, None]


def _with_causes(edges: Edges, p: int, count: int, by_cause: Array) -> Edges:
  """Replaces the last p edges, the exits, by exits of each cause.

  Args:
    edges: edges between phases, then the exits of phase 0, ..., p - 1.
    p: the number of phases.
    count: the number of causes.
    by_cause: rates, (..., p, causes).
  """
  sources = onp.repeat(onp.arange(p), count)
  targets = onp.tile(onp.arange(p, p + count), p)
  rates = np.reshape(by_cause, (*static.shape(by_cause)[:-2], p * count))
  return edges._replace(
    sources=_joined_indices(edges.sources, p, sources),
    targets=_joined_indices(edges.targets, p, targets),
    parameters=array_utils.joined(edges.parameters[..., :-p], rates),
  )


def _joined_indices(x: Array, p: int, last: onp.ndarray) -> Array:
  """Replaces the last p entries of indices of edges."""
  x = structures.cast(x, "int32")
  return np.concatenate([x[:-p], structures.constant(last, "int32")], axis=-1)


_run_transitions = control_flow.compiled(
  _evaluate_transitions, static_argnums=(0, 1)
)
_run_absorptions = control_flow.compiled(
  _evaluate_absorptions, static_argnums=(0, 1, 2)
)
