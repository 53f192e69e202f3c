"""Climbing a log likelihood on the host, by SciPy's optimisers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as onp

from phasic.inference.data import observations as observations_lib
from phasic.inference.likelihood import derivatives
from phasic.inference.mle import hills
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters.host_values import total_weight
from phasic.internal import static

# A search goes no further than this in a free number, before it starts anew and
# goes twice as far: all of them reach from the least double to the largest.
_REACH = 10.0
_RESTARTS = 7
# With more free numbers than this there are no Newton steps.
_MOST_SECOND = 100
# What is closer to a bound, relative to it, is at it.
_NEAR = 1e-14
# Of the starts round the first one, in a free number.
_SPREAD = 1.0


class Top(NamedTuple):
  """Where a search ended.

  Attributes:
    entries: of all coordinates, (k,).
    log_likelihood: there.
    gradient_norm: the largest slope that is left, of the mean log likelihood in
      a free number that is not at a bound.
    method: what was done.
    message: why it ended.
    heights: the log likelihoods after each step.
  """

  entries: onp.ndarray
  log_likelihood: float
  gradient_norm: float
  method: str
  message: str
  heights: tuple[float, ...]


class Search:
  """Looks for the largest log likelihood between bounds."""

  def __init__(
    self,
    where: coordinates_lib.Coordinates,
    observations: observations_lib.Observations,
    low: onp.ndarray,
    high: onp.ndarray,
    max_steps: int,
    tolerance: float,
  ):
    """Takes what is searched.

    Args:
      where: the coordinates.
      observations: the data.
      low: of the entries, (k,).
      high: of the entries, (k,).
      max_steps: the most steps of one search.
      tolerance: the largest slope that may be left.
    """
    self.where = where
    self.observations = observations
    self.low = low
    self.high = high
    self.max_steps = max_steps
    self.tolerance = tolerance
    self.num_evaluations = 0
    self.total = total_weight(observations)

  def value(self, entries: onp.ndarray) -> float:
    """Returns the log likelihood of all entries, some of them perhaps zero."""
    self.num_evaluations = self.num_evaluations + 1
    found = self.where.restricted(entries, entries > 0)
    value = derivatives.log_likelihood(found, found.entries, self.observations)
    return value if onp.isfinite(value) else -onp.inf

  def rounding(self, log_likelihood: float) -> float:
    """Returns how small slopes cannot be told from none by the values.

    Near the top the mean log likelihood m bends by about a square of the slope:
    within sqrt(eps (1 + |m|)) it does not change.
    """
    eps = static.finfo_eps(self.where.distribution.dtype)
    return float(onp.sqrt(eps * (1.0 + abs(log_likelihood) / self.total)))

  def slopes(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns slopes of the log likelihood in all entries, as far as free."""
    _, found = derivatives.value_and_gradient(
      self.where, entries, self.observations
    )
    return self.where.above_mean(entries, found)

  def climb(self, entries: onp.ndarray) -> Top:
    """Climbs from entries; those that are zero stay so."""
    keep = entries > 0
    heights: list[float] = []
    message = ""
    for i in range(_RESTARTS):
      inner = self.where.restricted(entries, keep)
      if not len(inner.names):
        break
      free = inner.free_of(inner.entries)
      reach = _REACH * 2.0**i
      found, message, at_edge = self._climb_once(inner, free, reach, heights)
      entries = self._whole(entries, inner, found)
      if not at_edge:
        break
    return self._top(entries, "L-BFGS-B", message, heights)

  def polish(self, top: Top) -> Top:
    """Ends with Newton steps, where there are not too many free numbers."""
    entries = top.entries
    keep = (entries > self.low) & (entries < self.high) & (entries > 0)
    inner = self.where.restricted(entries, keep)
    if not 0 < inner.num_free <= _MOST_SECOND:
      return top
    from scipy import optimize

    free = inner.free_of(inner.entries)
    hill = hills.Hill(self.evaluated, self.total, inner, free)

    def second(x: onp.ndarray) -> onp.ndarray:
      at = inner.entries_of(x)
      _, slopes = self.evaluated(inner, at)
      whole = derivatives.hessian(inner, at, self.observations)
      bent = -inner.pull_second(at, slopes, whole) / self.total
      if not onp.all(onp.isfinite(bent)):
        raise FloatingPointError("second derivatives are not known")
      return bent

    try:
      found = optimize.minimize(
        hill,
        free,
        jac=True,
        hess=second,
        method="trust-exact",
        callback=hill.accepted,
        options={"gtol": 1e-12, "maxiter": 50, "initial_trust_radius": 0.1},
      )
    except FloatingPointError:
      return top
    entries = self._whole(entries, inner, found.x)
    better = self._top(
      entries,
      "L-BFGS-B, Newton steps in a trust region",
      top.message,
      [*top.heights, *hill.heights],
    )
    if better.log_likelihood >= top.log_likelihood:
      return better
    met = keep & ((entries == self.low) | (entries == self.high))
    if onp.any(met):
      # From a saddle the way up may lead out of the bounds.
      again = self.climb(entries)
      if again.log_likelihood > top.log_likelihood:
        return self.polish(again)
    return top

  def round_about(
    self, start: onp.ndarray, count: int, seed: int
  ) -> list[onp.ndarray]:
    """Returns other starts near one, where the likelihood is known."""
    random = onp.random.default_rng(seed)
    inner = self.where.restricted(start, start > 0)
    free = inner.free_of(inner.entries)
    found = []
    for _ in range(count):
      moved = free + _SPREAD * random.standard_normal(len(free))
      at = onp.clip(self._whole(start, inner, moved), self.low, self.high)
      at = onp.where(start > 0, at, 0.0)
      if self.value(at) > -onp.inf:
        found.append(at)
    return found

  def best_of(
    self,
    starts: Sequence[onp.ndarray],
    report: Callable[[int, float], object] | None,
  ) -> tuple[Top, list[float]]:
    """Returns the highest top of several climbs, and all their heights."""
    tops: list[Top] = []
    for i, start in enumerate(starts):
      tops.append(self.climb(start))
      if report is not None:
        report(i + 1, max(map(_height, tops)))
    best = max(tops, key=_height)
    return best, [top.log_likelihood for top in tops]

  def _climb_once(
    self,
    inner: coordinates_lib.Coordinates,
    free: onp.ndarray,
    reach: float,
    heights: list[float],
  ) -> tuple[onp.ndarray, str, bool]:
    """Returns where a search ended, why, and whether at its own edge."""
    try:
      from scipy import optimize
    except ImportError:
      raise ImportError(
        "fits use SciPy's optimisers: install phasic-substrates[inference]"
      ) from None
    low, high = self._box(inner)
    near_low, near_high = free - reach, free + reach
    hill = hills.Hill(self.evaluated, self.total, inner, free)
    found = optimize.minimize(
      hill,
      free,
      jac=True,
      method="L-BFGS-B",
      bounds=list(
        zip(
          onp.maximum(low, near_low), onp.minimum(high, near_high), strict=True
        )
      ),
      callback=hill.accepted,
      options={
        "maxiter": self.max_steps,
        "maxfun": 10 * self.max_steps,
        "maxcor": 20,
        "maxls": 50,
        "ftol": 1e-15,
        "gtol": self.tolerance / 100,
      },
    )
    heights += hill.heights
    x = onp.asarray(found.x, onp.float64)
    at_edge = onp.any((x >= near_high) | (x <= near_low))
    return x, str(found.message), bool(at_edge)

  def _box(
    self, inner: coordinates_lib.Coordinates
  ) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns the bounds of the free numbers."""
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

  def _whole(
    self,
    entries: onp.ndarray,
    inner: coordinates_lib.Coordinates,
    free: onp.ndarray,
  ) -> onp.ndarray:
    """Returns all entries, those of inner coordinates at free numbers."""
    found = onp.array(entries)
    rows = onp.isin(onp.asarray(self.where.names, object), list(inner.names))
    found[rows] = inner.entries_of(free)
    given = (entries > 0) & ((self.low > 0) | (self.high < onp.inf))
    inside = onp.clip(found, self.low, self.high)
    for bound in (self.low, self.high):
      # exp(log(bound)) may miss it.
      near = onp.abs(inside - bound) <= _NEAR * bound
      inside = onp.where(near & onp.isfinite(bound), bound, inside)
    return onp.where(given, inside, found)

  def evaluated(
    self, inner: coordinates_lib.Coordinates, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Returns the log likelihood and its slopes, and counts that."""
    self.num_evaluations = self.num_evaluations + 1
    return derivatives.value_and_gradient(inner, entries, self.observations)

  def _top(
    self, entries: onp.ndarray, method: str, message: str, heights: list[float]
  ) -> Top:
    keep = (entries > self.low) & (entries < self.high) & (entries > 0)
    inner = self.where.restricted(entries, keep)
    value, slopes = self.evaluated(inner, inner.entries)
    slopes = inner.pull(inner.entries, slopes) / self.total
    norm = float(onp.max(onp.abs(slopes), initial=0.0))
    return Top(entries, value, norm, method, message, tuple(heights))


def _height(top: Top) -> float:
  """Returns its log likelihood, the least there is where that is not known."""
  known = top.log_likelihood
  return known if onp.isfinite(known) else -onp.inf
