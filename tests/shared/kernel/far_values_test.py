"""Values that bounds, limits or structure make known, against closed forms."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import math as pm
from tests.helpers import derivatives
from tests.helpers import test_case

MODE = "numpy"
# XLA flushes numbers below the smallest normal one.
_FLUSHES = True
if MODE == "numpy":
  _FLUSHES = False


def _parallel(probs, rates):
  """Phases that are left for absorption at given rates; rows are models."""
  rates = onp.asarray(rates, float)
  p = rates.shape[-1]
  return onp.asarray(probs, float), onp.zeros((p, p)), rates, 0.0


def _stages(p, rate):
  """Stages of one rate."""
  matrix = onp.diag(onp.full(p - 1, rate), 1)
  return onp.eye(p)[0], matrix, rate * onp.eye(p)[-1], 0.0


def _parallel_logs(probs, rates, time):
  """Computes the log density and the log survival function."""
  with mpmath.workdps(60):
    density = survival = mpmath.mpf(0)
    for prob, rate in zip(probs, rates, strict=True):
      exit_rate = mpmath.mpf(float(rate))
      part = float(prob) * mpmath.exp(-exit_rate * mpmath.mpf(float(time)))
      survival += part
      density += part * exit_rate
    return float(mpmath.log(density)), float(mpmath.log(survival))


class FarValuesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _check(self, kind, time, model, truth, atol=1e-12):
    value = getattr(pm.phase_type, kind)(time, *model)
    self.assert_close(value, truth, 2e-15, atol)

  def test_phases_of_weight_zero(self):
    cases = [
      ([0.5, 0.0, 0.5, 0.0], [3.06, 1.3, 2.2, 1.0], 2e6),
      ([1.0, 0.0, 0.0, 0.0], [1e7, 1.0, 1e-3, 1e5], 1.0),
      ([0.0, 1.0, 0.0, 0.0], [1e-3, 1.0, 1e3, 1e-9], 1e5),
      ([0.5, 0.5, 0.0, 0.0], [2.0, 2.0, 1e-9, 1.0], 1e13),
    ]
    state = onp.random.RandomState(1)
    for _ in range(12):
      probs = state.dirichlet(onp.ones(4)) * onp.append(state.rand(3) < 0.5, 1)
      rates = 10.0 ** state.uniform(-3, 3, 4)
      cases.append((probs / onp.sum(probs), rates, 10 ** state.uniform(3, 12)))
    logs = [_parallel_logs(*case) for case in cases]
    probs, rates, times = (onp.asarray(x) for x in zip(*cases, strict=True))
    model = _parallel(probs, rates)
    density, survival = onp.transpose(logs)
    self._check("log_prob", times, model, density)
    self._check("log_survival_function", times, model, survival)

  def test_phases_that_no_path_reaches(self):
    # The last phase is left for absorption; the others are never entered.
    slow = onp.asarray([[0.01], [1e-6]])
    exits = onp.concatenate([slow, slow, onp.full((2, 1), 0.03)], axis=1)
    rates = onp.asarray([[0, 0, 0], [0, 0, 67.0], [0, 0, 0]])
    model = [0, 0, 1.0], rates, exits, 0.0
    times = onp.asarray([[4e4], [1e6], [1e11]])
    truth = -0.03 * times + onp.zeros(2)
    self._check("log_survival_function", times, model, truth)
    self._check("log_prob", times, model, truth + math.log(0.03))
    quantiles = pm.phase_type.quantile_log_survival(truth, *model)
    self.assert_close(quantiles, times + onp.zeros(2))

  def test_densities_beside_a_trap(self):
    # From one of two phases the chain may also get where it stays for ever.
    rates, alpha = [[0.0, 0.7, 0.4], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 0.25
    slow = onp.asarray([[0.9], [2.0], [3.0]])
    exits = onp.concatenate([slow, onp.full((3, 1), 1.7), 0.0 * slow], axis=1)
    model = [alpha, 0.0, 1 - alpha], rates, exits, 0.0
    times = onp.asarray([[1e3], [3e6], [1e9], [1e13]])
    # The second phase is left last; what is left of the first is negligible.
    share = alpha * 0.7 / (slow[:, 0] + 1.1 - 1.7)
    self._check("log_prob", times, model, onp.log(1.7 * share) - 1.7 * times)

  def test_slopes_beside_phases_of_weight_zero(self):
    # Only the slowest of the phases with mass matters.
    time, model = 2e6, _parallel([0.5, 0.0, 0.5], [3.06, 1.3, 2.2])
    for moves, truth in (
      ((0.0, [0, 0, 0], [0, 0, 1.0]), -time),
      ((0.0, [0, 0, 0], [1.0, 1.0, 0]), 0.0),
      ((0.0, [0, 0, 1.0], [0, 0, 0]), 2.0),
      ((1.0, [0, 0, 0], [0, 0, 0]), -2.2),
    ):
      along = [onp.asarray(move, float) for move in moves]
      slope = derivatives.jvp(
        pm.phase_type.log_survival_function,
        time,
        *model,
        tangents=(*along[:2], onp.zeros((3, 3)), along[2], 0.0),
      )[1]
      self.assert_close(slope, truth)

  @parameterized.parameters(
    (2, 1e12, 1e6), (1, 1.0, 1e17), (2, 1.0, 1e17), (3, 7.0, 1.2e17)
  )
  def test_later_than_any_time_of_a_stage(self, p, rate, time):
    model = _stages(p, rate)
    self._check("survival_function", time, model, 0.0, 0.0)
    self._check("cdf", time, model, 1.0, 0.0)
    self._check("log_cdf", time, model, 0.0, 0.0)
    with mpmath.workdps(60):
      x = mpmath.mpf(rate) * mpmath.mpf(time)
      tail = sum(x**k / mpmath.factorial(k) for k in range(p))
      truth = float(mpmath.log(tail) - x)
    self._check("log_survival_function", time, model, truth)

  def test_beyond_the_limit_of_work(self):
    # The products of squaring exceed the limit of work as well.
    p = 1501
    rates = onp.append(onp.full(p - 1, 700.0), 10.0)
    many = onp.eye(p)[0], onp.diag(rates[:-1], 1), rates * onp.eye(p)[-1], 0.0
    for time, model in (
      (1e19, _stages(2, 1.0)),
      (1e200, _stages(2, 1e200)),
      (1e4, _parallel([0.5, 0.5, 0.0], [1e25, 1e20, 1.0])),
      (1e5, many),
    ):
      self._check("survival_function", time, model, 0.0, 0.0)
      self._check("cdf", time, model, 1.0, 0.0)
      self._check("log_cdf", time, model, 0.0, 0.0)
      self._check("log_prob", time, model, math.nan)

  def test_densities_beyond_the_limit_of_work(self):
    for time, model in (
      (1e19, _stages(2, 1.0)),
      (1e300, _stages(3, 1e5)),
      (1e4, _parallel([0.5, 0.5, 0.0], [1e25, 1e20, 1.0])),
    ):
      self._check("prob", time, model, 0.0, 0.0)

  def test_beyond_the_limit_of_work_where_no_bound_helps(self):
    # Half of the mass has hardly begun to leave by the latest time.
    model = _parallel([0.5, 0.5], [1e30, 1e-3])
    for kind in ("survival_function", "cdf", "log_cdf", "prob"):
      self._check(kind, 1.0, model, math.nan)

  def test_many_stages_before_a_slow_one(self):
    # X is the slow stage and 700 fast ones, whose sum has a Laplace transform.
    p, slow = 701, 1e-6
    rates = onp.append(onp.full(p - 1, 700.0), slow)
    model = onp.eye(p)[0], onp.diag(rates[:-1], 1), slow * onp.eye(p)[-1], 0.0
    delay = -700 * math.log1p(-slow / 700)
    times = onp.asarray([1e6, 3e7])
    logs = delay - slow * times
    self._check("log_survival_function", times, model, logs)
    self._check("log_prob", times, model, logs + math.log(slow))
    median = (math.log(2) + delay) / slow
    self.assert_close(pm.phase_type.quantile(0.5, *model), median)

  def test_subnormal_rates_and_masses(self):
    # Values are those without the tiny numbers where nothing depends on them.
    times = onp.asarray([0.5, 1.0, 3.0])
    least = 2.3e-308 if _FLUSHES else 5e-324
    slow = 2.5e-308 if _FLUSHES else 1e-310
    beside = [0.5, 0.5], [[0.0, least], [0.0, 0.0]], [1.0, 1.0], 0.0
    self._check("log_prob", times, beside, -times)
    self._check("log_survival_function", times, beside, -times)
    masses = [1.0, least], onp.zeros((2, 2)), [1.0, 2.0], 0.0
    self._check("log_prob", times, masses, -times)
    # The stage at a tiny rate ends by t with a probability of about rate t.
    ends = onp.asarray([[1.0], [slow]]) * onp.eye(2)[1]
    after = [1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]], ends[1], 0.0
    with mpmath.workdps(30):
      log_rate = float(mpmath.log(mpmath.mpf(slow)))
    left = onp.expm1(-times)
    self._check("log_prob", times, after, log_rate + onp.log(-left))
    self._check("log_cdf", times, after, log_rate + onp.log(times + left))
    self._check("survival_function", times, after, onp.ones(3), 0.0)
    # The same chain, whose exits are derived from the rows.
    derived = [1.0, 0.0], [[-1.0, 1.0], [0.0, -slow]]
    self._check("log_prob", times, derived, log_rate + onp.log(-left))
    rare = [1.0], [[-slow]]
    self._check("log_prob", times, rare, log_rate + onp.zeros(3))
    self._check("log_cdf", times, rare, log_rate + onp.log(times))

  def test_times_at_which_subnormal_rates_matter(self):
    # The first phase ends at rate `end`, or moves at rate `move` into one that is
    # never left.
    if _FLUSHES:
      self.skipTest("they are zero")
    for end, move, time in (
      (1e-308, 4e-309, 2e306),
      (1e-309, 4e-309, 3e306),
      (8.5e-308, 9.8e-311, 8.7e299),
    ):
      with mpmath.workdps(40):
        total = mpmath.mpf(end) + mpmath.mpf(move)
        passed = total * mpmath.mpf(time)
        log_density = mpmath.log(end) - passed
        cdf = -mpmath.expm1(-passed) * end / total
        truths = {
          "log_prob": float(log_density),
          "log_cdf": float(mpmath.log(cdf)),
          "log_survival_function": float(mpmath.log1p(-cdf)),
        }
      matrix = [[0.0, move], [0.0, 0.0]]
      edges = pm.EdgeRates([0, 0], [1, 2], onp.asarray([move, end]))
      for method, truth in truths.items():
        given = [1.0, 0.0], matrix, [end, 0.0], 0.0
        self._check(method, time, given, truth)
        found = getattr(pm.phase_type, method)(time, [1.0, 0.0], edges)
        self.assert_close(found, truth, 2e-15, 1e-12)
        rows = onp.asarray(matrix) - onp.diag([end + move, 0.0])
        self._check(method, time, ([1.0, 0.0], rows), truth)

  @test_case.of_bad_values
  def test_subnormal_numbers_that_are_invalid(self):
    if _FLUSHES:
      self.skipTest("they are zero")
    for model in (
      ([-1e-310, 1.0], onp.zeros((2, 2)), [1.0, 1.0], 0.0),
      ([0.5, 0.5], [[0.0, -5e-324], [0.0, 0.0]], [1.0, 1.0], 0.0),
      ([0.5, 0.5], [[0.0, 1.0], [0.0, 0.0]], [-1e-310, 1.0], 0.0),
      ([1.0], [[-1.0]], [1.0], -1e-310),
    ):
      self._check("log_prob", 1.0, model, math.nan)

  @parameterized.parameters(1e4, 1e6, 1e12)
  def test_gradients_beside_phases_that_are_never_left(self, time):
    # Only the first phase is reached; the last is never left.
    for rate in (0.0, 0.5):
      rates = onp.asarray([[0, 0, 0], [0, 0, rate], [0, 0, 0]], float)
      model = [1.0, 0, 0], rates, [1.0, 1.0, 0], 0.0
      value, bars = derivatives.vjp(
        pm.phase_type.log_prob, time, *model, cotangent=1.0
      )
      self.assert_close(value, -time)
      # From the second phase, a path is absorbed with density
      # exp(-(1 + rate) t).
      second = math.exp(-min(rate * time, 1e3))
      self.assert_close(bars[1], [1.0, second, 0.0])
      # Paths by the second phase have a density with factor t, or 1 / rate.
      detour = time if rate == 0.0 else 1.0 / rate
      expected = onp.zeros((3, 3))
      expected[0] = 0.0, detour - time, -time
      self.assert_close(bars[2], expected)
      self.assert_close(bars[3], [1.0 - time, 0.0, 0.0])

  def test_times_below_the_smallest_normal_number(self):
    times = onp.asarray([5e-324, 1e-310, 2.5e-308, 1e-300, 1e-280])
    if _FLUSHES:
      times = times[2:]
    logs = onp.log(times)
    for p in (1, 2, 5, 50):
      for rate in (0.5, 1.0, 1e-9, 1e9, 2.0**-800):
        model, log_rate = _stages(p, rate), math.log(rate)
        density = p * log_rate + (p - 1) * logs - math.lgamma(p)
        self._check("log_prob", times, model, density, 1e-11)
        cdf = p * (log_rate + logs) - math.lgamma(p + 1)
        self._check("log_cdf", times, model, cdf, 1e-11)
        ones = onp.ones(len(times))
        self._check("survival_function", times, model, ones, 0.0)

  def test_early_times_beside_an_atom(self):
    time = 2.5e-308 if _FLUSHES else 1e-310
    model = [0.75], [[0.0]], [0.5], 0.25
    self._check("prob", time, model, 0.375)
    self._check("cdf", time, model, 0.25)
    self._check("survival_function", time, model, 0.75)

  def test_limits_without_absorption(self):
    rates = onp.asarray([[0.0, 1.0], [2.0, 0.0]])
    model = [0.25, 0.5], rates, onp.zeros(2), 0.25
    self._check("survival_function", math.inf, model, 0.75)
    self._check("log_survival_function", math.inf, model, math.log(0.75))
    self._check("cdf", math.inf, model, 0.25)
    self._check("prob", math.inf, model, 0.0)
    # Any exit rate above zero changes the limit.
    exits = derivatives.vjp(
      pm.phase_type.survival_function, math.inf, *model, cotangent=1.0
    )[1][3]
    self.assert_close(exits, [math.nan, math.nan])
    # Where some paths are absorbed, the limits are not known.
    model = [0.25, 0.5], onp.eye(2)[::-1] * [[1.0], [0]], [1.0, 0.0], 0.25
    for kind in ("survival_function", "cdf"):
      self._check(kind, math.inf, model, math.nan)

  @parameterized.product(p=(2, 5), x=(1e4, 1e7, 1e10))
  def test_gradients_of_equal_stages(self, p, x):
    # Given the time, each stage takes the same part of it.
    for rate in (0.7, 1.0, 0.3):
      time = x / rate
      value, bars = derivatives.vjp(
        pm.phase_type.log_prob, time, *_stages(p, rate), cotangent=1.0
      )
      self.assertTrue(onp.isfinite(self.host(value)))
      truth = 1 / rate - time / p
      bound = 1e-12 * (1 / rate + time / p)
      found = onp.diag(self.host(bars[2]), 1)
      self.assert_close(found, onp.full(p - 1, truth), 0.0, bound)
      self.assert_close(self.host(bars[3])[-1], truth, 0.0, bound)
      starts = [math.perm(p - 1, i) / (rate * time) ** i for i in range(p)]
      self.assert_close(bars[1], starts)

  @parameterized.parameters(1e5, 1e9)
  def test_statistics_of_equal_stages(self, time):
    for p in (2, 5):
      found = pm.phase_type.expected_statistics(time, *_stages(p, 0.7))
      self.assert_close(found.sojourns, onp.full(p, time / p))


if __name__ == "__main__":
  absltest.main()
