"""Maximizes a log likelihood of positive numbers that the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy as onp

from phasic.inference.data import likelihood_derivatives
from phasic.inference.mle import positive_numbers
from phasic.inference.parameters.host_values import number
from phasic.inference.parameters.host_values import whole_number
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.calls import gradients

_Numbers: TypeAlias = Mapping[str, ArrayLike] | ArrayLike

IDENTIFIED = "identified"
FLAT = "not identified (flat likelihood)"
ENDLESS = "not identified (no maximum)"
RISES = "not a maximum (the log likelihood bends up)"
UNKNOWN = "unknown (the search did not end)"
UNBENT = "unknown (second derivatives are not finite)"

# A direction of logarithms is flat if the log likelihood bends less than this
# along it: the standard error of the logarithm would exceed 30.
_BEND = 1e-3
# A number is not identified if this share of it lies along flat directions.
_SHARE = 0.1
# A longer Newton step in a logarithm, from where the search ended, means that
# this is no maximum.
_STEP = 0.1
# At a maximum a Newton step is below this, or what it would gain is below rounding
# errors, if these are small themselves.
_NEAR = 1e-5
_ROUNDING = 100.0
_MOST_ROUNDING = 0.01
# With a larger slope in a logarithm a search has not ended.
_SLOPE = 0.01
# SciPy's status of a search that made all its steps.
_ALL_STEPS = 1


class Maximum(NamedTuple):
  """Where a log likelihood is largest, and how well its numbers are known.

  Attributes:
    parameters: the numbers, in the form of the start.
    log_likelihood: the log likelihood there.
    standard_errors: of the numbers, in the same form, from the exact second
      derivatives in their logarithms; NaN of those that are not identified.
    statuses: of each number by name, as in `Fit.statuses`: "identified", or the
      reason why it is not or is not known, such as "unknown (the search did not
      end)".
    converged: whether the search ended at a maximum.
    message: why it ended.
    num_evaluations: how often the log likelihood and its gradient were computed.
    reached: the log likelihoods at which the searches from each start ended; NaN
      where it was not finite at the start.

  Example: a rate, given three events in two units of time.

    >>> import numpy as np
    >>> from phasic import inference
    >>> found = inference.maximize(
    ...   lambda x: 3.0 * np.log(x["rate"]) - 2.0 * x["rate"], {"rate": 1.0}
    ... )
    >>> print(f"{float(found.parameters['rate']):.4f}, {found.converged}")
    1.5000, True
    >>> print(f"{float(found.standard_errors['rate']):.4f}")
    0.8660
  """

  parameters: object
  log_likelihood: float
  standard_errors: object
  statuses: Mapping[str, str]
  converged: bool
  message: str
  num_evaluations: int
  reached: tuple[float, ...]


def maximize(
  log_likelihood: Callable[[object], Array],
  start: _Numbers,
  *,
  starts: Sequence[_Numbers] = (),
  max_steps: int = 500,
  tolerance: float = 1e-9,
) -> Maximum:
  """Maximizes a log likelihood in positive numbers, such as sizes and times.

  It is for likelihoods that are no sum over observations of one distribution,
  e.g. of a spectrum under a demography; for those use `fit_mle`. SciPy's BFGS
  searches in the logarithms of the numbers, with exact gradients. Where a step
  leads to numbers at which the likelihood cannot be computed, it steps back.

  Where the search ends, exact second derivatives tell whether this is a
  maximum. On a plateau, or at an edge where the likelihood no longer changes,
  slopes are zero as well: then `converged` is False, `statuses` names the
  numbers, and there is a RuntimeWarning. In float32 a search has converged where
  rounding hides any gain.

  In JAX and TensorFlow the function is compiled: it is called with traced arrays,
  once or twice, and must consist of the backend's functions.

  Args:
    log_likelihood: takes the numbers in the form of `start`, as arrays, and
      returns a scalar. It is a log likelihood of all data, and not a mean, so
      that standard errors are right; they are too small if data are dependent.
    start: the numbers, > 0: an array, or a mapping of names to arrays.
    starts: more of them to start from, of the same form.
    max_steps: the most steps of one search.
    tolerance: a search ends when all slopes in logarithms are below this
      fraction of the log likelihood at its start, or of one if that is larger.

  Raises:
    ImportError: SciPy is missing.
    TypeError: a start has another form, or is traced; the log likelihood is not
      a scalar.
    ValueError: a number is not positive, an option breaks a rule, or the log
      likelihood or a slope is not finite at all starts.

  Example: the rate of an exponential lifetime, from three of them.

    >>> import numpy as np
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> lifetimes = np.asarray([0.5, 1.0, 3.0])
    >>> found = inference.maximize(
    ...   lambda x: np.sum(Erlang(1, x["rate"]).log_prob(lifetimes)),
    ...   {"rate": 1.0},
    ... )
    >>> print(f"{float(found.parameters['rate']):.6f}, {found.statuses['rate']}")
    0.666667, identified
    >>> print(f"{float(found.standard_errors['rate']):.6f}")
    0.384900

  Reference: J. Nocedal, S. J. Wright, Numerical optimization, 2006, ch. 6.
  """
  raw_arguments.check_callable(
    "log_likelihood", log_likelihood, " that returns a scalar"
  )
  whole_number("max_steps", max_steps, 0)
  if not 0.0 < number("tolerance", tolerance) < 1.0:
    raise ValueError(f"tolerance is {tolerance}: it must be in (0, 1)")
  raw_arguments.check_sequence("starts", starts, " of starts")
  form = positive_numbers.PositiveNumbers("start", start)
  logs = [form.logs("start", start)]
  logs += [form.logs(f"starts[{i}]", x) for i, x in enumerate(starts)]
  search = _Search(log_likelihood, form, max_steps, tolerance)
  names = ["start", *(f"starts[{i}]" for i in range(len(starts)))]
  ends: list[_End] = []
  reached: list[float] = []
  errors: list[ValueError] = []
  for name, x in zip(names, logs, strict=True):
    try:
      end = search.run(name, x)
    except _StartError as error:
      errors.append(error)
      reached.append(math.nan)
    else:
      ends.append(end)
      reached.append(end.value)
  if not ends:
    raise errors[0]
  best = max(ends, key=lambda end: end.value)
  return _judged(search, best, tuple(reached))


class _StartError(ValueError):
  """The log likelihood, or a slope, is not finite at a start."""


class _End(NamedTuple):
  """Where a search ended, and why.

  Attributes:
    logs: the logarithms, (d,).
    value: the log likelihood.
    slopes: those in the logarithms, (d,).
    message: SciPy's message.
    is_over: whether the search ended by itself.
  """

  logs: onp.ndarray
  value: float
  slopes: onp.ndarray
  message: str
  is_over: bool


class _Search:
  """Searches from several starts; counts evaluations."""

  def __init__(
    self,
    log_likelihood: Callable[[object], Array],
    form: positive_numbers.PositiveNumbers,
    max_steps: int,
    tolerance: float,
  ):
    self.form = form
    self.max_steps = max_steps
    self.tolerance = tolerance
    self.num_evaluations = 0

    def of_logs(logs: Array) -> Array:
      value = log_likelihood(form.numbers(np.exp(logs)))
      if static.rank(value) != 0:
        raise TypeError(
          f"log_likelihood returned an array of shape {static.shape(value)}: it "
          "must return a scalar; sum over the data"
        )
      return value

    self._evaluated: Callable[[Array], tuple[ArrayLike, ArrayLike]] = (
      likelihood_derivatives.compiled(
        lambda logs: gradients.value_and_gradient(of_logs, logs)
      )
    )
    self._bent: Callable[[Array, Array], ArrayLike] = (
      likelihood_derivatives.compiled(
        lambda logs, unit: gradients.hessian_vector_product(
          of_logs, (logs,), (unit,)
        )
      )
    )

  def evaluate(self, logs: onp.ndarray) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its slopes in logarithms."""
    self.num_evaluations = self.num_evaluations + 1
    with user_warnings.searching():  # The search steps back from NaN.
      value, slopes = self._evaluated(self.form.array(logs))
    return float(
      likelihood_derivatives.host(value)
    ), likelihood_derivatives.host(slopes)

  def hessian(self, logs: onp.ndarray) -> onp.ndarray:
    """Computes the second derivatives in logarithms, (d, d)."""
    at = self.form.array(logs)
    with user_warnings.searching():
      rows = [
        likelihood_derivatives.host(self._bent(at, self.form.array(unit)))
        for unit in onp.eye(len(logs))
      ]
    found = onp.stack(rows)
    return (found + onp.transpose(found)) / 2

  def run(self, name: str, start: onp.ndarray) -> _End:
    """Searches from one start."""
    with frameworks.needed_by("a fit"):
      from scipy import optimize

    first, slopes = self.evaluate(start)
    if not onp.isfinite(first) or not onp.all(onp.isfinite(slopes)):
      shown = ", ".join(f"{x:g}" for x in slopes)
      raise _StartError(
        f"the log likelihood at {name} is {first:g}, its slopes in logarithms are "
        f"{shown}: they must be finite; start from other numbers"
      )
    scale = max(1.0, abs(first))
    # The last accepted step, from which a penalty leads back.
    base, there = start, first
    best = (first, start, slopes)

    def loss(logs: onp.ndarray) -> tuple[float, onp.ndarray]:
      nonlocal best
      value, slopes = self.evaluate(logs)
      if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
        if value > best[0]:
          best = (value, onp.array(logs), slopes)
        return -value / scale, -slopes / scale
      away = logs - base
      steep = 1.0 + abs(there) / scale
      return (
        -there / scale + steep * (1.0 + float(onp.sum(away * away))),
        2.0 * steep * away,
      )

    def accepted(intermediate_result: optimize.OptimizeResult) -> None:
      nonlocal base, there
      base = onp.array(intermediate_result.x)
      there = -float(intermediate_result.fun) * scale

    with onp.errstate(all="ignore"):
      found = optimize.minimize(
        loss,
        start,
        jac=True,
        method="BFGS",
        callback=accepted,
        options={"gtol": self.tolerance, "maxiter": self.max_steps},
      )
    # A failed line search may return an earlier point than the best one.
    value, logs, slopes = best
    return _End(
      logs, value, slopes, str(found.message), found.status != _ALL_STEPS
    )


