"""What a phase-type variable's path is expected to have done, given data.

The E-step of the EM algorithm. It is the same pass of the native kernel as a
gradient, so that it costs as much, whatever the number of phases.

References:
  S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
    EM algorithm, Scand. J. Statist. 23, 1996.
  M. Olsson, Estimation of phase-type distributions from censored data, Scand.
    J. Statist. 23, 1996.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import NamedTuple

from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.calls import observation_calls
from phasic.math.model import function_kinds
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import SubgeneratorLike


class ExpectedStatistics(NamedTuple):
  """Expected numbers, summed over the times of a model.

  Attributes:
    starts: (..., p), of paths that start in each phase.
    sojourns: (..., p), the time spent in each phase.
    jumps: (..., p, p), of jumps from phase i to phase j, zero where i = j; of
      a model of edges (..., m), of passages of each edge, exits among them.
      Parallel edges share in proportion of their rates; an edge from a phase
      to itself has zero.
    exits: (..., p), of absorptions from each phase.
    atom: (...), of values that are zero by the atom.
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
  """Returns the expected statistics of paths, given what is known of each X.

  With O the event that is known of a value and w its weight, sums over the
  values of w times

      starts_i   = alpha_i P(O | start in i) / P(O)
      sojourns_i = E[time in phase i | O]
      jumps_ij   = E[jumps from i to j | O]
      exits_i    = E[absorptions from i | O]
      atom       = P(X = 0 | O),

  probabilities being densities where X = t is known. The kinds say what O is:

  - "log_prob": X = t, an exact value. The sums of starts and atom are that
    of the weights, that of exits the weights' of t > 0, that of sojourns
    sum(w t).
  - "log_survival_function": X > t, a right-censored value. Statistics are those of the
    path up to t; what follows t is not included. So there are no exits, and
    sojourns sum up to sum(w t).
  - "log_cdf": X <= t, a left-censored value. Statistics are those of the whole
    path, which ends before t.
  - "prob", "survival_function", "cdf": the same times P(O), E[...; O], which add up
    over events.

  With `upper` data of all kinds are one call: each value is known to lie
  between its time t and u, its `upper`. O is then

      t == u:    X = t     as "log_prob"
      u == inf:  X > t     as "log_survival_function"
      t < 0:     X <= u    as "log_cdf"
      else:      t < X <= u, interval-censored; of the whole path.

  The M-step for free rates is alpha_i = starts_i / n, S_ij = jumps_ij /
  sojourns_i and s_i = exits_i / sojourns_i.

  Args:
    value: t, (...). Dimensions that the model does not have are summed over.
      "log_cdf" of inf leaves sojourns, jumps and exits unknown: NaN.
    initial_probs: as in `log_prob`.
    subgenerator: as in `log_prob`; EdgeRates too.
    exit_rates: as in `log_prob`.
    prob_zero: as in `log_prob`.
    weights: w, broadcast to the shape of times, `upper` and model; None for
      ones. Times of weight zero count for nothing, NaN and impossible ones too.
    kind: see above; not used where there is `upper`.
    upper: u, (...), not below the times; None where all are of one kind.

  Returns:
    ExpectedStatistics, with the batch shape of the model. NaN where a value
    breaks a rule, O is impossible, or a number could not be computed. They
    have no derivatives.

  Raises:
    NotImplementedError: the native kernel does not run, or (JAX, and
      TensorFlow where it runs eagerly; NaN in its graphs) a derivative is
      asked for.
    TypeError: as in `log_prob`.
    ValueError: as in `log_prob`, or the kind is unknown.

  Example: which of two exponential components values came from.

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
  known = structures.as_array(
    1.0 if weights is None else weights, dtype, "weights"
  )
  statistics = kernel_ops.statistics(
    function, operands, lay_out(known, "weights"), edges, kinds
  )
  starts, sojourns, jumps, exits, atom = (
    operands_lib.rows(layout, x) for x in statistics
  )
  return ExpectedStatistics(starts, sojourns, jumps, exits, atom[..., 0])
