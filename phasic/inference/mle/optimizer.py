"""Maximizes a log likelihood by SciPy's optimizers, on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as onp

from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import observations as observations_lib
from phasic.inference.mle import objective as objective_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.internal import frameworks
from phasic.internal import static
from phasic.internal.arrays import Integer

# The first run changes each free parameter, a logarithm, by at most this. The
# limit doubles in each later run; all runs together cover the range of doubles.
_REACH = 10.0
_RESTARTS = 7
# With more free parameters than this, Newton steps are skipped.
_MOST_SECOND = 100
# An entry within this relative distance of a bound is set to the bound.
_NEAR = 1e-14
# Ends are the same if their log likelihoods and entries are so near, relatively.
_SAME_VALUE, _SAME_ENTRIES = 1e-7, 1e-2
# The standard deviation of perturbed starts in unconstrained parameters.
_SPREAD = 1.0


class Optimum(NamedTuple):
  """A local maximum of the log likelihood, as an optimizer found it.

  Attributes:
    entries: the values of all coordinates, (k,).
    log_likelihood: the log likelihood at these entries.
    gradient_norm: the largest slope of the mean log likelihood, over the free
      parameters that are not at a bound.
    method: the names of the methods.
    message: why the optimizer ended.
    log_likelihoods: the log likelihoods after each step.
  """

  entries: onp.ndarray
  log_likelihood: float
  gradient_norm: float
  method: str
  message: str
  log_likelihoods: tuple[float, ...]


class Optimizer:
  """Maximizes the log likelihood of one data set within bounds."""

  def __init__(
    self,
    where: coordinates_lib.Coordinates,
    observations: observations_lib.Observations,
    low: onp.ndarray,
    high: onp.ndarray,
    max_steps: Integer,
    tolerance: float,
  ):
    """Makes an optimizer for one fit.

    Args:
      where: the coordinates.
      observations: the data.
      low: the lower bounds of the entries, (k,).
      high: the upper bounds of the entries, (k,).
      max_steps: the largest number of steps of one run.
      tolerance: the largest slope at which a run has converged.
    """
    self.where = where
    self.observations = observations
    self.low = low
    self.high = high
    self.max_steps = max_steps
    self.tolerance = tolerance
    self.num_evaluations = 0
    self.total = observations_lib.total_weight(observations)

  def value(self, entries: onp.ndarray) -> float:
    """Computes the log likelihood for entries, some of which may be zero."""
    self.num_evaluations = self.num_evaluations + 1
    found = self.where.restricted(entries, entries > 0)
    value = likelihood_derivatives.log_likelihood(
      found, found.entries, self.observations
    )
    return value if onp.isfinite(value) else -onp.inf

  def rounding(self, log_likelihood: float) -> float:
    """Returns the gradient norm below which rounding hides any ascent.

    Near a maximum the mean log likelihood m changes by about the square of its
    slope: slopes below sqrt(eps (1 + |m|)) change it by less than rounding.
    """
    eps = static.finfo_eps(self.where.distribution.dtype)
    return float(onp.sqrt(eps * (1.0 + abs(log_likelihood) / self.total)))

  def slopes(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes the gradient, projected to keep the sums of entries constant."""
    _, found = likelihood_derivatives.value_and_gradient(
      self.where, entries, self.observations
    )
    return self.where.projected_gradient(entries, found)

  def maximize(self, entries: onp.ndarray) -> Optimum:
    """Maximizes from the given entries by L-BFGS-B; zeros stay zero."""
    keep = entries > 0
    log_likelihoods: list[float] = []
    message = ""
    for i in range(_RESTARTS):
      inner = self.where.restricted(entries, keep)
      if not len(inner.names):
        break
      free = inner.to_unconstrained(inner.entries)
      reach = _REACH * 2.0**i
      found, message, at_edge = self._maximize_once(
        inner, free, reach, log_likelihoods
      )
      entries = self._updated(entries, inner, found)
      if not at_edge:
        break
    return self._optimum(entries, "L-BFGS-B", message, log_likelihoods)

  def polish(self, optimum: Optimum) -> Optimum:
    """Refines an optimum by Newton steps, if there are few free parameters."""
    entries = optimum.entries
    keep = (entries > self.low) & (entries < self.high) & (entries > 0)
    inner = self.where.restricted(entries, keep)
    if not 0 < inner.num_free <= _MOST_SECOND:
      return optimum
    with frameworks.needed_by("a fit"):
      from scipy import optimize

    free = inner.to_unconstrained(inner.entries)
    objective = objective_lib.Objective(self.evaluated, self.total, inner, free)

    def second(x: onp.ndarray) -> onp.ndarray:
      at = inner.to_constrained(x)
      _, slopes = self.evaluated(inner, at)
      hessian = likelihood_derivatives.hessian(inner, at, self.observations)
      bent = -inner.unconstrained_hessian(at, slopes, hessian) / self.total
      if not onp.all(onp.isfinite(bent)):
        raise FloatingPointError("the Hessian of the likelihood is not finite")
      return bent

    try:
      found = optimize.minimize(
        objective,
        free,
        jac=True,
        hess=second,
        method="trust-exact",
        callback=objective.accepted,
        options={"gtol": 1e-12, "maxiter": 50, "initial_trust_radius": 0.1},
      )
    except FloatingPointError:
      return optimum
    entries = self._updated(entries, inner, found.x)
    better = self._optimum(
      entries,
      "L-BFGS-B, Newton steps in a trust region",
      optimum.message,
      [*optimum.log_likelihoods, *objective.log_likelihoods],
    )
    if better.log_likelihood >= optimum.log_likelihood:
      return better
    met = keep & ((entries == self.low) | (entries == self.high))
    if onp.any(met):
      # Newton steps from a saddle point may end at a bound; L-BFGS-B continues
      # from there.
      again = self.maximize(entries)
      if again.log_likelihood > optimum.log_likelihood:
        return self.polish(again)
    return optimum

  def perturbed_starts(
    self, start: onp.ndarray, count: Integer, seed: Integer
  ) -> list[onp.ndarray]:
    """Returns random perturbations of a start that have positive likelihood."""
    random = onp.random.default_rng(seed)
    inner = self.where.restricted(start, start > 0)
    free = inner.to_unconstrained(inner.entries)
    found = []
    for _ in range(count):
      moved = free + _SPREAD * random.standard_normal(len(free))
      at = onp.clip(self._updated(start, inner, moved), self.low, self.high)
      at = onp.where(start > 0, at, 0.0)
      if self.value(at) > -onp.inf:
        found.append(at)
    return found

  def best_of(
    self,
    starts: Sequence[onp.ndarray],
    report: Callable[[int, float], object] | None,
  ) -> tuple[Optimum, list[float]]:
    """Maximizes from several starts; returns the best end, and all maxima.

    The best end is that of all distinct ends after Newton steps: where the search
    from one start stops short, another may look better.
    """
    ends: list[Optimum] = []
    for i, start in enumerate(starts):
      end = self.maximize(start)
      same = any(self._are_near(end, other) for other in ends)
      ends.append(end if same else self.polish(end))
      if report is not None:
        report(i + 1, max(map(_value_of, ends)))
    return max(ends, key=_value_of), [end.log_likelihood for end in ends]

  def _are_near(self, first: Optimum, second: Optimum) -> bool:
    """Returns whether two ends are the same but for where the search stopped."""
    apart = abs(first.log_likelihood - second.log_likelihood)
    if not apart <= _SAME_VALUE * (1.0 + abs(second.log_likelihood)):
      return False
    scale = onp.maximum(onp.abs(second.entries), onp.finfo(float).tiny)
    change = onp.abs(first.entries - second.entries) / scale
    return bool(onp.all(change <= _SAME_ENTRIES))

  def _maximize_once(
    self,
    inner: coordinates_lib.Coordinates,
    free: onp.ndarray,
    reach: float,
    log_likelihoods: list[float],
  ) -> tuple[onp.ndarray, str, bool]:
    """Runs L-BFGS-B, with changes of free parameters up to `reach`.

    Returns the final parameters, the optimizer's message, and whether a
    parameter has changed by `reach`.
    """
    with frameworks.needed_by("a fit"):
      from scipy import optimize
    low, high = self._free_bounds(inner)
    near_low, near_high = free - reach, free + reach
    objective = objective_lib.Objective(self.evaluated, self.total, inner, free)
    found = optimize.minimize(
      objective,
      free,
      jac=True,
      method="L-BFGS-B",
      bounds=list(
        zip(
          onp.maximum(low, near_low), onp.minimum(high, near_high), strict=True
        )
      ),
      callback=objective.accepted,
      options={
        "maxiter": self.max_steps,
        "maxfun": 10 * self.max_steps,
        "maxcor": 20,
        "maxls": 50,
        "ftol": 1e-15,
        "gtol": self.tolerance / 100,
      },
    )
    log_likelihoods += objective.log_likelihoods
    x = onp.asarray(found.x, onp.float64)
    at_edge = onp.any((x >= near_high) | (x <= near_low))
    return x, str(found.message), bool(at_edge)

  def _free_bounds(
    self, inner: coordinates_lib.Coordinates
  ) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns lower and upper bounds of the free parameters."""
    position = {name: i for i, name in enumerate(self.where.names)}
    rows = [
      position[name]
      for name, last in zip(inner.names, inner.reference, strict=True)
      if not last
    ]
    logs = onp.full((2, len(rows)), -onp.inf)
    logs[1] = onp.inf
    for side, bound in enumerate((self.low, self.high)):
      for j, (row, c) in enumerate(
        zip(rows, onp.flatnonzero(inner.has_free), strict=True)
      ):
        if not 0.0 < bound[row] < onp.inf:
          continue
        group = inner.groups[c]
        rest = 1.0 if group < 0 else inner.totals[group] - bound[row]
        if rest > 0:
          logs[side, j] = onp.log(bound[row] / rest)
    return logs[0], logs[1]

  def _updated(
    self,
    entries: onp.ndarray,
    inner: coordinates_lib.Coordinates,
    free: onp.ndarray,
  ) -> onp.ndarray:
    """Sets the entries of `inner` from free parameters; returns all entries."""
    found = onp.array(entries)
    rows = onp.isin(onp.asarray(self.where.names, object), list(inner.names))
    found[rows] = inner.to_constrained(free)
    given = (entries > 0) & ((self.low > 0) | (self.high < onp.inf))
    inside = onp.clip(found, self.low, self.high)
    for bound in (self.low, self.high):
      # The map to entries, exp(log(bound)), may miss a bound by rounding.
      near = onp.abs(inside - bound) <= _NEAR * bound
      inside = onp.where(near & onp.isfinite(bound), bound, inside)
    return onp.where(given, inside, found)

  def evaluated(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient, and counts the call."""
    self.num_evaluations = self.num_evaluations + 1
    return likelihood_derivatives.value_and_gradient(
      inner, entries, self.observations
    )

  def _optimum(
    self,
    entries: onp.ndarray,
    method: str,
    message: str,
    log_likelihoods: list[float],
  ) -> Optimum:
    keep = (entries > self.low) & (entries < self.high) & (entries > 0)
    inner = self.where.restricted(entries, keep)
    value, slopes = self.evaluated(inner, inner.entries)
    slopes = inner.unconstrained_gradient(inner.entries, slopes) / self.total
    norm = float(onp.max(onp.abs(slopes), initial=0.0))
    return Optimum(
      entries, value, norm, method, message, tuple(log_likelihoods)
    )


def _value_of(optimum: Optimum) -> float:
  """Returns an optimum's log likelihood, or -inf if it is not finite."""
  known = optimum.log_likelihood
  return known if onp.isfinite(known) else -onp.inf
