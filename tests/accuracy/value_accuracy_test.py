"""Values of the kernel against ball arithmetic, in the tails too."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ValueAccuracyTest(parameterized.TestCase):
  def _check(self, kind, operands):
    times = onp.ravel(operands.time)
    actual = kernel_calls.directional(kind, operands)
    self.assertEqual(actual.shape, times.shape)
    for t, x in zip(times, actual):
      truth, _ = oracle.directional(kind, operands._replace(time=t))
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(x, truth), bound, (t, x, truth))

  @parameterized.product(
    model=tuple(cases.MODELS), options=tuple(cases.OPTIONS)
  )
  def test_log_density(self, model, options):
    times = cases.TIMES[model]
    self._check("log_density", cases.operands(model, options, times))

  @parameterized.product(
    model=tuple(cases.MODELS),
    options=("exits_given", "exits_derived"),
    kind=oracle.KINDS[1:],
  )
  def test_other_kinds(self, model, options, kind):
    times = cases.TIMES[model][1::2]
    self._check(kind, cases.operands(model, options, times))

  @parameterized.parameters(*oracle.KINDS)
  def test_one_time_alone_gives_the_same_bits(self, kind):
    times = cases.TIMES["cyclic"]
    operands = cases.operands("cyclic", "exits_given", times)
    together = kernel_calls.directional(kind, operands)
    for t, x in zip(times, together):
      alone = kernel_calls.directional(kind, operands._replace(time=t))
      self.assertEqual(float(alone[0]), float(x))

  def test_the_order_of_the_times_does_not_matter(self):
    times = onp.array(cases.TIMES["erlang"] * 2)
    order = onp.random.default_rng(0).permutation(len(times))
    operands = cases.operands("erlang", "exits_given", times)
    expected = kernel_calls.directional("log_density", operands)[order]
    actual = kernel_calls.directional(
      "log_density", operands._replace(time=times[order])
    )
    onp.testing.assert_array_equal(actual, expected)

  @parameterized.parameters(*oracle.KINDS)
  def test_float32_is_the_rounded_exact_result(self, kind):
    times = onp.array([1e-3, 0.5, 3.0, 20.0], onp.float32)
    operands = cases.operands("cyclic", "exits_given", times)
    operands = oracle.Operands(
      *(None if x is None else onp.float32(x) for x in operands)
    )
    arrays = kernel_calls.inputs(operands, onp.float32)
    code = kernel_calls.kind_code(kind)
    actual = kernel_calls.module().forward(code, 0, arrays)
    self.assertEqual(actual.dtype, onp.float32)
    for t, x in zip(times, actual):
      truth, _ = oracle.directional(kind, operands._replace(time=t))
      bound = 0.51 * float(onp.spacing(onp.abs(x)))
      self.assertLessEqual(oracle.error(x, truth), bound, (t, x, truth))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class AdversarialModelsTest(parameterized.TestCase):
  """Where shortcuts are known to go wrong."""

  def _check(self, operands):
    truth, _ = oracle.directional("log_density", operands)
    actual = kernel_calls.directional("log_density", operands)[0]
    bound = cases.log_tolerance(float(truth.mid()))
    self.assertLessEqual(oracle.error(actual, truth), bound, (actual, truth))

  @parameterized.parameters(1.0, 30.0, 100.0, 500.0)
  def test_a_rare_slow_component_rules_the_tail(self, t):
    # After twenty steps the sequence looks geometric to the last digit.
    operands = oracle.Operands(
      onp.array([1.0, 1e-20]),
      onp.diag([-1.0, -0.1]),
      onp.array([1.0, 0.1]),
      onp.float64(0.0),
      t,
    )
    self._check(operands)

  @parameterized.parameters(1e-10, 1e-3, 1.0)
  def test_entries_far_below_the_norm(self, t):
    rates = onp.append(onp.full(40, 1e-6), 1e3)
    operands = models.hypoexponential(rates)._replace(time=t)
    self._check(operands)

  @parameterized.parameters(1e-9, 1e-2, 1.0, 40.0)
  def test_a_stiff_chain(self, t):
    rates = 2.0 ** onp.linspace(0, 16, 12).round()
    self._check(models.hypoexponential(rates)._replace(time=t))

  @parameterized.parameters(1.0, 100.0, 1e4, 4e5)
  def test_a_metastable_chain(self, t):
    # Two lumps of states that hardly communicate.
    slow = 2.0**-10
    rates = onp.array(
      [[0, 1, 0, 0], [1, 0, slow, 0], [0, slow, 0, 2], [0, 0, 2, 0]], float
    )
    exits = onp.array([2.0**-9, 0, 0, 2.0**-12])
    subgenerator = rates - onp.diag(rates.sum(axis=1) + exits)
    start = onp.array([0.0, 1.0, 0.0, 0.0])
    self._check(oracle.Operands(start, subgenerator, exits, None, t))

  @parameterized.parameters(0.5, 20.0, 700.0)
  def test_a_ring_that_is_nearly_periodic(self, t):
    p = 9
    rates = onp.roll(onp.eye(p), 1, axis=1)
    exits = onp.zeros(p)
    exits[-1] = 2.0**-20
    subgenerator = rates - onp.diag(rates.sum(axis=1) + exits)
    self._check(oracle.Operands(onp.eye(p)[0], subgenerator, exits, None, t))

  @parameterized.parameters(0.1, 5.0, 500.0)
  def test_rounded_rows_have_no_exit(self, t):
    # The first row's sum is -2.8e-17, the second one's 1.1e-16: rounding.
    subgenerator = onp.array(
      [
        [-0.3, 0.1, 0.2],
        [0.4, -1.1, 0.7],
        [0.0, 0.5, -1.5],
      ]
    )
    start = onp.array([0.5, 0.5, 0.0])
    self._check(oracle.Operands(start, subgenerator, None, None, t))


if __name__ == "__main__":
  absltest.main()
