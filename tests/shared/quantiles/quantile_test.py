"""Quantiles: values in closed form, ends, shapes, dtypes, derivatives."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp
from scipy import stats

from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.calls import gradients
from tests.helpers import derivatives
from tests.helpers import models
from tests.helpers import test_case

_US = onp.asarray(
  [1e-300, 1e-100, 1e-16, 1e-3, 0.3, 0.5, 0.50001, 0.9, 1 - 1e-9, 1 - 1e-16]
)


def _erlang(k, rate, u):
  """Computes the quantile of an Erlang time."""
  with mpmath.workdps(40):
    u = mpmath.mpf(float(u))

    def error(x):
      x = mpmath.exp(x)
      if u < 0.5:
        below = mpmath.gammainc(k, 0, x, regularized=True)
        return mpmath.log(below) - mpmath.log(u)
      above = mpmath.gammainc(k, x, regularized=True)
      return mpmath.log(above) - mpmath.log(1 - u)

    # F(x) <= x^k / k!, and quantiles up to 1 - 1e-16 are below 100.
    low = mpmath.log(u * math.factorial(k)) / k
    bracket = (low - 1e-9, mpmath.log(100))
    root = mpmath.findroot(error, bracket, solver="anderson", tol=1e-40)
    return float(mpmath.exp(root) / rate)


class ValuesTest(test_case.TestCase):
  """Tests continuous quantiles."""

  def test_exponential(self):
    for path in self.paths():
      with kernel_ops.use_path(path):
        q = pm.phase_type.quantile(_US, *models.exponential(2.0)[:2])
        # The portable path uses rounded logarithms only.
        rtol = 2e-15 if path == "kernel" else 2e-13
        self.assert_close(q, -onp.log1p(-_US) / 2, rtol)

  @parameterized.parameters(2, 10)
  def test_erlang(self, k):
    q = pm.phase_type.quantile(_US, *models.erlang(k, 3.0)[:2])
    self.assert_close(q, [_erlang(k, 3.0, u) for u in _US], 4e-15)

  @parameterized.parameters(*models.ALL)
  def test_round_trip(self, name):
    initial, matrix, exits, atom = models.ALL[name]
    t = onp.asarray([1e-6, 0.01, 0.3, 1.0, 4.0, 30.0])
    for value, quantile in (
      (pm.phase_type.cdf, pm.phase_type.quantile),
      (pm.phase_type.log_cdf, pm.phase_type.quantile_log_cdf),
      (
        pm.phase_type.log_survival_function,
        pm.phase_type.quantile_log_survival,
      ),
    ):
      u = self.host(value(t, initial, matrix, exits, atom))
      q = self.host(quantile(u, initial, matrix, exits, atom))
      density = pm.phase_type.prob(t, initial, matrix, exits, atom)
      # The effect of one unit in the last place of u.
      step = onp.finfo(onp.float64).eps * u
      if value is not pm.phase_type.cdf:
        step = onp.finfo(onp.float64).eps * onp.maximum(onp.abs(u), 1.0)
        slope = (
          pm.phase_type.cdf
          if value is pm.phase_type.log_cdf
          else pm.phase_type.survival_function
        )
        step = step * self.host(slope(t, initial, matrix, exits, atom))
      known = step / self.host(density) < 1e-3 * t
      self.assertGreater(onp.sum(known), 2)
      error = onp.abs(q - t)[known]
      bound = (1e-13 * t + 16 * step / self.host(density))[known]
      self.assertTrue(onp.all(error <= bound), (error, bound))

  def test_far_tails(self):
    model = models.exponential(2.0)[:2]
    asked = onp.asarray([-1e6, -1e4, -700.0, -1.0, -1e-10, -1e-300])
    q = pm.phase_type.quantile_log_survival(asked, *model)
    self.assert_close(q, -asked / 2, 2e-15)
    q = pm.phase_type.quantile_log_cdf(
      onp.asarray([-700.0, -1.0, -1e-10]), *model
    )
    expected = -onp.log(-onp.expm1([-700.0, -1.0, -1e-10])) / 2
    expected[0] = onp.exp(-700.0) / 2
    self.assert_close(q, expected, 1e-13)
    # Below the least normal number.
    self.assert_close(pm.phase_type.quantile_log_cdf(-1e4, *model), 0.0)

  @test_case.of_bad_values
  def test_ends(self):
    model = models.exponential(1.0)[:2]
    u = onp.asarray([0.0, 1.0, -0.1, 1.1, onp.nan, -onp.inf, onp.inf])
    nan = onp.nan
    expected = onp.asarray([0.0, onp.inf, nan, nan, nan, nan, nan])
    self.assert_close(pm.phase_type.quantile(u, *model), expected)
    logs = onp.asarray([-onp.inf, 0.0, 0.1, nan])
    self.assert_close(
      pm.phase_type.quantile_log_cdf(logs, *model), [0.0, onp.inf, nan, nan]
    )
    self.assert_close(
      pm.phase_type.quantile_log_survival(logs, *model),
      [onp.inf, 0.0, nan, nan],
    )

  @parameterized.parameters(0.25, 0.9375)
  def test_atom(self, atom):
    u = onp.asarray([0.0, atom / 2, atom, atom + 0.05, 0.995])
    q = self.host(pm.phase_type.quantile(u, [1 - atom], [[-1.0]]))
    self.assert_close(q[:3], onp.zeros(3))
    self.assert_close(q[3:], onp.log((1 - atom) / (1 - u[3:])), 1e-14)
    # Just above the atom, F is almost constant.
    above = atom + 2.0 ** onp.asarray([-50, -40, -20])
    q = self.host(pm.phase_type.quantile(above, [1 - atom], [[-1.0]]))
    mass = (1 - atom) * -onp.expm1(-q)
    self.assertTrue(onp.all(onp.abs(mass - (above - atom)) <= 4.5e-16))

  def test_all_at_zero(self):
    q = pm.phase_type.quantile(onp.asarray([0.0, 0.5, 1.0]), [0.0], [[-1.0]])
    self.assert_close(q, onp.zeros(3))

  def test_times_near_the_least_normal_number(self):
    self.require_kernel()
    for rate in (0.5, 1e-3, 0.9, 1.0, 3.0, 2.0**-900):
      logs = onp.asarray([-709.0, -705.0, -700.0]) + min(math.log(rate), 0.0)
      q = pm.phase_type.quantile_log_cdf(logs, [1.0], [[-rate]])
      expected = onp.exp(logs - math.log(rate))
      normal = expected >= onp.finfo(float).tiny
      self.assert_close(q, onp.where(normal, expected, 0.0), 1e-12)
    q = pm.phase_type.quantile([1e-307, 4e-308], [1.0], [[-0.5]])
    self.assert_close(q, [2e-307, 8e-308], 1e-12)
    # Times below that number are zero.
    q = pm.phase_type.quantile([1e-310, 5e-324], [1.0], [[-0.5]])
    self.assert_close(q, [0.0, 0.0])

  def test_never_absorbed(self):
    matrix = onp.asarray([[-2.0, 1.5], [0.0, 0.0]])
    u = onp.asarray([0.1, 0.2, 0.25, 0.5, 1.0])
    q = self.host(pm.phase_type.quantile(u, [1.0, 0.0], matrix))
    self.assert_close(q[:2], -onp.log1p(-4 * u[:2]) / 2, 1e-14)
    self.assert_close(q[2:], onp.full(3, onp.inf))
    # A trap with tiny probability changes the survival function.
    edges = pm.EdgeRates([0, 0], [2, 1], [1.0, 1e-20])
    logs = onp.asarray([-1.0, -46.0, -46.06])
    q = self.host(pm.phase_type.quantile_log_survival(logs, [1.0, 0.0], edges))
    expected = -onp.log(onp.exp(logs[:2]) - 1e-20)
    self.assert_close(q[:2], expected, 1e-12)
    self.assertEqual(q[2], onp.inf)

  @test_case.of_bad_values
  def test_bad_models(self):
    u = onp.asarray([0.0, 0.5, 1.0])
    for model in (([1.5], [[-1.0]]), ([1.0], [[1.0]])):
      self.assert_close(pm.phase_type.quantile(u, *model), onp.full(3, onp.nan))

  def test_out_of_reach(self):
    """Tests NaN for times out of the kernel's range only."""
    self.require_kernel()
    p = 20
    rates = onp.diag(onp.full(p - 1, 1e5), 1)
    rates += onp.diag(onp.full(p - 1, 1e3), -1)
    exits = onp.eye(p)[0]
    u = onp.asarray([1e-20, 0.9])
    q = self.host(pm.phase_type.quantile(u, onp.eye(p)[0], rates, exits))
    self.assertLess(abs(q[0] - 1e-20), 1e-33)
    self.assertTrue(onp.isnan(q[1]))

  def test_plateau(self):
    """Tests a distribution function that is flat over many decades."""
    model = models.hyperexponential([0.25, 0.75], [1.0, 2.0**-40])[:2]
    u = onp.asarray([0.125, 0.25 - 2.0**-30, 0.25 + 2.0**-20, 0.5, 0.9])
    q = self.host(pm.phase_type.quantile(u, *model))
    back = self.host(pm.phase_type.cdf(q, *model))
    self.assert_close(back, u, 1e-15)

  def test_shapes(self):
    matrix = onp.asarray([-1.0, -2.0, -4.0])[:, None, None]
    initial = onp.ones((2, 1, 1))
    u = onp.asarray([0.1, 0.2, 0.3])
    q = pm.phase_type.quantile(u, initial, matrix)
    expected = onp.broadcast_to(-onp.log1p(-u) / [1, 2, 4], (2, 3))
    self.assert_close(q, expected, 1e-15)
    q = pm.phase_type.quantile(u[:, None, None], initial, matrix)
    self.assertEqual(self.host(q).shape, (3, 2, 3))
    self.assertEqual(
      self.host(pm.phase_type.quantile(0.5, [1.0], [[-1.0]])).shape, ()
    )
    with self.assertRaisesRegex(ValueError, "value has shape"):
      pm.phase_type.quantile(onp.full(4, 0.5), initial, matrix)
    with self.assertRaisesRegex(TypeError, "value is None"):
      pm.phase_type.quantile(None, [1.0], [[-1.0]])

  def test_single_precision(self):
    u = onp.asarray([1e-30, 0.3, 0.75, 1 - 2.0**-24], onp.float32)
    initial = onp.ones(1, onp.float32)
    matrix = onp.asarray([[-2.0]], onp.float32)
    q = self.host(pm.phase_type.quantile(u, initial, matrix))
    self.assertEqual(q.dtype, onp.float32)
    exact = -onp.log1p(-u.astype(onp.float64)) / 2
    self.assert_close(q, exact, 1e-6)

  def test_edges(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]])
    matrix = onp.asarray([[-6.0, 6.0], [0.0, -2.0]])
    u = onp.asarray([0.01, 0.6])
    self.assert_close(
      pm.phase_type.quantile(u, [1.0, 0.0], edges),
      pm.phase_type.quantile(u, [1.0, 0.0], matrix),
      1e-15,
    )

  def test_many(self):
    """Tests many quantiles of one model, which the kernel computes differently."""
    model = models.ALL["cyclic"]
    u = onp.linspace(0.1001, 0.9999, 2000)
    q = self.host(pm.phase_type.quantile(u, *model[:2]))
    self.assert_close(pm.phase_type.cdf(q, *model[:2]), u, 1e-14)
    self.assertTrue(onp.all(onp.diff(q) > 0))