def _judged(search: _Search, end: _End, reached: tuple[float, ...]) -> Maximum:
  """Tells by second derivatives whether a search ended at a maximum."""
  form = search.form
  information = -search.hessian(end.logs)
  largest = float(onp.max(onp.abs(end.slopes)))
  is_known = bool(onp.all(onp.isfinite(information)))
  information = onp.where(is_known, information, 0.0)
  bends, directions = onp.linalg.eigh(information)
  is_good = bends >= _BEND
  kept = directions[:, is_good]
  spread = onp.matmul(kept / bends[is_good], kept.T)
  step = onp.matmul(spread, end.slopes)
  lost = (
    onp.linalg.norm(directions[:, onp.abs(bends) < _BEND], axis=-1) > _SHARE
  )
  rises = onp.linalg.norm(directions[:, bends <= -_BEND], axis=-1) > _SHARE
  eps = static.finfo_eps(form.dtype)
  rounding = _ROUNDING * eps * (1.0 + abs(end.value))
  is_hidden = (
    rounding < _MOST_ROUNDING
    and float(onp.sum(step * end.slopes)) <= 2.0 * rounding
  )
  is_near = is_hidden or float(onp.max(onp.abs(step))) < _NEAR
  far = (onp.abs(step) > _STEP) & (not is_hidden)
  errors = onp.exp(end.logs) * onp.sqrt(onp.maximum(onp.diag(spread), 0.0))
  statuses = onp.full(len(step), IDENTIFIED, dtype=object)
  statuses[far], statuses[lost], statuses[rises] = ENDLESS, FLAT, RISES
  odd = [
    n for n, x in zip(form.names, statuses, strict=True) if x != IDENTIFIED
  ]
  is_still = largest <= _SLOPE or (is_near and not onp.any(lost | rises))
  has_ended = end.is_over and is_still
  converged = has_ended and is_known and not odd and is_near
  if converged:
    message = (
      f"slopes in logarithms are at most {largest:.2g}, and the log likelihood "
      "bends down in all directions"
    )
  elif not has_ended:
    statuses[:] = UNKNOWN
    message = (
      f"a slope of {largest:.2g} in a logarithm is left ({end.message}): raise "
      "max_steps, lower the tolerance, or start from better numbers"
    )
  elif not is_known:
    statuses[:] = UNBENT
    message = (
      "second derivatives of the log likelihood are not finite where the search "
      "ended, so that it is not known whether this is a maximum"
    )
  elif onp.any(rises):
    message = (
      f"the log likelihood bends up in {', '.join(odd[:5])}: the search ended at a "
      "saddle or a minimum; start elsewhere"
    )
  elif odd:
    message = (
      "the search ended where the log likelihood is flat, or rises without end, "
      f"in {', '.join(odd[:5])}: this is a plateau or an edge and no maximum; "
      "start elsewhere, or from several starts"
    )
  else:
    message = (
      f"a slope of {largest:.2g} in a logarithm is left ({end.message}): start "
      "from where the search ended"
    )
  if not converged:
    user_warnings.warn(message)
  is_sure = statuses == IDENTIFIED
  return Maximum(
    parameters=form.numbers(form.array(onp.exp(end.logs))),
    log_likelihood=end.value,
    standard_errors=form.on_host(onp.where(is_sure, errors, onp.nan)),
    statuses=dict(zip(form.names, map(str, statuses), strict=True)),
    converged=converged,
    message=message,
    num_evaluations=search.num_evaluations,
    reached=reached,
  )
