"""Expected statistics of the paths of phase-type variables, given data.

This is the E-step of the EM algorithm. It costs as much as a gradient: the
native kernel uses the same pass.

References:
  S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
    EM algorithm, Scand. J. Statist. 23, 1996.
  M. Olsson, Estimation of phase-type distributions from censored data, Scand.
    J. Statist. 23, 1996.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
import math
from typing import NamedTuple

import numpy as np

from phasic.internal import dtypes
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.calls import observation_calls
from phasic.math.model import function_kinds
from phasic.math.model import operands as operands_lib
from phasic.math.model import value_rules
from phasic.math.model.model_types import SubgeneratorLike
from phasic.math.portable import portable_statistics


class ExpectedStatistics(NamedTuple):
  """Expected numbers of starts, jumps and exits of paths, and sojourn times.

  All are summed over the observations.

  Attributes:
    starts: (..., p), the number of paths that start in each phase.
    sojourns: (..., p), the time spent in each phase.
    jumps: (..., p, p), the number of jumps from phase i to phase j, zero for i
      = j; for a model of edges (..., m), the number of passages of each edge,
      including exits. Parallel edges share them in proportion to their rates;
      an edge from a phase to itself has zero.
    exits: (..., p), the number of absorptions from each phase.
    atom: (...), the number of values that are zero by the atom.

  Example: the M-step of an exponential time, absorptions by time. The estimate
    is one over the mean of the times, whatever the rate before.

    >>> from phasic import math as pm
    >>> given = pm.phase_type.expected_statistics([0.5, 1.5, 4.0], [1.0], [[-3.0]])
    >>> rate = given.exits[0] / given.sojourns[0]
    >>> print(f"{float(rate):.6f}")
    0.500000
  """

  starts: Array
  sojourns: Array
  jumps: Array
  exits: Array
  atom: Array


def expected_statistics(
  value: ArrayLike,
  initial_probs: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  prob_zero: ArrayLike | None = None,
  *,
  weights: ArrayLike | None = None,
  kind: str = "log_prob",
  upper: ArrayLike | None = None,
) -> ExpectedStatistics:
  """Computes expected path statistics given observations: EM's E-step.

  Let O be the observed event of a value and w its weight. The statistics are
  sums over the values of w times

      starts_i   = alpha_i P(O | start in i) / P(O)
      sojourns_i = E[time in phase i | O]
      jumps_ij   = E[jumps from i to j | O]
      exits_i    = E[absorptions from i | O]
      atom       = P(X = 0 | O),

  with densities instead of probabilities for X = t. The kind defines O:

  - "log_prob": X = t, an exact value. Starts and atom sum to sum(w), exits to
    the sum of w over t > 0, and sojourns to sum(w t).
  - "log_survival_function": X > t, a right-censored value. Statistics are of
    the path up to t. So there are no exits, and sojourns sum to sum(w t).
  - "log_cdf": X <= t, a left-censored value. Statistics are of the entire path,
    which ends before t.
  - "prob", "survival_function", "cdf": the same times P(O), E[...; O], which
    are additive over events.

  With `upper` one call takes data of all kinds: each value is between its time
  t and its `upper`, u. O is then

      t == u:    X = t     as "log_prob"
      u == inf:  X > t     as "log_survival_function"
      t < 0:     X <= u    as "log_cdf"
      else:      t < X <= u, interval-censored; of the entire path.

  The M-step for free rates is alpha_i = starts_i / n, S_ij = jumps_ij /
  sojourns_i and s_i = exits_i / sojourns_i.

  Args:
    value: t, (...). Dimensions that the model lacks are summed over. "log_cdf"
      of inf gives NaN for sojourns, jumps and exits.
    initial_probs: as in `log_prob`.
    subgenerator: as in `log_prob`; EdgeRates too.
    exit_rates: as in `log_prob`.
    prob_zero: as in `log_prob`.
    weights: w, broadcast to the shape of times, `upper` and model; None for
      ones. They are >= 0 or, of the kinds that are additive, of any sign. Times
      of weight zero are ignored, even NaN and impossible ones.
    kind: see above; not used with `upper`.
    upper: u, (...), not below the times; None if all times have one kind.

  Returns:
    ExpectedStatistics, with the batch shape of the model. They are NaN for
    invalid values, an impossible O, and numbers that could not be computed.
    They have no derivatives.

  Raises:
    NotImplementedError: the statistics are differentiated (in graphs of
      TensorFlow derivatives are NaN instead).
    TypeError: as in `log_prob`.
    ValueError: as in `log_prob`, or the kind is unknown.

  Example: the expected numbers of values from two exponential components.

    >>> from phasic import math as pm
    >>> given = pm.phase_type.expected_statistics(
    ...   [0.3, 2.0], [0.5, 0.5], [[-1.0, 0.0], [0.0, -2.0]]
    ... )
    >>> print(f"{float(given.starts[0]):.6f} {float(given.starts[1]):.6f}")
    1.189946 0.810054
  """
  function = function_kinds.kind_of(kind, "kind")
  if upper is None:
    arguments = operands_lib.convert(
      initial_probs, subgenerator, value, exit_rates, prob_zero
    )
    operands, layout = operands_lib.canonical(arguments)
    edges, kinds = operands_lib.edges(layout, arguments), None
    lay_out: Callable[[Array, str], Array] = functools.partial(
      operands_lib.cotangent, layout
    )
  else:
    call = observation_calls.ObservationsCall(
      (initial_probs, subgenerator, value, upper, exit_rates, prob_zero)
    )
    operands, layout = call.operands, call.layout
    edges, kinds, lay_out = call.edges, call.kinds, call.weights
  dtype = static.dtype_name(operands[0])
  rule = weight_rule(function, upper is not None)
  known = _weights(weights, dtype, rule)
  statistics = kernel_ops.statistics(
    function,
    operands,
    lay_out(known, "weights"),
    portable_statistics.statistics,
    edges,
    kinds,
  )
  starts, sojourns, jumps, exits, atom = (
    operands_lib.rows(layout, x) for x in statistics
  )
  return ExpectedStatistics(starts, sojourns, jumps, exits, atom[..., 0])


def weight_rule(function: str, has_upper: bool) -> value_rules.ValueRule:
  """Returns the rule of observation weights.

  Weights may be negative where events may be subtracted from each other.

  Args:
    function: the observed event, a name as in `function_kinds`.
    has_upper: whether observations are of any kind.
  """
  is_additive = not has_upper and not function.startswith("log")
  return value_rules.FACTOR if is_additive else value_rules.WEIGHT


def _weights(
  weights: ArrayLike | None, dtype: str, rule: value_rules.ValueRule
) -> Array:
  """Returns weights in the dtype of the model, NaN for invalid ones."""
  if weights is None:
    return structures.constant(1.0, dtype)
  dtypes.check_fits(weights, "weights", dtype, "the model")
  array = structures.as_array(weights, dtype, "weights")
  value_rules.warn("expected_statistics", "weights", array, rule)
  return np.where(rule.holds(array), array, math.nan)
