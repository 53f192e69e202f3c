"""Functions of phase-type distributions against closed forms."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp
from scipy import special
from scipy import stats

from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.math.model import function_kinds
from tests.helpers import models
from tests.helpers import test_case

_TIMES = onp.asarray([1e-20, 1e-8, 1e-3, 0.1, 1.0, 3.0, 10.0, 40.0])


def _erlang_log_density(p, rate, t):
  return p * math.log(rate) + (p - 1) * onp.log(t) - rate * t - math.lgamma(p)


def _exponential(matrix, t):
  """Computes exp(matrix t), rounded from 50 digits."""
  with mpmath.workdps(50):
    result = mpmath.expm(mpmath.matrix(matrix.tolist()) * mpmath.mpf(float(t)))
    return onp.asarray(result.tolist(), onp.float64)


class ClosedFormTest(test_case.TestCase):
  """Tests both paths, including far tails."""

  @parameterized.parameters(0.5, 1.0, 3.0, 1e3)
  def test_exponential(self, rate):
    model = models.exponential(rate)
    times = onp.asarray([0.0, 1e-300, 1e-8, 0.1, 1.0, 700.0]) / rate
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          pm.phase_type.log_prob(times, *model[:2]),
          math.log(rate) - rate * times,
          atol=1e-12,
        )
        self.assert_close(
          pm.phase_type.log_survival_function(times, *model[:2]),
          -rate * times,
          atol=1e-12,
        )
        self.assert_close(
          pm.phase_type.survival_function(times, *model[:2]),
          onp.exp(-rate * times),
        )
        self.assert_close(
          pm.phase_type.cdf(times, *model[:2]), -onp.expm1(-rate * times)
        )

  @parameterized.parameters((2, 1.0), (10, 1.0), (10, 7.0), (40, 0.3))
  def test_erlang(self, p, rate):
    model = models.erlang(p, rate)
    times = onp.append(_TIMES, 700.0 / rate)
    expected = _erlang_log_density(p, rate, times)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          pm.phase_type.log_prob(times, *model[:2]), expected, 2e-13
        )
        self.assert_close(
          pm.phase_type.cdf(_TIMES, *model[:2]),
          special.gammainc(p, rate * _TIMES),
          1e-12,
        )
        self.assert_close(
          pm.phase_type.survival_function(_TIMES[:7], *model[:2]),
          special.gammaincc(p, rate * _TIMES[:7]),
          1e-12,
        )

  def test_log_cdf_is_accurate_in_the_left_tail(self):
    model = models.erlang(5, 2.0)
    times = onp.asarray([1e-60, 1e-20])
    expected = 5 * onp.log(2 * times) - math.lgamma(6)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(pm.phase_type.log_cdf(times, *model[:2]), expected)

  def test_hyperexponential_whose_heavy_part_is_rare(self):
    model = models.hyperexponential([1.0, 1e-20], [1.0, 0.1])
    times = onp.asarray([1.0, 50.0, 100.0, 300.0])
    expected = onp.logaddexp(-times, onp.log(1e-21) - times / 10)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(pm.phase_type.log_prob(times, *model[:2]), expected)

  def test_atom(self):
    alpha, rate = onp.asarray([0.75]), 2.0
    times = onp.asarray([0.0, 1.0])
    for atom in (None, onp.asarray(0.25)):
      for path in self.paths():
        with kernel_ops.use_path(path):
          model = {"exit_rates": None, "prob_zero": atom}
          arguments = (times, alpha, onp.asarray([[-rate]]))
          after = 0.75 * math.exp(-rate)
          self.assert_close(
            pm.phase_type.prob(*arguments, **model), [0.25, rate * after]
          )
          self.assert_close(
            pm.phase_type.log_prob(*arguments, **model),
            onp.log([0.25, rate * after]),
          )
          self.assert_close(
            pm.phase_type.cdf(*arguments, **model), [0.25, 1 - after]
          )
          self.assert_close(
            pm.phase_type.survival_function(*arguments, **model), [0.75, after]
          )

  @parameterized.parameters(*models.ALL)
  def test_matrix_exponential(self, name):
    model = models.ALL[name]
    times = onp.asarray([0.01, 0.7, 3.0])
    exits = -onp.sum(model.subgenerator, axis=-1)
    powers = [_exponential(model.subgenerator, t) for t in times]
    expected = [model.initial_probs @ m @ exits for m in powers]
    expected_sf = [onp.sum(model.initial_probs @ m) for m in powers]
    arguments = (times, *model)
    for path in self.paths():
      with kernel_ops.use_path(path):
        # The exits are rounded row sums.
        self.assert_close(
          pm.phase_type.prob(*arguments), expected, 1e-11, 1e-15
        )
        self.assert_close(
          pm.phase_type.survival_function(*arguments), expected_sf
        )
        self.assert_close(
          pm.phase_type.cdf(*arguments),
          1 - onp.asarray(expected_sf),
          1e-12,
          1e-15,
        )

  def test_stiff_chain(self):
    # 40 slow phases and a fast one: probabilities far below the range.
    model = models.hypoexponential([1e-6] * 40 + [1e3])
    t = 1e-10
    leading = 40 * math.log(1e-6) + math.log(1e3) + 40 * math.log(t)
    expected = leading - math.lgamma(41)
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = self.host(pm.phase_type.log_prob(t, *model[:2]))
        # The kernel may only report that the value is out of range.
        if path == "portable" or not math.isnan(value):
          self.assertLess(abs(value - expected), 1e-6)


class EdgeTest(test_case.TestCase):
  """Tests times outside the support, and impossible or invalid values."""

  @parameterized.parameters(
    ("log_prob", [-math.inf, 0.0, -math.inf, math.nan]),
    ("prob", [0.0, 1.0, 0.0, math.nan]),
    ("log_survival_function", [0.0, 0.0, -math.inf, math.nan]),
    ("survival_function", [1.0, 1.0, 0.0, math.nan]),
    ("log_cdf", [-math.inf, -math.inf, 0.0, math.nan]),
    ("cdf", [0.0, 0.0, 1.0, math.nan]),
  )
  def test_times(self, kind, expected):
    times = onp.asarray([-1.0, 0.0, math.inf, math.nan])
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          getattr(pm.phase_type, kind)(times, [1.0], [[-1.0]]), expected
        )

  def test_infinite_negative_time(self):
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.phase_type.log_prob(-math.inf, [1.0], [[-1.0]])
        self.assert_close(value, -math.inf)

  def test_density_that_is_truly_zero(self):
    # The first phase does not lead to the exit of the second.
    matrix = onp.asarray([[0.0, 0.0], [1.0, -2.0]])
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.phase_type.log_prob([0.0, 1.0], [1.0, 0.0], matrix)
        self.assert_close(value, [-math.inf, -math.inf])
        self.assert_close(
          pm.phase_type.survival_function(1.0, [1.0, 0.0], matrix), 1.0
        )

  def test_rates_near_the_greatest_number(self):
    rates = onp.asarray([1e288, 1.4845e298, 1e299, 1e300])
    shares = onp.asarray([[1e-3], [0.5], [1.0], [20.0], [159.3]])
    times = shares / rates
    zeros = onp.zeros((4, 1, 1))
    exits = rates[:, None]
    found = pm.phase_type.log_prob(times, [1.0], zeros, exits)
    self.assert_close(found, onp.log(rates) - rates * times)
    found = pm.phase_type.log_survival_function(times, [1.0], zeros, exits)
    self.assert_close(found, -rates * times)

  @parameterized.named_parameters(
    ("negative_mass", [-0.1, 0.5], [[-1.0, 0.5], [0.0, -1.0]], None, None),
    ("mass_above_one", [0.6, 0.5], [[-1.0, 0.5], [0.0, -1.0]], None, None),
    ("nan_mass", [math.nan, 0.5], [[-1.0, 0.5], [0.0, -1.0]], None, None),
    ("negative_rate", [0.5, 0.5], [[-1.0, -0.5], [0.0, -1.0]], None, None),
    ("row_sum", [0.5, 0.5], [[-1.0, 1.5], [0.0, -1.0]], None, None),
    ("nan_rate", [0.5, 0.5], [[-1.0, math.nan], [0.0, -1.0]], None, None),
    ("inf_rate", [0.5, 0.5], [[-math.inf, 0.5], [0.0, -1.0]], None, None),
    ("exit", [0.5, 0.5], [[0.0, 0.5], [0.0, 0.0]], [-1.0, 1.0], None),
    ("atom", [0.5, 0.5], [[-1.0, 0.5], [0.0, -1.0]], None, -0.5),
  )
  @test_case.of_bad_values
  def test_bad_values_give_nan(self, alpha, matrix, exits, atom):
    for path in self.paths():
      for kind in function_kinds.KINDS:
        with kernel_ops.use_path(path):
          value = getattr(pm.phase_type, kind)(
            [0.0, 1.0], alpha, matrix, exits, atom
          )
          self.assert_close(value, [math.nan, math.nan])

  def test_sums_within_tolerance_count_as_zero(self):
    # The first row sums to -2.8e-17, the second to 1.1e-16; ten tenths in
    # float32 sum to more than one.
    matrix = onp.asarray([[-0.3, 0.1, 0.2], [0.4, -1.1, 0.7], [0.0, 0.0, -1.0]])
    alpha = onp.asarray([0.5, 0.5, 0.0])
    tenths = onp.full(10, 0.1, onp.float32)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(pm.phase_type.log_prob(0.0, alpha, matrix), -math.inf)
        value = pm.phase_type.survival_function(
          0.0, tenths, -onp.eye(10, dtype=onp.float32)
        )
        self.assert_close(value, onp.float32(1.0), 1e-6)

  def test_diagonal_is_not_read_when_exits_are_given(self):
    matrix = onp.asarray([[math.nan, 1.0], [0.0, 5.0]])
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.phase_type.log_prob(2.0, [1.0, 0.0], matrix, [0.0, 1.0])
        self.assert_close(value, math.log(2.0) - 2.0)

  def test_enormous_rates_give_nan_or_the_value(self):
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = self.host(
          pm.phase_type.log_prob([1e-12, 1.0], [1.0], [[-1e12]])
        )
        onp.testing.assert_allclose(value[0], math.log(1e12) - 1)
        if not math.isnan(value[1]):
          onp.testing.assert_allclose(value[1], math.log(1e12) - 1e12)


class ShapeTest(test_case.TestCase):
  """Tests broadcasting of models and times."""

  @parameterized.parameters(
    ((), (), (), ()),
    ((), (), (3,), (3,)),
    ((2,), (), (), (2,)),
    ((2,), (2,), (2,), (2,)),
    ((2,), (2,), (5, 1), (5, 2)),
    ((2, 1), (3,), (), (2, 3)),
    ((2, 1), (3,), (4, 1, 1), (4, 2, 3)),
    ((2, 1), (1, 1), (4, 2, 3), (4, 2, 3)),
    ((1,), (1, 1), (3, 1), (3, 1)),
    ((2, 1, 2), (), (3, 1), (2, 3, 2)),
  )
  def test_broadcasting(self, alpha_batch, matrix_batch, times_shape, expected):
    state = onp.random.RandomState(0)
    model = models.cyclic()
    alpha = model.initial_probs * state.uniform(size=(*alpha_batch, 1))
    scale = 1 + state.uniform(size=(*matrix_batch, 1, 1))
    matrix = model.subgenerator * scale
    times = state.uniform(size=times_shape) * 3
    one = onp.vectorize(
      lambda a, s, t: self.host(pm.phase_type.log_prob(t, a, s)),
      signature="(p),(p,p),()->()",
    )
    want = one(alpha, matrix, times)
    self.assertEqual(want.shape, expected)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          pm.phase_type.log_prob(times, alpha, matrix), want, 1e-13
        )

  @test_case.of_bad_values
  def test_exits_and_atom_broadcast(self):
    model = models.random_model(3, onp.random.RandomState(1))
    exits = onp.stack([model.exit_rates, 2 * model.exit_rates])[:, None]
    atom = onp.asarray([0.0, 0.0, 0.0, float(model.prob_zero)])
    value = pm.phase_type.cdf(1.0, *model[:2], exits, atom)
    self.assertEqual(onp.shape(self.host(value)), (2, 4))
    one = pm.phase_type.cdf(1.0, *model[:2], exits[1, 0], atom[3])
    self.assert_close(self.host(value)[1, 3], one, 1e-13)

  @parameterized.parameters("float32", "float64")
  def test_dtypes(self, dtype):
    model = models.cyclic()
    alpha = onp.asarray(model.initial_probs, dtype)
    matrix = onp.asarray(model.subgenerator, dtype)
    exact = self.host(
      pm.phase_type.log_prob(
        onp.asarray([0.5, 9.0]),
        onp.asarray(alpha, onp.float64),
        onp.asarray(matrix, onp.float64),
      )
    )
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.phase_type.log_prob([0.5, 9], alpha, matrix)
        self.assertEqual(static.dtype_name(value), dtype)
        rtol = 1e-5 if dtype == "float32" else 1e-13
        onp.testing.assert_allclose(self.host(value), exact, rtol=rtol)

  def test_many_times(self):
    model = models.cyclic()
    times = onp.linspace(0, 30, 5001)
    few = pm.phase_type.log_prob(times[::100], *model[:2])
    for path in self.paths():
      with kernel_ops.use_path(path):
        many = self.host(pm.phase_type.log_prob(times, *model[:2]))
        self.assert_close(many[::100], few)

  def test_median_of_exponential(self):
    t = stats.expon.ppf(0.5)
    self.assert_close(pm.phase_type.cdf(t, [1.0], [[-1.0]]), 0.5)


if __name__ == "__main__":
  absltest.main()
