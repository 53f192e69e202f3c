"""Accelerated failure time models, maximized by Newton's method in 50 digits.

A subject with covariates x in stratum k has log t = x b + offset + s_k z, where
z has the density f0 and the survival function S0 of the family:

  Weibull       S0(z) = exp(-e^z), log f0(z) = z - e^z
  log-logistic  S0(z) = 1 / (1 + e^z), log f0(z) = z - 2 log(1 + e^z)

The parameters are b, then log s_k of each stratum. An exponential model is a
Weibull model with log s held at 0. A subject contributes, times its weight,

  log f0(z) - log s - log t            for an exact time t,
  log(S0(z_lower) - S0(z_upper))       for a time within (lower, upper),
  minus log S0(z_entry)                where it was observed from `entry` on.

Derivatives are exact, so errors are those of the observed information.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math

import mpmath
import numpy as np

DIGITS = 50
# Of a Newton step, against 1 + the size of its parameter.
_TOLERANCE = mpmath.mpf(10) ** -40
_ROUNDING = mpmath.mpf(10) ** -35  # of log likelihoods
_MAX_STEPS = 60

# A value and two derivatives in z: (S0, S0', S0''), or those of log f0.
Derivatives = tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]


def _weibull_survival(z: mpmath.mpf) -> Derivatives:
  hazard = mpmath.exp(z)
  survival = mpmath.exp(-hazard)
  return survival, -hazard * survival, (hazard - 1) * hazard * survival


def _weibull_log_density(z: mpmath.mpf) -> Derivatives:
  hazard = mpmath.exp(z)
  return z - hazard, 1 - hazard, -hazard


def _logistic_survival(z: mpmath.mpf) -> Derivatives:
  survival = 1 / (1 + mpmath.exp(z))
  cdf = 1 - survival
  return survival, -survival * cdf, survival * cdf * (cdf - survival)


def _logistic_log_density(z: mpmath.mpf) -> Derivatives:
  survival, slope, _ = _logistic_survival(z)
  value = z + 2 * mpmath.log(survival)
  return value, 2 * survival - 1, 2 * slope


FAMILIES: dict[str, tuple[Callable, Callable]] = {
  "weibull": (_weibull_survival, _weibull_log_density),
  "log_logistic": (_logistic_survival, _logistic_log_density),
}


@dataclasses.dataclass(frozen=True)
class Data:
  """Times and covariates; `lower == upper` is exact, infinite `upper` censored.

  `strata` are numbers from 0 on; `entries` of 0 are none. `penalties` d of all
  parameters take sum_j d_j param_j^2 / 2 from the log likelihood.
  """

  lower: np.ndarray
  upper: np.ndarray
  design: np.ndarray
  offset: np.ndarray | float = 0.0
  weights: np.ndarray | float = 1.0
  strata: np.ndarray | int = 0
  entries: np.ndarray | float = 0.0
  penalties: Sequence[float] | None = None


@dataclasses.dataclass(frozen=True)
class Maximum:
  """The end of a maximization, `covariance` the inverse negative Hessian.

  `scores` has the gradient of each subject's weighted log likelihood.
  `covariance` has only the parameters that were free, by their numbers.
  """

  log_likelihood: mpmath.mpf
  params: list[mpmath.mpf]
  free: list[int]
  gradient: list[mpmath.mpf]
  scores: list[list[mpmath.mpf]]
  covariance: mpmath.matrix

  def errors(self) -> list[mpmath.mpf]:
    """Returns the standard errors of the free parameters."""
    return _roots_of_diagonal(self.covariance)

  def robust_errors(
    self, clusters: np.ndarray | None = None
  ) -> list[mpmath.mpf]:
    """Returns the square roots of the diagonal of V (sum_c u_c u_c') V.

    u_c is the sum of the scores of a cluster, by default of one subject.
    Nothing corrects for a small number of clusters.
    """
    names = range(len(self.scores)) if clusters is None else clusters
    sums: dict[float, list[mpmath.mpf]] = {}
    for name, score in zip(names, self.scores, strict=True):
      total = sums.setdefault(float(name), [mpmath.mpf(0)] * len(self.free))
      sums[float(name)] = [
        a + score[j] for a, j in zip(total, self.free, strict=True)
      ]
    influence = mpmath.matrix(list(sums.values())) * self.covariance
    return _roots_of_diagonal(influence.T * influence)


def maximize(
  family: str,
  data: Data,
  fixed: Mapping[int, float] | None = None,
  start: Sequence[mpmath.mpf] | None = None,
) -> Maximum:
  """Maximizes the log likelihood.

  Args:
    family: a key of `FAMILIES`.
    data: times and covariates; the first column of the design is the intercept.
    fixed: values of parameters that are held, by their numbers.
    start: of the search; by default the log of the mean time, and zeros.

  Returns:
    The maximum.
  """
  fixed = dict(fixed or {})
  width = data.design.shape[1] + int(np.max(data.strata)) + 1
  if start is None:
    times = np.where(np.isinf(data.upper), data.lower, data.upper)
    start = [math.log(np.mean(times))] + [0.0] * (width - 1)
  params = [mpmath.mpf(fixed.get(j, x)) for j, x in enumerate(start)]
  free = [j for j in range(width) if j not in fixed]
  rows = _rows(data)
  value, scores, gradient, hessian = _evaluate(family, rows, data, params)
  for _ in range(_MAX_STEPS):
    slope = mpmath.matrix([gradient[j] for j in free])
    negative = mpmath.matrix([[-hessian[i][j] for j in free] for i in free])
    step = mpmath.lu_solve(negative, slope)
    if _is_small(step, [params[j] for j in free]):
      covariance = negative**-1
      return Maximum(value, params, free, gradient, scores, covariance)
    if mpmath.fdot(step, slope) < 0:
      # Far from the maximum. Outer products of scores always give an ascent.
      outer = mpmath.matrix([[score[j] for j in free] for score in scores])
      step = mpmath.lu_solve(outer.T * outer, slope)
    whole = [mpmath.mpf(0)] * width
    for s, j in zip(step, free, strict=True):
      whole[j] = s
    # No predictor or log scale moves by more than 1, which bounds exp(exp(z)).
    effects = whole[: data.design.shape[1]]
    moves = [mpmath.fdot(row[-1], effects) for row in rows]
    reach = max(map(abs, [*moves, *whole[len(effects) :], 1]))
    for halvings in range(20):
      trial = [
        param + s / (reach * 2**halvings)
        for param, s in zip(params, whole, strict=True)
      ]
      result = _evaluate(family, rows, data, trial)
      if result[0] >= value - _ROUNDING:
        break
    params, (value, scores, gradient, hessian) = trial, result
  raise ArithmeticError(f"no maximum within {_MAX_STEPS} steps")


def _is_small(step: mpmath.matrix, params: list) -> bool:
  return all(
    abs(s) < _TOLERANCE * (1 + abs(param))
    for s, param in zip(step, params, strict=True)
  )


def _rows(data: Data) -> list[tuple]:
  """Returns (log lower, log upper, log entry, weight, offset, stratum, x)."""
  columns = np.broadcast_arrays(
    data.lower,
    data.upper,
    data.entries,
    data.weights,
    data.offset,
    data.strata,
  )
  return [
    (
      *(mpmath.log(mpmath.mpf(float(t))) for t in row[:3]),
      *(mpmath.mpf(float(x)) for x in row[3:5]),
      int(row[5]),
      [mpmath.mpf(float(x)) for x in covariates],
    )
    for *row, covariates in zip(*columns, data.design, strict=True)
  ]


def _evaluate(family: str, rows: list, data: Data, params: list) -> tuple:
  """Returns the value, the scores of subjects, the gradient and the Hessian."""
  width, num_effects = len(params), data.design.shape[1]
  value = mpmath.mpf(0)
  scores = []
  hessian = [[mpmath.mpf(0)] * width for _ in range(width)]
  for lower, upper, entry, weight, offset, stratum, x in rows:
    last = num_effects + stratum
    eta = mpmath.fdot(x, params[:num_effects]) + offset
    terms = _log_mass(family, lower, upper, eta, params[last])
    if entry > -mpmath.inf:
      given = _log_mass(family, entry, mpmath.inf, eta, params[last])
      terms = [a - b for a, b in zip(terms, given, strict=True)]
    v, e, s, ee, es, ss = [weight * term for term in terms]
    value += v
    score = [e * a for a in x] + [mpmath.mpf(0)] * (width - num_effects)
    score[last] = s
    scores.append(score)
    hessian[last][last] += ss
    for i, a in enumerate(x):
      if a:
        hessian[i][last] += es * a
        for j in range(i + 1):
          hessian[i][j] += ee * a * x[j]
  for i in range(num_effects):
    for j in range(i):
      hessian[j][i] = hessian[i][j]
    for last in range(num_effects, width):
      hessian[last][i] = hessian[i][last]
  gradient = [mpmath.fsum(column) for column in zip(*scores, strict=True)]
  for j, penalty in enumerate(data.penalties or ()):
    value -= penalty * params[j] ** 2 / 2
    gradient[j] -= penalty * params[j]
    hessian[j][j] -= penalty
  return value, scores, gradient, hessian


def _log_mass(family, log_lower, log_upper, eta, log_scale) -> list:
  """Returns log f(t), or log(S(lower) - S(upper)), and its derivatives.

  They are those in (eta, log scale): two first ones, and three second ones.
  """
  survival, log_density = FAMILIES[family]
  scale = mpmath.exp(log_scale)

  def terms(function, log_time):
    z = (log_time - eta) / scale
    g, g1, g2 = function(z)
    return [
      g,
      -g1 / scale,
      -z * g1,
      g2 / scale**2,
      (z * g2 + g1) / scale,
      z * z * g2 + z * g1,
    ]

  if log_lower == log_upper:
    density = terms(log_density, log_lower)
    density[0] -= log_scale + log_lower
    density[2] -= 1
    return density
  mass = [mpmath.mpf(1)] + [mpmath.mpf(0)] * 5
  if log_lower > -mpmath.inf:
    mass = terms(survival, log_lower)
  if log_upper < mpmath.inf:
    later = terms(survival, log_upper)
    mass = [a - b for a, b in zip(mass, later, strict=True)]
  m, e, s, ee, es, ss = [mass[0], *(term / mass[0] for term in mass[1:])]
  return [mpmath.log(m), e, s, ee - e * e, es - e * s, ss - s * s]


def _roots_of_diagonal(matrix: mpmath.matrix) -> list[mpmath.mpf]:
  return [mpmath.sqrt(matrix[j, j]) for j in range(matrix.rows)]
