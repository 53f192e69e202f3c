"""Expectations of weights of the phase that a chain is in at a time.

The kernel's density of a model with weights w of phases in place of exits is
alpha exp(S t) w, and alpha T^(k-1) w in steps. So an entry of exp(S t) is a
density with one start and one weight. Its terms are nonnegative, its logarithm
has a wide exponent, and times of one model share their work.

References:
  A. Jensen, Markoff chains as an aid in the study of Markoff processes,
    Skandinavisk Aktuarietidskrift 36, 1953.
  W. K. Grassmann, Transient solutions in Markovian queueing systems, Computers &
    Operations Research 4, 1977.
"""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import evaluation
from phasic.math.elimination import killed_chains
from phasic.math.model import operands
from phasic.math.model.model_types import (
  Edges,
  Given,
  Model,
  SubgeneratorLike,
  SubtransitionLike,
)
from phasic.math.moments import weighted_models
from phasic.math.numeric import array_utils


def phase_expectation(
  value: ArrayLike,
  phase_weights: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes sum_j P(in phase j at time t) w_j = alpha exp(S t) w.

  An absorbed chain is in no phase. Many times of one model share its work.
  Results are differentiable in all arguments, also in the weights. They are
  computed by uniformization (Jensen, 1953; Grassmann, 1977), without
  differences.

  Args:
    value: t, (...), finite and >= 0, else results are NaN.
    phase_weights: w, (..., p), finite and >= 0, else results are NaN.
    initial_probs: alpha, (..., p).
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None.
    prob_zero: z, (...), or None.

  Returns:
    An array with the common batch shape of times, weights and model.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: the probability of the second of two stages.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> x = pm.phase_type.phase_expectation(1.0, [0.0, 1.0], [1.0, 0.0], edges)
    >>> print(f"{float(x):.6f}")
    0.367879
  """
  model = (initial_probs, subgenerator, exit_rates, prob_zero)
  return evaluate("density", value, phase_weights, model, False)


def log_phase_expectation(
  value: ArrayLike,
  phase_weights: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log(alpha exp(S t) w), of any size.

  It is -inf only where no path leads from a start to a phase of positive weight
  in time t, and does not underflow where a path is improbable.

  Arguments, result and errors are as in `phase_expectation`.

  Example: three jumps within 1e-200 units of time, log(1e-600 / 6).

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    >>> start, end = [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]
    >>> x = pm.phase_type.log_phase_expectation(1e-200, end, start, edges)
    >>> print(f"{float(x):.6f}")
    -1383.342815
  """
  model = (initial_probs, subgenerator, exit_rates, prob_zero)
  return evaluate("log_density", value, phase_weights, model, False)


def discrete_phase_expectation(
  value: ArrayLike,
  phase_weights: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes sum_j P(in phase j after k steps) w_j = alpha T^k w.

  Arguments, result and errors are as in `phase_type.phase_expectation`, with T,
  (..., p, p), or `EdgeProbs`, and integers k >= 0, else results are NaN.

  Example: two steps without absorption, which has probability 1/4 in each.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [0.25])
    >>> x = pm.discrete_phase_type.phase_expectation(2, [2.0], [1.0], edges)
    >>> print(f"{float(x):.6f}")
    1.125000
  """
  model = (initial_probs, subtransition, exit_probs, prob_zero)
  return evaluate("density", value, phase_weights, model, True)


def discrete_log_phase_expectation(
  value: ArrayLike,
  phase_weights: ArrayLike,
  initial_probs: ArrayLike,
  subtransition: SubtransitionLike,
  exit_probs: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
) -> Array:
  """Computes log(alpha T^k w), of any size.

  Arguments, result and errors are as in `phase_expectation`.

  Example: a million steps without absorption, 1e6 log(3/4).

    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0], [1], [0.25])
    >>> x = pm.discrete_phase_type.log_phase_expectation(
    ...   1e6, [1.0], [1.0], edges
    ... )
    >>> print(f"{float(x):.3f}")
    -287682.072
  """
  model = (initial_probs, subtransition, exit_probs, prob_zero)
  return evaluate("log_density", value, phase_weights, model, True)


def evaluate(
  kind: str,
  value: Given,
  phase_weights: Given,
  model: tuple[Given, ...],
  discrete: bool,
) -> Array:
  """Computes an expectation, or its logarithm if `kind` is "log_density".

  Args:
    kind: "density" or "log_density".
    value: t, (...).
    phase_weights: w, (..., p).
    model: initial_probs; subgenerator, subtransition or edges; exits; prob_zero.
    discrete: whether time is discrete.
  """
  initial, matrix, exits, atom = model
  names = operands.argument_names(discrete, "value", "phase_weights")
  initial, matrix, times, weights, exits, atom = operands.convert(
    initial, matrix, value, phase_weights, exits, atom, names=names
  )
  _check_weights(static.shape(weights), static.shape(initial))
  dtype, wide = static.dtype_name(initial), static.wide_float()
  result = _run(
    kind,
    discrete,
    (initial, matrix, exits, atom),
    structures.cast(times, wide),
    structures.cast(weights, wide),
  )
  return structures.cast(result, dtype)


def density(
  kind: str,
  discrete: bool,
  initial: Array,
  edges: Edges,
  times: Array,
  weights: Array,
) -> Array:
  """Computes alpha exp(S t) w or alpha T^k w, or the logarithm, for edges.

  Args:
    kind: "density" or "log_density".
    discrete: whether time is discrete.
    initial: alpha, (..., p).
    edges: in the widest precision.
    times: (...); invalid ones give NaN.
    weights: (..., p).
  """
  valid = killed_chains.good_times(times, discrete)
  all_valid = array_utils.are_true(valid)
  if not all_valid:
    times = np.where(valid, times, 0.0)
  if discrete:
    times = times + 1.0
  none = np.zeros((), dtype=static.dtype_name(times))
  arguments = (initial, edges, times, weights, none)
  result = evaluation.value_of_arrays(kind, arguments, discrete)
  return result if all_valid else np.where(valid, result, math.nan)


def _evaluate(
  kind: str, discrete: bool, model: Model, times: Array, weights: Array
) -> Array:
  """Computes an expectation from converted arguments."""
  initial, edges, _, good = weighted_models.listed(model, discrete)
  result = density(kind, discrete, initial, edges, times, weights)
  return result if good is None else result * good


def _check_weights(weights: static.Shape, initial: static.Shape) -> None:
  """Raises ValueError unless the shapes of weights and masses agree in p."""
  sizes = (weights[-1], initial[-1]) if weights else (0, initial[-1])
  if sizes[0] != sizes[1] and all(isinstance(d, int) for d in sizes):
    raise ValueError(
      f"phase_weights has shape {weights}: it must be (..., p) with "
      f"p = {initial[-1]}, as in initial_probs"
    )


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1))