class CountsTest(test_case.TestCase):
  """Tests discrete quantiles."""

  @parameterized.parameters(0.3, 0.01, 1e-6)
  def test_geometric(self, prob):
    u = onp.asarray([1e-300, 0.1, 0.5, 0.9, 1 - 1e-9])
    stay = 1.0 - prob
    k = pm.discrete_phase_type.quantile(u, [1.0], [[stay]])
    expected = onp.ceil(onp.log1p(-u) / onp.log(stay))
    self.assert_close(k, onp.maximum(expected, 1.0), 0.0)

  def test_ties(self):
    """Tests counts at which F equals u exactly."""
    u = onp.asarray([0.25, 0.5, 0.75, 0.875, 1 - 2.0**-30, 1 - 2.0**-53])
    k = pm.discrete_phase_type.quantile(u, [1.0], [[0.5]])
    self.assert_close(k, [1.0, 1.0, 2.0, 3.0, 30.0, 53.0], 0.0)
    above = onp.nextafter(u[:3], 1.0)
    k = pm.discrete_phase_type.quantile(above, [1.0], [[0.5]])
    self.assert_close(k, [1.0, 2.0, 3.0], 0.0)

  def test_round_trip(self):
    state = onp.random.RandomState(3)
    matrix = state.gamma(0.5, size=(4, 4))
    matrix *= 0.9 / onp.sum(matrix, axis=-1, keepdims=True)
    initial = state.dirichlet(onp.ones(5))[:4]
    counts = onp.arange(100.0)
    for value, quantile in (
      (pm.discrete_phase_type.cdf, pm.discrete_phase_type.quantile),
      (pm.discrete_phase_type.log_cdf, pm.discrete_phase_type.quantile_log_cdf),
      (
        pm.discrete_phase_type.log_survival_function,
        pm.discrete_phase_type.quantile_log_survival,
      ),
    ):
      u = value(counts, initial, matrix)
      self.assert_close(quantile(u, initial, matrix), counts, 0.0)

  def test_negative_binomial(self):
    model = onp.eye(5)[0], onp.diag([0.9] * 5) + onp.diag([0.1] * 4, 1)
    u = onp.concatenate([10.0 ** -onp.arange(1, 300, 20), [0.2, 0.7, 0.999]])
    for path in self.paths():
      with kernel_ops.use_path(path):
        k = pm.discrete_phase_type.quantile(u, *model)
        self.assert_close(k, stats.nbinom.ppf(u, 5, 0.1) + 5, 0.0)

  def test_periods(self):
    """Tests a chain whose odd counts are impossible."""
    matrix, exits = [[0.0, 1.0], [0.5, 0.0]], [0.0, 0.5]
    u = onp.asarray([0.1, 0.5, 0.51, 0.75, 0.76, 0.99])
    k = pm.discrete_phase_type.quantile(u, [1.0, 0.0], matrix, exits)
    self.assert_close(k, [2.0, 2.0, 4.0, 4.0, 6.0, 14.0], 0.0)

  @test_case.of_bad_values
  def test_ends(self):
    u = onp.asarray([0.0, 0.25, 0.26, 1.0, 2.0])
    k = pm.discrete_phase_type.quantile(u, [0.75], [[0.5]])
    self.assert_close(k, [0.0, 0.0, 1.0, onp.inf, onp.nan])

  def test_huge(self):
    self.require_kernel()
    k = self.host(pm.discrete_phase_type.quantile(0.5, [1.0], [[1 - 2.0**-45]]))
    self.assertLess(abs(k / (math.log(2) * 2.0**45) - 1), 1e-12)
    exits = [2.0**-52]
    k = pm.discrete_phase_type.quantile(0.9, [1.0], [[1 - exits[0]]], exits)
    self.assert_close(k, onp.nan)


