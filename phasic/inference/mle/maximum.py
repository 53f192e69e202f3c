"""Maximizes a log likelihood of numbers that the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math
from typing import TypeAlias

import numpy as onp

from phasic.inference.data import model_likelihoods
from phasic.inference.mle import ends
from phasic.inference.mle import judgment
from phasic.inference.mle import optimizer as optimizer_lib
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.parameters.host_values import number
from phasic.inference.parameters.host_values import whole_number
from phasic.inference.results import confidence
from phasic.inference.results import quantities
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import raw_arguments
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike

_Numbers: TypeAlias = Mapping[str, ArrayLike] | ArrayLike
_Bounds: TypeAlias = Sequence[ArrayLike]


@dataclasses.dataclass(frozen=True, eq=False)
class Maximum:
  """The maximum of a log likelihood, with standard errors of its parameters.

  Attributes:
    parameters: the numbers, in the form of the start.
    log_likelihood: the log likelihood there.
    standard_errors: of the numbers, in the same form, by the delta method from
      exact second derivatives; NaN of those that are not identified, or at a bound.
    statuses: of each number by name, as in `Fit.statuses`: "identified", "on the
      boundary (zero)", "at a bound", or the reason why it is not identified or not
      known, such as "unknown (the search did not end)".
    converged: whether the search ended at a maximum.
    message: why it ended.
    num_evaluations: how often the log likelihood and its gradient were computed.
    reached: the log likelihoods at which the searches from each start ended; NaN
      where it was not finite at the start.
    uncertainty: all that is known about the numbers.

  Example: a rate, given three events in two units of time.

    >>> import numpy as np
    >>> from phasic import inference
    >>> maximum = inference.maximize(
    ...   lambda x: 3.0 * np.log(x["rate"]) - 2.0 * x["rate"], {"rate": 1.0}
    ... )
    >>> print(f"{float(maximum.parameters['rate']):.4f}, {maximum.converged}")
    1.5000, True
    >>> print(f"{float(maximum.standard_errors['rate']):.4f}")
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
  uncertainty: uncertainty_lib.Uncertainty = dataclasses.field(repr=False)

  def covariance(self) -> tuple[tuple[str, ...], onp.ndarray]:
    """Returns the names of the d numbers, and their covariance matrix.

    The matrix is read-only. It is NaN in rows and columns of those that have no
    standard error.
    """
    return self.uncertainty.names, self.uncertainty.covariance

  def standard_error_of(self, f: Callable[[object], ArrayLike]) -> onp.ndarray:
    """Computes the standard error of a function of the numbers.

    It is that of `Fit.standard_error_of`, by the delta method.

    Args:
      f: takes the numbers in the form of the start, and returns an array.
    """
    return self.uncertainty.standard_error_of(f)

  def confidence_interval(
    self,
    quantity: Callable[[object], ArrayLike] | str,
    *,
    confidence_level: float = 0.95,
    method: str = "wald",
    bounds: Sequence[float] | None = None,
  ) -> confidence.ConfidenceInterval:
    """Computes a confidence interval of a number or of a function of numbers.

    See `Fit.confidence_interval`. Numbers with bounds have theirs on a scale that
    keeps the bounds.

    Args:
      quantity: the name of an array or of one of its numbers, "size[0]"; or a
        function of the numbers in the form of the start.
      confidence_level: between zero and one.
      method: "wald" or "profile".
      bounds: (low, high), the range of a function, which its scale keeps.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: the method or level is unknown, or there is no such number.

    Example: a rate, given three events in two units of time.

      >>> import numpy as np
      >>> from phasic import inference
      >>> maximum = inference.maximize(
      ...   lambda x: 3.0 * np.log(x["rate"]) - 2.0 * x["rate"], {"rate": 1.0}
      ... )
      >>> interval = maximum.confidence_interval("rate", method="profile")
      >>> print(f"{interval.low:.4f} {interval.high:.4f}")
      0.3730 3.8896
    """
    level = confidence.checked_level(confidence_level)
    confidence.check_method(method, ("wald", "profile"))
    ends = quantities.range_of(quantity, bounds)
    resolved = quantities.quantity_of(self.uncertainty, quantity, ends=ends)
    return confidence.interval_of(self.uncertainty, resolved, level, method)


