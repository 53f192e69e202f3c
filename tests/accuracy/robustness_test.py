"""Values that no model should have: NaN with a reason, never a crash."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_NAN, _INF = float("nan"), float("inf")


def _value(kind, operands):
  return kernel_calls.directional(kind, operands)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class WholeLineTest(parameterized.TestCase):
  """Zero, negative, infinite and missing times."""

  @parameterized.parameters(
    ("log_density", -_INF, -_INF),
    ("density", 0.0, 0.0),
    ("log_survival", 0.0, -_INF),
    ("survival", 1.0, 0.0),
    ("log_cdf", -_INF, 0.0),
    ("cdf", 0.0, 1.0),
  )
  def test_outside_the_support(self, kind, before, after):
    times = onp.array([-_INF, -1e300, -1e-300, _INF, _NAN, 1.5])
    values = _value(kind, cases.small_model()._replace(time=times))
    onp.testing.assert_array_equal(values[:3], [before] * 3)
    self.assertEqual(values[3], after)
    self.assertTrue(onp.isnan(values[4]))
    onp.testing.assert_array_equal(
      values[5:], _value(kind, cases.small_model())
    )

  @parameterized.parameters(
    ("log_density", onp.log(0.25)),
    ("density", 0.25),
    ("log_survival", onp.log(0.75)),
    ("survival", 0.75),
    ("log_cdf", onp.log(0.25)),
    ("cdf", 0.25),
  )
  def test_zero_with_an_atom(self, kind, expected):
    value = _value(kind, cases.small_model()._replace(time=0.0))
    onp.testing.assert_allclose(value, [expected], rtol=1e-15)

  @parameterized.parameters(
    ("log_density", onp.log(0.625 * 0.25)),
    ("density", 0.625 * 0.25),
    ("log_survival", 0.0),
    ("survival", 1.0),
    ("log_cdf", -_INF),
    ("cdf", 0.0),
  )
  def test_zero_without_an_atom(self, kind, expected):
    value = _value(kind, models.cyclic()._replace(time=0.0))
    onp.testing.assert_allclose(value, [expected], rtol=1e-15)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class DegenerateModelsTest(parameterized.TestCase):
  @parameterized.parameters(True, False)
  def test_one_phase_and_one_time(self, exits):
    operands = models.with_options(models.erlang(1, 2.0), exits)
    operands = operands._replace(time=0.5)
    value = _value("log_density", operands)
    onp.testing.assert_allclose(value, [onp.log(2.0) - 1.0], rtol=1e-15)

  def test_the_atom_alone(self):
    operands = cases.small_model(initial_probs=onp.zeros(3), prob_zero=1.0)
    expected = {
      "log_density": -_INF,
      "density": 0.0,
      "log_survival": -_INF,
      "survival": 0.0,
      "log_cdf": 0.0,
      "cdf": 1.0,
    }
    for kind, value in expected.items():
      self.assertEqual(_value(kind, operands)[0], value, kind)

  def test_no_exit_at_all(self):
    operands = cases.small_model(exit_rates=onp.zeros(3))
    expected = {
      "log_density": -_INF,
      "density": 0.0,
      "log_survival": onp.log(0.75),
      "survival": 0.75,
      "log_cdf": onp.log(0.25),
      "cdf": 0.25,
    }
    for kind, value in expected.items():
      onp.testing.assert_allclose(
        _value(kind, operands)[0], value, rtol=1e-14, err_msg=kind
      )

  def test_no_rates_at_all(self):
    operands = cases.small_model(
      subgenerator=onp.zeros((3, 3)), exit_rates=onp.zeros(3)
    )
    self.assertEqual(_value("density", operands)[0], 0.0)
    self.assertEqual(_value("survival", operands)[0], 0.75)

  @parameterized.parameters(*oracle.KINDS)
  def test_an_unreachable_phase_changes_nothing(self, kind):
    small = models.erlang(3, 2.0)
    rates = onp.zeros((4, 4))
    rates[:3, :3] = small.subgenerator
    rates[3, 0] = 1.0
    large = oracle.Operands(
      onp.eye(4)[0], rates, onp.append(small.exit_rates, 1.0), None, 0.7
    )
    onp.testing.assert_allclose(
      _value(kind, large), _value(kind, small._replace(time=0.7)), rtol=1e-14
    )

  @parameterized.parameters(*oracle.KINDS)
  def test_gradients_of_an_unreachable_phase(self, kind):
    rates = onp.diag([2.0, 2.0, 0.0], 1)
    rates[3, 0] = 1.0
    exits = onp.array([0.0, 0.0, 2.0, 1.0])
    operands = oracle.Operands(onp.eye(4)[0], rates, exits, 0.0, 0.7)
    truth, scales = oracle.gradient(kind, operands)
    actual = kernel_calls.gradient(kind, operands)
    for name in oracle.Gradient._fields:
      entries = zip(
        getattr(actual, name),
        getattr(truth, name),
        getattr(scales, name),
        strict=True,
      )
      for x, y, c in entries:
        self.assertLessEqual(oracle.error(x, y), 1e-12 * c + 1e-290)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class BadValuesTest(parameterized.TestCase):
  def _check_nan(self, operands, word=""):
    arrays = kernel_calls.inputs(operands)
    for kind in oracle.KINDS:
      values = _value(kind, operands)
      self.assertTrue(onp.all(onp.isnan(values)), (kind, values))
      messages = kernel_calls.status(kind, arrays)
      for message in messages:
        self.assertNotEqual(message, "ok")
        self.assertIn(word, message)
      for bar in kernel_calls.gradient(kind, operands)[:4]:
        self.assertFalse(onp.any(onp.isinf(bar)))

  @parameterized.parameters(-1e-3, _NAN, _INF, -_INF)
  def test_initial_probs(self, bad):
    start = onp.array([0.5, bad, 0.0])
    self._check_nan(cases.small_model(initial_probs=start), "initial_probs")

  def test_initial_probs_above_one(self):
    operands = cases.small_model(initial_probs=onp.array([0.75, 0.5, 0.0]))
    self._check_nan(operands._replace(prob_zero=None), "initial_probs")

  @parameterized.parameters(-1e-3, _NAN, _INF, -_INF)
  def test_off_diagonals(self, bad):
    for exits in (True, False):
      operands = models.with_options(models.cyclic(), exits)
      matrix = onp.array(operands.subgenerator)
      matrix[1, 2] = bad
      self._check_nan(operands._replace(subgenerator=matrix), "subgenerator")

  @parameterized.parameters(_NAN, _INF, -_INF, 0.0)
  def test_diagonal_that_is_read(self, bad):
    operands = models.with_options(models.cyclic(), exits=False)
    matrix = onp.array(operands.subgenerator)
    matrix[1, 1] = bad
    self._check_nan(operands._replace(subgenerator=matrix), "subgenerator")

  @parameterized.parameters(_NAN, _INF, 7.0)
  def test_diagonal_that_is_not_read(self, bad):
    matrix = onp.array(cases.small_model().subgenerator)
    matrix[1, 1] = bad
    operands = cases.small_model(subgenerator=matrix)
    for kind in oracle.KINDS:
      onp.testing.assert_array_equal(
        _value(kind, operands), _value(kind, cases.small_model())
      )

  @parameterized.parameters(-1e-3, _NAN, _INF)
  def test_exit_rates(self, bad):
    exits = onp.array([0.25, bad, 1.0])
    self._check_nan(cases.small_model(exit_rates=exits), "exit_rates")

  @parameterized.parameters(-1e-3, 1.001, _NAN, _INF)
  def test_prob_zero(self, bad):
    self._check_nan(cases.small_model(prob_zero=bad), "prob_zero")

  def test_a_bad_model_leaves_its_neighbors_alone(self):
    good = kernel_calls.inputs(cases.small_model())
    batch = [onp.stack([x, x, x]) for x in good]
    batch[2][1, 0] = -1.0
    batch[4] = good[4][None]
    for code, kind in enumerate(oracle.KINDS):
      values = kernel_calls.module().forward(code, 0, batch)
      expected = _value(kind, cases.small_model())
      onp.testing.assert_array_equal(values[0], expected)
      self.assertTrue(onp.isnan(values[1, 0]))
      onp.testing.assert_array_equal(values[2], expected)

  def test_an_empty_batch(self):
    arrays = [x[None][:0] for x in kernel_calls.inputs(cases.small_model())]
    try:
      values = kernel_calls.module().forward(0, 0, arrays)
    except ValueError:
      return
    self.assertEqual(values.shape, (0, 1))


if __name__ == "__main__":
  absltest.main()