class DerivativesTest(test_case.TestCase):
  """Tests derivatives by closed forms."""

  def test_vjp(self):
    self.require_kernel()
    u = onp.asarray([1e-300, 0.2, 0.7, 1 - 2.0**-50])
    for i in range(4):
      bar = onp.eye(4)[i]
      q, bars = derivatives.vjp(
        pm.phase_type.quantile, u, [1.0], [[-2.0]], cotangent=bar
      )
      self.assert_close(q, -onp.log1p(-u) / 2, 2e-15)
      self.assert_close(bars[2], [[self.host(q)[i] / 2]], 1e-13)
      self.assert_close(bars[0], bar / (2 * (1 - u)), 1e-13)
      # F = 1 - sum(alpha) exp(-2 t), with the atom derived.
      self.assert_close(bars[1], [0.5], 1e-13)

  def test_wanted(self):
    self.require_kernel()
    _, bars = derivatives.vjp(
      pm.phase_type.quantile,
      0.5,
      [1.0],
      [[-2.0]],
      cotangent=1.0,
      wanted=("value",),
    )
    self.assertEqual([x is None for x in bars], [False, True, True, True, True])

  def test_jvp(self):
    self.require_kernel()
    ones = onp.ones(2)
    for function, x, moved in (
      (pm.phase_type.quantile, [0.2, 0.7], [0.625, 1 / 0.6]),
      (pm.phase_type.quantile_log_survival, [-1e4, -1e-5], [-0.5, -0.5]),
      (
        pm.phase_type.quantile_log_cdf,
        [-1e2, -0.5],
        0.5 / onp.expm1([1e2, 0.5]),
      ),
    ):
      tangents = (ones, None, None, None, None)
      _, change = derivatives.jvp(
        function, x, [1.0], [[-2.0]], tangents=tangents
      )
      self.assert_close(change, moved, 1e-12)
      tangents = (None, None, [[1.0]], None, None)
      q, change = derivatives.jvp(
        function, x, [1.0], [[-2.0]], tangents=tangents
      )
      self.assert_close(change, self.host(q) / 2, 1e-12)

  def test_parameters_beside_coefficients(self):
    self.require_kernel()

    def quantile(x):
      edges = pm.EdgeRates([0], [1], x, [[2.0]], [0.5])
      return pm.phase_type.quantile(0.3, [1.0], edges)

    x = np.asarray(onp.asarray([1.5]))
    want = 2.0 * onp.log(0.7) / 3.5**2
    _, found = gradients.value_and_gradient(quantile, x)
    self.assert_close(found, [want], 1e-13)
    _, found = gradients.jvp(quantile, (x,), (np.ones_like(x),))
    self.assert_close(found, want, 1e-13)

  @parameterized.product(of_constants=[True, False], forward=[True, False])
  def test_no_silent_zero_in_coefficients(self, of_constants, forward):
    self.require_kernel()
    given = [onp.asarray([[1.0, 0.5], [0.0, 1.0]]), onp.asarray([0.1, 0.2])]
    x = np.asarray(given[of_constants])

    def quantile(x):
      coefficients, constants = given[0], given[1]
      if of_constants:
        constants = x
      else:
        coefficients = x
      edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 2.0], coefficients, constants)
      return pm.phase_type.quantile(0.5, [1.0, 0.0], edges)

    try:
      if forward:
        _, found = gradients.jvp(quantile, (x,), (np.ones_like(x),))
      else:
        _, found = gradients.value_and_gradient(quantile, x)
    except (NotImplementedError, TypeError):
      return
    self.assertTrue(onp.all(onp.isnan(self.host(found))))

  def test_broadcast(self):
    self.require_kernel()
    matrix = onp.asarray([[[-1.0]], [[-2.0]]])
    u = onp.asarray([0.2, 0.7, 0.9])[:, None]
    q, bars = derivatives.vjp(
      pm.phase_type.quantile, u, [1.0], matrix, cotangent=1.0
    )
    q = self.host(q)
    rates = onp.asarray([1.0, 2.0])
    self.assert_close(
      bars[2], (onp.sum(q, axis=0) / rates)[:, None, None], 1e-13
    )
    self.assert_close(bars[0], 1.5 / (1 - u), 1e-13)

  def test_ends(self):
    self.require_kernel()
    u = onp.asarray([0.1, 0.25, 1.0])
    tangents = (onp.ones(3), None, None, None, None)
    _, moved = derivatives.jvp(
      pm.phase_type.quantile, u, [0.75], [[-1.0]], tangents=tangents
    )
    self.assert_close(moved, [0.0, onp.nan, onp.nan])
    # An unused NaN derivative must not spoil others.
    bar = onp.asarray([1.0, 0.0, 0.0])
    _, bars = derivatives.vjp(
      pm.phase_type.quantile, u, [0.75], [[-1.0]], cotangent=bar
    )
    self.assert_close(bars[2], [[0.0]])
    _, bars = derivatives.vjp(
      pm.phase_type.quantile, u, [0.75], [[-1.0]], cotangent=onp.ones(3)
    )
    self.assert_close(bars[2], [[onp.nan]])

  def test_first_and_second(self):

    def quantile(rate, u):
      matrix = rate * np.asarray(onp.asarray([[-1.0]]))
      return np.sum(pm.phase_type.quantile(u, [1.0], matrix))

    def slope(rate):
      return gradients.value_and_gradient(quantile, rate, u)[1][0]

    rate, u = np.asarray(2.0), np.asarray(0.7)
    value, found = gradients.value_and_gradient(quantile, rate, u)
    value = self.host(value)
    self.assert_close(found[0], -value / 2.0, 1e-13)
    self.assert_close(found[1], 1 / 0.6, 1e-13)
    _, second = gradients.value_and_gradient(slope, rate)
    self.assert_close(second, value / 2.0, 1e-12)
    _, moved = gradients.jvp(lambda x: quantile(x, u), (rate,), (rate,))
    self.assert_close(moved, -value, 1e-13)

  def test_steps_are_refused(self):

    def quantile(stay):
      matrix = stay * np.asarray(onp.asarray([[1.0]]))
      return np.sum(pm.discrete_phase_type.quantile(0.5, [1.0], matrix))

    with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
      gradients.value_and_gradient(quantile, np.asarray(0.75))


if __name__ == "__main__":
  absltest.main()
