"""Functions of a fitted Weibull regression, and their errors, in 50 digits.

The error of g by the delta method is sqrt(dg' V dg), where V is the inverse of
the observed information. Derivatives dg in the effects b and the log scale s
are written out here. log t = x b + e^s z, S(t | x) = exp(-H), H = e^z.
"""

from collections.abc import Sequence

import mpmath

from tests.oracle.regressions import aft
from tests.oracle.regressions import models

Number = mpmath.mpf
with mpmath.workdps(aft.DIGITS):
  # Of the two-sided level of 95 %: its square is 3.841458820694124.
  NORMAL_QUANTILE = mpmath.sqrt(2) * mpmath.erfinv(Number(95) / 100)


def error(covariance: mpmath.matrix, gradient: Sequence[Number]) -> Number:
  """Returns sqrt(gradient' covariance gradient)."""
  column = mpmath.matrix(list(gradient))
  return mpmath.sqrt((column.T * covariance * column)[0])


def proportional_intensities(maximum: aft.Maximum) -> list[list[Number]]:
  """Returns effects on the log of the cumulative hazard, with their errors.

  H = exp(x a) t^k has a = -b / e^s and k = e^-s. a_j has the derivatives -e^-s
  in b_j and -a_j in s; log k has -1 in s.

  Returns:
    (effect, error) of the intercept and of each covariate, then of log k.
  """
  *effects, log_scale = maximum.params
  shape = mpmath.exp(-log_scale)
  last = len(effects)
  rows = []
  for j, effect in enumerate(effects):
    gradient = [Number(0)] * (last + 1)
    gradient[j], gradient[last] = -shape, effect * shape
    rows.append([-effect * shape, error(maximum.covariance, gradient)])
  return [*rows, [-log_scale, maximum.errors()[last]]]


def log_cumulative_hazard(
  maximum: aft.Maximum, x: Sequence[float], time: float
) -> list[Number]:
  """Returns z = log(-log S(t | x)) and its error.

  z = (log t - x b) e^-s has the derivatives -x e^-s and -z.
  """
  z, gradient = _z_and_gradient(maximum, x, time)
  return [z, error(maximum.covariance, gradient)]


def log_quantile(maximum: aft.Maximum, x: Sequence[float], p: float) -> list:
  """Returns the log of a quantile and its error.

  x b + e^s log(-log(1 - p)) has the derivatives x and e^s log(-log(1 - p)).
  """
  *effects, log_scale = maximum.params
  place = mpmath.exp(log_scale) * mpmath.log(-mpmath.log(1 - Number(p)))
  value = mpmath.fdot(x, effects) + place
  return [value, error(maximum.covariance, [*x, place])]


def log_mean(maximum: aft.Maximum, x: Sequence[float]) -> list[Number]:
  """Returns the log of the mean and its error.

  x b + log Gamma(1 + e^s) has the derivatives x and e^s digamma(1 + e^s).
  """
  *effects, log_scale = maximum.params
  scale = mpmath.exp(log_scale)
  value = mpmath.fdot(x, effects) + mpmath.loggamma(1 + scale)
  gradient = [*x, scale * mpmath.digamma(1 + scale)]
  return [value, error(maximum.covariance, gradient)]


def restricted_mean(
  maximum: aft.Maximum, x: Sequence[float], until: float
) -> list[Number]:
  """Returns the integral R of S(t | x) over [0, until], and its error.

  R = e^(x b + s) gamma(e^s, H(until)), with the lower incomplete gamma
  function, has the derivatives x (R - until S(until)) in b, as times scale with
  e^(x b); its derivative in s is the integral of z e^z S, as dz/ds = -z.
  """
  *effects, log_scale = maximum.params

  def z_at(time):
    return (mpmath.log(time) - mpmath.fdot(x, effects)) * mpmath.exp(-log_scale)

  def slope(time):
    z = z_at(time)
    return z * mpmath.exp(z - mpmath.exp(z))

  hazard = mpmath.exp(z_at(until))
  value = mpmath.gammainc(mpmath.exp(log_scale), 0, hazard)
  value *= mpmath.exp(mpmath.fdot(x, effects) + log_scale)
  in_effects = value - until * mpmath.exp(-hazard)
  gradient = [Number(a) * in_effects for a in x]
  gradient.append(mpmath.quad(slope, [0, until]))
  return [value, error(maximum.covariance, gradient)]


