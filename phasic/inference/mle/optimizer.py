"""Maximizes a log likelihood by SciPy's optimizers, on the host."""

from __future__ import annotations

from typing import Generic, NamedTuple

import numpy as onp

from phasic.inference.data import likelihoods
from phasic.inference.data.likelihoods import MapT
from phasic.inference.mle import search
from phasic.internal import static
from phasic.internal.arrays import Integer

# The first run changes each free parameter, a logarithm, by at most this. The
# limit doubles in each later run; all runs together cover the range of doubles.
_REACH = 10.0
_RESTARTS = 7
# With more than `_MOST_SECOND` free parameters Newton steps are skipped.
# Otherwise at most `_NEWTON_STEPS` of them are made.
_MOST_SECOND = 100
_NEWTON_STEPS = 50
# An optimum is a saddle if the Hessian of the log likelihood, in logarithms of
# entries, has an eigenvalue above `_BENDS_UP`. Steps of the lengths `_ESCAPES`
# along the eigenvector are then tried, for at most `_MOST_SADDLES` saddles.
_BENDS_UP = 1e-3
_ESCAPES = (1.0, 0.3, 0.1, 0.03)
_MOST_SADDLES = 5
# The log likelihood is flat where it bends less than this in some direction,
# relative to how it bends along each parameter.
_LEAST_BEND = 1e-8
# The rounding error of a log likelihood, in machine epsilons of its size.
_ROUNDING = 100.0
# An entry within this relative distance of a bound is set to the bound.
_NEAR = 1e-14


class Optimum(NamedTuple):
  """A local maximum of the log likelihood, as an optimizer found it.

  Attributes:
    entries: the values of all entries, (k,).
    log_likelihood: the log likelihood at these entries.
    gradient_norm: the largest slope of the mean log likelihood, over the free
      parameters that are not at a bound.
    method: the names of the methods.
    message: why the optimizer ended.
    is_over: whether L-BFGS-B ended by itself, and not after the most steps.
    log_likelihoods: the log likelihoods after each step.
  """

  entries: onp.ndarray
  log_likelihood: float
  gradient_norm: float
  method: str
  message: str
  is_over: bool
  log_likelihoods: tuple[float, ...]


