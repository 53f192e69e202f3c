"""Maximum likelihood from several starts."""

from collections.abc import Callable
import dataclasses

import numpy as np
from scipy import optimize
import tqdm

from demo import coxian

# Rates are sought between these multiples of 1 / mean(times).
_LOWEST, _HIGHEST = 1e-9, 500.0
# Below this multiple a rate is tried at exactly zero.
_NEARLY_ZERO = 1e-5


@dataclasses.dataclass(frozen=True)
class Fit:
  """A fitted Coxian.

  Attributes:
    log_rates: progression rates, then exit rates; -inf for a rate of zero.
    log_likelihood: at these rates.
    largest_slope: the largest derivative in a log-rate that is left.
    at_top: which rates ran into the upper limit of the search.
    num_starts: how many starts there were.
    num_reached: how many of them ended at this log-likelihood.
  """

  log_rates: np.ndarray
  log_likelihood: float
  largest_slope: float
  at_top: np.ndarray
  num_starts: int
  num_reached: int

  @property
  def num_phases(self) -> int:
    return coxian.num_phases(len(self.log_rates))

  @property
  def rates(self) -> np.ndarray:
    return np.exp(self.log_rates)

  @property
  def aic(self) -> float:
    return 2 * len(self.log_rates) - 2 * self.log_likelihood


def fit(
  times: np.ndarray,
  num_phases: int,
  num_random: int,
  rng: np.random.Generator,
  smaller: Fit | None = None,
) -> Fit:
  """Fits a Coxian by maximum likelihood.

  Args:
    times: the data, (n,).
    num_phases: p.
    num_random: how many random starts.
    rng: for the random starts.
    smaller: a fit with p - 1 phases, which gives p more starts: one more
      phase at each place of its chain.
  """
  size = 2 * num_phases - 1
  scale = 1 / np.mean(times)
  bounds = (np.log(_LOWEST * scale), np.log(_HIGHEST * scale))
  starts = [
    np.log(scale * num_phases) + rng.uniform(-2, 2, size=size)
    for _ in range(num_random)
  ]
  if smaller is not None:
    starts += _with_one_more_phase(smaller, scale)
  minus, _ = _objective(times, np.zeros(size), np.ones(size, bool))
  found = []
  progress = tqdm.tqdm(
    starts, desc=f"  {num_phases} phases", unit="start", leave=False
  )
  for start in progress:
    result = optimize.minimize(
      minus,
      np.clip(start, *bounds),
      jac=True,
      method="L-BFGS-B",
      bounds=[bounds] * size,
      options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-7},
    )
    found.append(result)
    best = -len(times) * min(r.fun for r in found)
    progress.set_postfix_str(f"best log-likelihood {best:.4f}")
  values = -len(times) * np.array([result.fun for result in found])
  best = found[int(np.argmax(values))].x
  polished = _polish(times, np.log(coxian.canonical(np.exp(best))), bounds)
  reached = int(np.sum(values > polished.log_likelihood - 1e-3))
  return dataclasses.replace(
    polished, num_starts=len(starts), num_reached=reached
  )


def _with_one_more_phase(smaller: Fit, scale: float) -> list[np.ndarray]:
  """Returns starts with a fast phase put in at each place of the chain."""
  p = smaller.num_phases
  rates = np.maximum(smaller.rates, 1e-2 * scale)
  fast = 1.5 * np.max(rates)
  starts = []
  for place in range(p + 1):
    onward = np.insert(rates[: p - 1], min(place, p - 1), fast)
    exits = np.insert(rates[p - 1 :], place, fast / 20)
    starts.append(np.log(np.concatenate([onward, exits])))
  return starts


def _objective(
  times: np.ndarray, log_rates: np.ndarray, free: np.ndarray
) -> tuple[Callable, Callable]:
  """Returns value and gradient, and the Hessian, of what is minimized.

  That is minus the mean log density as a function of the free log-rates.
  """
  n = len(times)

  def whole(x):
    everything = np.array(log_rates)
    everything[free] = x
    return everything

  def minus(x):
    value, gradient = coxian.value_and_gradient(whole(x), times)
    if not np.isfinite(value):
      # Some density is too small for a double: the step was too long.
      return np.inf, np.zeros_like(x)
    return -float(value) / n, -np.asarray(gradient)[free] / n

  def hessian(x):
    return -np.asarray(coxian.hessian(whole(x), times))[np.ix_(free, free)] / n

  return minus, hessian


def _polish(
  times: np.ndarray, log_rates: np.ndarray, bounds: tuple[float, float]
) -> Fit:
  """Sets vanishing rates to zero and ends with Newton steps for the others."""
  scale = 1 / np.mean(times)
  value = float(coxian.log_likelihood(log_rates, times))
  for i in np.argsort(log_rates):
    if log_rates[i] > np.log(_NEARLY_ZERO * scale):
      break
    without = np.array(log_rates)
    without[i] = -np.inf
    there = float(coxian.log_likelihood(without, times))
    if there >= value - 1e-6:
      log_rates, value = without, there
  at_top = log_rates > bounds[1] - 1e-3
  free = np.isfinite(log_rates) & ~at_top
  minus, hessian = _objective(times, log_rates, free)
  result = optimize.minimize(
    minus,
    log_rates[free],
    jac=True,
    hess=hessian,
    method="trust-exact",
    options={"gtol": 1e-11, "maxiter": 100, "initial_trust_radius": 0.1},
  )
  log_rates = np.array(log_rates)
  log_rates[free] = result.x
  gradient = coxian.value_and_gradient(log_rates, times)[1]
  return Fit(
    log_rates=log_rates,
    log_likelihood=float(coxian.log_likelihood(log_rates, times)),
    largest_slope=float(np.max(np.abs(gradient[free]), initial=0.0)),
    at_top=at_top,
    num_starts=1,
    num_reached=1,
  )