def standardized_survival(
  maximum: aft.Maximum, data: aft.Data, column: int, time: float
) -> list[Number]:
  """Returns means over all subjects of S(t | x), with x[column] set to 0 and 1.

  S = exp(-e^z) has the derivatives -e^z S dz, with dz as in
  `log_cumulative_hazard`. The other covariates are those of the subjects, and
  count as known.

  Returns:
    Mean and error for 0, for 1, and of their difference (1 minus 0).
  """
  sums = []
  for level in (0.0, 1.0):
    total, total_gradient = Number(0), mpmath.matrix(len(maximum.params), 1)
    for row in data.design:
      x = [float(value) for value in row]
      x[column] = level
      z, gradient = _z_and_gradient(maximum, x, time)
      hazard = mpmath.exp(z)
      survival = mpmath.exp(-hazard)
      total += survival
      total_gradient -= hazard * survival * mpmath.matrix(gradient)
    num_subjects = len(data.design)
    sums.append((total / num_subjects, total_gradient / num_subjects))
  (without, d_without), (given, d_given) = sums
  covariance = maximum.covariance
  return [
    *(without, error(covariance, d_without)),
    *(given, error(covariance, d_given)),
    *(given - without, error(covariance, d_given - d_without)),
  ]


def wald_interval(maximum: aft.Maximum, param: int) -> list[Number]:
  """Returns estimate -+ 1.96 errors, for a parameter by its number."""
  half = NORMAL_QUANTILE * maximum.errors()[maximum.free.index(param)]
  return [maximum.params[param] - half, maximum.params[param] + half]


def profile_interval(
  model: models.Model, maximum: aft.Maximum, param: int
) -> list[Number]:
  """Returns where twice the profile log likelihood has fallen by 3.84.

  The slope of the profile in the parameter is the slope of the log likelihood
  at the maximum over all others (the envelope theorem). Newton's method starts
  at the ends of Wald's interval.
  """
  ends = []
  for value in wald_interval(maximum, param):
    start = maximum.params
    for _ in range(30):
      fixed = {**(model.fixed or {}), param: value}
      profile = aft.maximize(model.family, model.data, fixed, start)
      start = profile.params
      fall = 2 * (maximum.log_likelihood - profile.log_likelihood)
      step = (fall - NORMAL_QUANTILE**2) / (2 * profile.gradient[param])
      value += step
      if abs(step) < Number(10) ** -25:
        break
    ends.append(value)
  return ends


def exponential_rate_interval(events: int, total_time: float) -> list[Number]:
  """Returns the ends of the profile interval of an exponential rate.

  They solve 2 (d log(rate V / d) - rate V + d) = -3.841458820694124, with d
  events in the total time V.
  """

  def excess(rate):
    mean = rate * total_time
    value = 2 * (events * mpmath.log(mean / events) - mean + events)
    return value + NORMAL_QUANTILE**2

  rate = Number(events) / total_time
  return [
    mpmath.findroot(excess, bounds, solver="anderson", tol=Number(10) ** -60)
    for bounds in ((rate / 10, rate), (rate, 10 * rate))
  ]


def _z_and_gradient(maximum, x, time) -> tuple[Number, list[Number]]:
  *effects, log_scale = maximum.params
  shape = mpmath.exp(-log_scale)
  z = (mpmath.log(time) - mpmath.fdot(x, effects)) * shape
  return z, [*(-shape * Number(value) for value in x), -z]