def maximize(
  log_likelihood: Callable[[object], Array],
  start: _Numbers,
  *,
  bounds: Mapping[str, _Bounds] | _Bounds | None = None,
  starts: Sequence[_Numbers] = (),
  max_steps: int = 500,
  tolerance: float = 1e-9,
) -> Maximum:
  """Maximizes a log likelihood in positive numbers, or in numbers with bounds.

  It is for likelihoods that are not a sum over observations of one distribution,
  e.g. of a spectrum under a demography; for those use `fit_mle`. The optimizer is
  the same: SciPy's L-BFGS-B with exact gradients, then Newton steps in a trust
  region with exact second derivatives. It searches in logarithms of the distances
  from a bound, in log odds between two bounds, and in real numbers themselves.
  Where a step leads to numbers at which the likelihood cannot be computed, it steps
  back. A number that tends to a bound is set to it if that costs nothing, and if
  the likelihood falls away from the bound; then its status is "on the boundary
  (zero)" or "at a bound".

  Where the search ends, exact second derivatives show whether this is a maximum. On
  a plateau, or where the likelihood rises without end, `converged` is False,
  `statuses` names the numbers, and there is a RuntimeWarning. In float32 a search
  has converged where rounding hides any gain.

  In JAX and TensorFlow the function is compiled: it is called with traced arrays,
  once or twice, and must consist of the backend's functions.

  Args:
    log_likelihood: takes the numbers in the form of `start`, as arrays, and
      returns a scalar. It is a log likelihood of all data, and not a mean, so
      that standard errors are right; they are too small if data are dependent.
    start: the numbers: an array, or a mapping of names to arrays.
    bounds: a pair (low, high) for an array, or a mapping of names to pairs. The
      ends are numbers, or arrays that broadcast with the numbers; (-inf, inf) is
      for real numbers. Numbers without a pair are positive: (0, inf). The function
      is computed between bounds, and at one only where a number tends to it.
    starts: more of them to start from, of the same form.
    max_steps: the most steps of one run; as many Newton steps follow, or 50.
    tolerance: a run ends when all slopes are below this fraction of the log
      likelihood at its start, or of one if that is larger.

  Raises:
    ImportError: SciPy is missing.
    TypeError: a start has another form, or is traced; a bound is not a pair; the
      log likelihood is not a scalar.
    ValueError: a number is not between its bounds, bounds are not in order or have
      an unknown name, an option breaks a rule, or the log likelihood or a slope is
      not finite at all starts.

  Example: the rate of an exponential lifetime, from three of them.

    >>> import numpy as np
    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> lifetimes = np.asarray([0.5, 1.0, 3.0])
    >>> maximum = inference.maximize(
    ...   lambda x: np.sum(Erlang(1, x["rate"]).log_prob(lifetimes)),
    ...   {"rate": 1.0},
    ... )
    >>> print(f"{float(maximum.parameters['rate']):.6f}, {maximum.statuses['rate']}")
    0.666667, identified
    >>> print(f"{float(maximum.standard_errors['rate']):.6f}")
    0.384900

  Example: a real slope, by which rates differ, and a share between 0 and 1.

    >>> import math
    >>> groups = np.asarray([0.0, 0.0, 1.0])
    >>> maximum = inference.maximize(
    ...   lambda x: (
    ...     np.sum(x["slope"] * groups - np.exp(x["slope"] * groups) * lifetimes)
    ...     + 3 * np.log(x["share"])
    ...     + np.log(1 - x["share"])
    ...   ),
    ...   {"slope": 0.0, "share": 0.5},
    ...   bounds={"slope": (-math.inf, math.inf), "share": (0, 1)},
    ... )
    >>> print(f"{float(maximum.parameters['slope']):.4f}")  # log(1 / 3)
    -1.0986
    >>> print(f"{float(maximum.parameters['share']):.4f}")
    0.7500

  References:
    J. Nocedal, S. J. Wright, Numerical optimization, 2006, ch. 4 and 7.
    A. W. van der Vaart, Asymptotic statistics, 1998, ch. 3.
  """
  raw_arguments.check_callable(
    "log_likelihood", log_likelihood, " that returns a scalar"
  )
  whole_number("max_steps", max_steps, 0)
  if not 0.0 < number("tolerance", tolerance) < 1.0:
    raise ValueError(f"tolerance is {tolerance}: it must be in (0, 1)")
  raw_arguments.check_sequence("starts", starts, " of starts")
  form = numbers_lib.Numbers("start", start, bounds)
  tried = {"start": form.entries}
  for i, x in enumerate(starts):
    tried[f"starts[{i}]"] = form.entries_of(f"starts[{i}]", x)
  likelihood = model_likelihoods.WrittenLikelihood(
    model_likelihoods.scalar(log_likelihood, form),
    form,
    starts=list(tried.values()),
  )
  low = onp.where(form.is_real, -onp.inf, 0.0)
  high = onp.full(len(low), onp.inf)
  optimizer = optimizer_lib.Optimizer(
    form, likelihood, low, high, max_steps, tolerance
  )
  errors = {name: _start_error(optimizer, name, x) for name, x in tried.items()}
  good = [name for name, error in errors.items() if not error]
  if not good:
    raise ValueError(errors["start"])
  first, _ = optimizer.evaluated(form, tried[good[0]])
  likelihood.total = max(1.0, abs(first))
  with onp.errstate(all="ignore"):
    best, values = ends.best_of(optimizer, [tried[name] for name in good])
    while max(1.0, abs(best.log_likelihood)) < likelihood.total / 10:
      # A search ends at slopes that are small relative to the log likelihood at
      # the start. If the log likelihood is much smaller here, these slopes are
      # too large, and the search goes on.
      likelihood.total = max(1.0, abs(best.log_likelihood))
      best = optimizer.polish(optimizer.maximize(best.entries))
    best = ends.with_zeros(optimizer, best)
    verdict = judgment.judge(optimizer, best)
  if not verdict.converged:
    user_warnings.warn(verdict.message)
  by_name = verdict.uncertainty.standard_errors
  reached = dict(zip(good, values, strict=True))
  return Maximum(
    parameters=form.value_at(form.array(best.entries)),
    log_likelihood=best.log_likelihood,
    standard_errors=by_name if isinstance(start, Mapping) else by_name["start"],
    statuses=verdict.uncertainty.statuses,
    converged=verdict.converged,
    message=verdict.message,
    num_evaluations=optimizer.num_evaluations,
    reached=tuple(reached.get(name, math.nan) for name in tried),
    uncertainty=verdict.uncertainty,
  )


def _start_error(
  optimizer: optimizer_lib.Optimizer, name: str, entries: onp.ndarray
) -> str:
  """Returns why a search cannot start at entries, or an empty text."""
  value, slopes = optimizer.evaluated(optimizer.where, entries)
  if onp.isfinite(value) and onp.all(onp.isfinite(slopes)):
    return ""
  shown = ", ".join(f"{x:g}" for x in slopes)
  return (
    f"the log likelihood at {name} is {value:g}, its slopes in free coordinates "
    f"are {shown}: they must be finite; start from other numbers"
  )