class Optimizer(Generic[MapT]):
  """Maximizes a log likelihood within bounds."""

  def __init__(
    self,
    where: MapT,
    likelihood: likelihoods.Likelihood[MapT],
    low: onp.ndarray,
    high: onp.ndarray,
    max_steps: Integer,
    tolerance: float,
  ):
    """Makes an optimizer for one fit.

    Args:
      where: the entries, and their map from unconstrained parameters.
      likelihood: the log likelihood of the entries.
      low: the lower bounds of the entries, (k,); >= 0 for positive entries.
      high: the upper bounds of the entries, (k,).
      max_steps: the largest number of steps of one run.
      tolerance: the largest slope, over `likelihood.total`, at which a run ends.
    """
    self.where = where
    self.likelihood = likelihood
    self.low = low
    self.high = high
    self.max_steps = max_steps
    self.tolerance = tolerance
    self.num_evaluations = 0
    # The last result is cached: optimizers end, and take second derivatives, at
    # points at which they have just evaluated the log likelihood.
    self._point = onp.zeros(0)
    self._last = (onp.nan, onp.zeros(0))

  def value(self, entries: onp.ndarray) -> float:
    """Computes the log likelihood for entries, some of which may be zero."""
    self.num_evaluations = self.num_evaluations + 1
    inner = self.where.restricted(entries, self.where.is_inside(entries))
    value = self.likelihood.value(inner, inner.entries)
    return value if onp.isfinite(value) else -onp.inf

  def rounding(self, log_likelihood: float) -> float:
    """Returns the gradient norm below which rounding hides any ascent.

    Near a maximum the mean log likelihood m changes by about the square of its
    slope: slopes below sqrt(eps (1 + |m|)) change it by less than rounding.
    """
    eps = static.finfo_eps(self.likelihood.dtype)
    mean = abs(log_likelihood) / self.likelihood.total
    return float(onp.sqrt(eps * (1.0 + mean)))

  def value_rounding(self, log_likelihood: float) -> float:
    """Returns the rounding error of a log likelihood, taken large."""
    eps = static.finfo_eps(self.likelihood.dtype)
    return _ROUNDING * eps * (1.0 + abs(log_likelihood))

  def slopes(self, entries: onp.ndarray) -> onp.ndarray:
    """Computes the gradient, projected to keep the sums of entries constant."""
    _, gradient = self.likelihood.value_and_gradient(self.where, entries)
    return self.where.projected_gradient(entries, gradient)

  def maximize(self, entries: onp.ndarray, reach: float = _REACH) -> Optimum:
    """Maximizes from the given entries by L-BFGS-B; zeros stay zero.

    Args:
      entries: where the search starts.
      reach: by how much the first run may change free parameters.
    """
    keep = self.where.is_inside(entries)
    log_likelihoods: list[float] = []
    end = search.End(entries, "", True)
    for i in range(_RESTARTS):
      inner = self.where.restricted(entries, keep)
      if not len(inner.names):
        break
      free = inner.to_unconstrained(inner.entries)
      # Real numbers need no limit.
      is_real = inner.is_real[inner.has_free]
      limit = onp.where(is_real, onp.inf, reach * 2.0**i)
      low, high = self._free_bounds(inner)
      objective = self.objective(inner, free)
      end = search.quasi_newton(
        objective,
        free,
        onp.maximum(low, free - limit),
        onp.minimum(high, free + limit),
        self.max_steps,
        self.tolerance,
      )
      log_likelihoods += objective.values
      entries = self._updated(inner, end.free)
      if onp.all(onp.abs(end.free - free) < limit):
        break
    return self._optimum(entries, "L-BFGS-B", end, log_likelihoods)

  def inner(self, entries: onp.ndarray) -> MapT:
    """Returns the entries that are neither zero nor at a bound."""
    keep = (entries > self.low) & (entries < self.high)
    return self.where.restricted(entries, keep)

  def in_units(self, inner: MapT) -> MapT:
    """Scales each real entry by its standard error, given all other entries.

    Where the log likelihood hardly bends, the unit is the size of the entry,
    or how far it has moved from the start.
    """
    if not onp.any(inner.is_real):
      return inner
    at = inner.entries
    moved = at - self.where.entries[inner.indices]
    sizes = onp.maximum(1.0, onp.maximum(onp.abs(at), onp.abs(moved)))
    plain = inner.in_units(onp.ones(len(at)))
    bends = onp.zeros(len(at))
    bends[inner.has_free] = onp.abs(onp.diag(self.hessian(plain, at)))
    with onp.errstate(divide="ignore"):
      return inner.in_units(onp.fmin(1.0 / onp.sqrt(bends), sizes))

  def hessian(self, inner: MapT, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Hessian of the log likelihood in d free parameters."""
    _, slopes = self._called(inner, entries)
    second = self.likelihood.hessian(inner, entries)
    return inner.unconstrained_hessian(entries, slopes, second)

  def is_flat(self, entries: onp.ndarray) -> bool:
    """Returns whether the log likelihood does not bend in some direction."""
    inner = self.inner(entries)
    if not 0 < inner.num_free <= _MOST_SECOND:
      return False
    second = self.hessian(inner, inner.entries)
    sizes = onp.abs(onp.diag(second))
    if not onp.all(onp.isfinite(second)) or not onp.all(sizes > 0):
      return True
    units = 1.0 / onp.sqrt(sizes)
    bends = onp.abs(onp.linalg.eigvalsh(second * units[:, None] * units))
    return bool(onp.min(bends) <= _LEAST_BEND)

  def polish(self, optimum: Optimum) -> Optimum:
    """Refines an optimum by Newton steps, if there are few free parameters.

    From a saddle, as where two phases are equal, it goes on where the log
    likelihood rises.
    """
    inner = self.inner(optimum.entries)
    if not (0 < inner.num_free <= _MOST_SECOND and self.max_steps):
      return optimum
    for _ in range(_MOST_SADDLES):
      optimum = self._refined(optimum)
      uphill = self._leave_saddle(optimum)
      if uphill is None:
        break
      again = self.maximize(uphill)
      if not again.log_likelihood > optimum.log_likelihood:
        break
      optimum = again
    return optimum

  def _refined(self, optimum: Optimum) -> Optimum:
    """Makes Newton steps from an optimum."""
    entries = optimum.entries
    inner = self.in_units(self.inner(entries))
    if not inner.num_free:
      return optimum
    free = inner.to_unconstrained(inner.entries)
    objective = self.objective(inner, free)
    total = self.likelihood.total
    refined = search.newton(
      objective,
      lambda x: -self.hessian(inner, inner.to_constrained(x)) / total,
      free,
      min(_NEWTON_STEPS, self.max_steps),
    )
    if refined is None:
      return optimum
    entries = self._updated(inner, refined)
    better = self._optimum(
      entries,
      "L-BFGS-B, Newton steps in a trust region",
      search.End(refined, optimum.message, optimum.is_over),
      [*optimum.log_likelihoods, *objective.values],
    )
    if better.log_likelihood >= optimum.log_likelihood:
      return better
    if len(self.inner(entries).names) < len(inner.names):
      # Newton steps from a saddle point may end at a bound; L-BFGS-B continues
      # from there.
      again = self.maximize(entries)
      if again.log_likelihood > optimum.log_likelihood:
        return self._refined(again)
    return optimum

  def _leave_saddle(self, optimum: Optimum) -> onp.ndarray | None:
    """Returns entries near a saddle with a larger likelihood; None elsewhere."""
    inner = self.in_units(self.inner(optimum.entries))
    if not inner.num_free:
      return None
    second = self.hessian(inner, inner.entries)
    if not onp.all(onp.isfinite(second)):
      return None
    bends, directions = onp.linalg.eigh(second)
    if bends[-1] <= _BENDS_UP:
      return None
    free = inner.to_unconstrained(inner.entries)
    for length in _ESCAPES:
      for step in (length * directions[:, -1], -length * directions[:, -1]):
        entries = self._updated(inner, free + step)
        if self.value(entries) > optimum.log_likelihood:
          return entries
    return None

  def objective(self, inner: MapT, free: onp.ndarray) -> search.Objective:
    """Returns the objective of a run, given its start in free parameters."""

    def evaluate(x: onp.ndarray) -> tuple[float, onp.ndarray]:
      entries = inner.to_constrained(x)
      if not onp.all(onp.isfinite(entries)):
        return onp.nan, x
      return self.evaluated(inner, entries)

    return search.Objective(evaluate, self.likelihood.total, free)

  def _free_bounds(self, inner: MapT) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns lower and upper bounds of the free parameters."""
    rows = inner.indices[inner.has_free]
    groups = inner.groups[inner.has_free]
    totals = onp.append(inner.totals, 0.0)[groups]
    ends = []
    for bound, open_end in ((self.low, -onp.inf), (self.high, onp.inf)):
      at_bound = bound[rows]
      rest = onp.where(groups < 0, 1.0, totals - at_bound)
      known = (at_bound > 0) & (at_bound < onp.inf) & (rest > 0)
      logs = onp.log(
        onp.where(known, at_bound, 1.0) / onp.where(known, rest, 1.0)
      )
      ends.append(onp.where(known, logs, open_end))
    return ends[0], ends[1]

  def _updated(self, inner: MapT, free: onp.ndarray) -> onp.ndarray:
    """Sets the entries of `inner` from free parameters; returns all entries."""
    entries = inner.all_entries
    moved = inner.embedded(inner.to_constrained(free))
    given = (entries > 0) & ((self.low > 0) | (self.high < onp.inf))
    inside = onp.clip(moved, self.low, self.high)
    for bound in (self.low, self.high):
      # The map to entries, exp(log(bound)), may miss a bound by rounding: an
      # entry that is so near is set to the bound.
      near = onp.abs(inside - bound) <= _NEAR * bound
      inside = onp.where(near & onp.isfinite(bound), bound, inside)
    return onp.where(given, inside, moved)

  def evaluated(
    self, inner: MapT, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient in d free parameters."""
    value, slopes = self._called(inner, entries)
    with onp.errstate(all="ignore"):
      return value, inner.unconstrained_gradient(entries, slopes)

  def _called(
    self, inner: MapT, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient, and counts the call."""
    point = onp.concatenate([inner.indices, inner.embedded(entries)])
    if not onp.array_equal(point, self._point):
      self.num_evaluations = self.num_evaluations + 1
      self._last = self.likelihood.value_and_gradient(inner, entries)
      self._point = point
    return self._last

  def _optimum(
    self,
    entries: onp.ndarray,
    method: str,
    end: search.End,
    log_likelihoods: list[float],
  ) -> Optimum:
    inner = self.inner(entries)
    value, slopes = self.evaluated(inner, inner.entries)
    norm = float(onp.max(onp.abs(slopes), initial=0.0)) / self.likelihood.total
    return Optimum(
      entries,
      value,
      norm,
      method,
      end.message,
      end.is_over,
      tuple(log_likelihoods),
    )
