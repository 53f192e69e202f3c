"""The portable path: values against the kernel, and derivatives."""

import math
import pickle
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.calls import gradients
from phasic.math.calls import kernel_derivatives
from phasic.math.model import function_kinds
from phasic.math.numeric import exact_sums
from phasic.math.portable import mixture
from phasic.math.portable import portable
from phasic.math.portable import power_sequence
from phasic.math.portable import transition_power
from tests.helpers import derivatives
from tests.helpers import models
from tests.helpers import test_case

MODE = "numpy"
_TIMES = onp.asarray([0.0, 1e-20, 0.01, 0.7, 5.0, 20.0])


def _operands(model, times, dtype="float64"):
  """Returns the kernel's operands of one model."""
  empty = onp.zeros(0)
  exits = empty if model.exit_rates is None else model.exit_rates
  atom = empty if model.prob_zero is None else onp.reshape(model.prob_zero, 1)
  arrays = (model.initial_probs, model.subgenerator, exits, atom, times)
  return tuple(np.asarray(onp.asarray(x), dtype=dtype) for x in arrays)


class AgainstKernelTest(test_case.TestCase):
  """Compares both paths."""

  @parameterized.parameters("erlang", "cyclic", "random")
  def test_values(self, name):
    self.require_kernel()
    kinds: tuple[str, ...] = kernel_ops.KINDS
    if MODE != "numpy":
      # Loops are slow here, so one model of each family suffices.
      kinds = ("log_density", "survival", "log_cdf")
      if name == "erlang":
        self.skipTest("the derivatives are tested with an Erlang model")
    operands = _operands(models.ALL[name], _TIMES)
    for kind in kinds:
      expected = kernel_ops.phase_type(kind, operands, None)
      actual = portable.phase_type(kind, *operands)
      atol = 1e-12 if kind.startswith("log_") else 0.0
      self.assert_close(actual, expected, 1e-11, atol)

  @parameterized.parameters(False, True)
  @test_case.of_bad_values
  def test_slopes_of_results_that_are_not_finite(self, discrete):
    function = (pm.discrete_phase_type if discrete else pm.phase_type).log_prob
    matrix = onp.asarray([[0.5, 0.25], [0.0, 0.5]])
    matrix = matrix if discrete else matrix - onp.eye(2)
    where = [math.inf, -1.0, 2.0, math.nan]

    def value(x):
      entries = np.reshape(x[:4], (2, 2))
      # A sum of the tangents of a row must not hide them.
      return function(x[4:], np.asarray([0.5, 0.5], "float64"), entries)

    x = np.asarray(onp.concatenate([onp.ravel(matrix), where]), "float64")
    along = np.asarray([1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "float64")
    masked = np.asarray([0.0, 0.0, 1.0, 0.0], "float64")
    with config.use_path("portable"):
      _, pullback = gradients.vjp(value, x)
      one = self.host(pullback(np.ones_like(masked))[0])
      finite = self.host(pullback(masked)[0])
      slopes = self.host(gradients.jvp(value, (x,), (along,))[1])
    self.assertTrue(onp.all(onp.isnan(one[[0, 1, 3, 4, 5, 7]])))
    self.assertEqual(onp.isnan(slopes).tolist(), [True, True, False, True])
    # A number of steps has no slope at integers.
    known = onp.arange(8) != 6 if discrete else onp.ones(8, bool)
    self.assertTrue(onp.all(onp.isfinite(finite[known])))

  @parameterized.parameters(False, True)
  def test_masked_times(self, discrete):
    # The density of two stages is zero at time zero, and at step one. If a
    # caller masks that value, the derivative at other times must be right.
    function = (pm.discrete_phase_type if discrete else pm.phase_type).log_prob
    if discrete:
      # a (n - 1) 2^-n + b 2^-n with masses a and b.
      times = onp.asarray([1.0, 2.0, 3.0])
      matrix = onp.asarray([[0.5, 0.5], [0.0, 0.5]])
      expected = [2.0, 1.5]
    else:
      # (a t + b) exp(-t).
      times = onp.asarray([0.0, 1.0, 2.0])
      matrix = onp.asarray([[-1.0, 1.0], [0.0, -1.0]])
      expected = [2.0, 1.5]
    start = onp.asarray([1.0, 0.0])
    has_kernel = not kernel_ops.unavailable_reason()
    for path in ("portable", "kernel") if has_kernel else ("portable",):
      with config.use_path(path):
        value, cotangents = derivatives.vjp(
          function,
          times,
          start,
          matrix,
          cotangent=onp.asarray([0.0, 1.0, 1.0]),
          wanted=("initial_probs",),
        )
      self.assertEqual(self.host(value)[0], -math.inf)
      self.assert_close(cotangents[1], expected, 1e-13)

  @parameterized.parameters(False, True)
  def test_infinite_times(self, discrete):
    functions = pm.discrete_phase_type if discrete else pm.phase_type
    start = [0.25, 0.5, 0.0]
    for stays, moves, end, survival, cdf in (
      # All paths are absorbed.
      ([0.5, 0.5, 0.5], [0.5, 0.5], 0.5, 0.0, 1.0),
      # The last phase is never left.
      ([0.5, 0.5, 1.0], [0.5, 0.5], 0.0, 0.75, 0.25),
      # Paths that begin in the first phase stay there, the others end.
      ([1.0, 0.5, 0.5], [0.0, 0.5], 0.5, math.nan, math.nan),
    ):
      matrix = onp.diag(moves, 1) + (onp.diag(stays) if discrete else 0.0)
      model = start, matrix, [0.0, 0.0, end], 0.25
      log_survival = math.log(survival) if survival else -math.inf
      for path in self.paths():
        with config.use_path(path):
          for name, expected in (
            ("prob", 0.0),
            ("survival_function", survival),
            ("log_survival_function", log_survival),
            ("cdf", cdf),
            ("log_cdf", math.log(cdf)),
          ):
            found = getattr(functions, name)(math.inf, *model)
            self.assert_close(found, expected)

  def test_float32(self):
    self.require_kernel()
    operands = _operands(models.cyclic(), _TIMES, "float32")
    expected = kernel_ops.phase_type("log_density", operands, None)
    self.assert_close(
      portable.phase_type("log_density", *operands), expected, 1e-6, 1e-6
    )

  @parameterized.parameters("log_density", "survival", "cdf")
  def test_first_derivatives(self, kind):
    self.require_kernel()
    # They include zero entries of alpha and of the exits.
    operands = _operands(models.erlang(4, 1.5), onp.asarray([1e-20, 0.5, 9.0]))
    seed = np.asarray(onp.asarray([1.0, 0.5, 2.0]))
    _, expected = kernel_derivatives.vjp(kind, operands, seed, None)
    _, pullback = gradients.vjp(
      lambda *x: portable.phase_type(kind, *x), *operands
    )
    actual = pullback(seed)
    for mine, theirs in zip(actual[:2], expected[:2], strict=True):
      self.assert_close(mine, theirs, 1e-10, 1e-11)
    self.assert_close(actual[4], expected[4], 1e-10, 1e-11)

  def test_the_chosen_path_runs(self):
    self.require_kernel()
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.path(), "portable")
    with kernel_ops.use_path("kernel"):
      self.assertEqual(kernel_ops.path(), "kernel")


class PathTest(test_case.TestCase):
  """Tests the choice of the path."""

  def test_precision(self):
    self.assertEqual(kernel_ops.precision(), "float64")
    with kernel_ops.use_path("portable"):
      self.assertEqual(config.precision(), "float64")

  def test_unknown_path(self):
    with self.assertRaisesRegex(ValueError, "'native'.*one of"):
      kernel_ops.set_path("native")

  def test_choice_is_restored(self):
    before = kernel_ops.path()
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.path(), "portable")
    self.assertEqual(kernel_ops.path(), before)

  def test_choice_without_a_block(self):
    choice = config.use_path("portable")
    self.addCleanup(config.use_path, "auto")
    self.assertEqual(config.path(), "portable")
    with config.use_path("auto"):
      pass
    self.assertEqual(config.path(), "portable")
    with choice:
      self.assertEqual(config.path(), "portable")
    config.use_path("auto")
    with choice:
      self.assertEqual(config.path(), "portable")

  def test_functions_are_pickled_and_documented(self):
    for name in config.__all__:
      function = getattr(config, name)
      self.assertIs(pickle.loads(pickle.dumps(function)), function)
      self.assertNotEmpty(function.__doc__)


class StepsTest(test_case.TestCase):
  """Tests that truncation is never silent."""

  def test_too_many_steps_give_nan_for_these_times_only(self):
    operands = _operands(models.exponential(1e9), onp.asarray([1e-9, 1e3]))
    value = self.host(portable.phase_type("log_density", *operands))
    self.assertLess(abs(value[0] - math.log(1e9) + 1), 1e-12)
    self.assertTrue(math.isnan(value[1]))

  def test_steps_grow_where_the_bound_asks_for_it(self):
    # The tail has a tiny weight, and is the only term.
    model = models.hypoexponential([1e-9] * 20 + [1.0])
    t = 1.0
    expected = 20 * math.log(1e-9)
    operands = _operands(model, onp.asarray([t]))
    value = self.host(portable.phase_type("log_density", *operands))[0]
    # The density is 1e-180 times that of 20 events and one holding time.
    self.assertLess(value, expected)
    self.assertGreater(value, expected - 60)

  def test_what_an_exit_leaves_to_later_steps_counts_it(self):
    # Two states that change places at rate one, and rarely end: the density of
    # a time is what was left to end by then, on average half of the exit rate.
    exit_rate = 2.0**-60
    operands = tuple(
      np.asarray(onp.asarray(x, "float64"))
      for x in (
        [1.0, 0.0],
        [[-1.0, 1.0], [1.0, -1.0]],
        [0.0, exit_rate],
        [],
        [63500.0, 10.0],
      )
    )
    value = self.host(portable.phase_type("log_density", *operands))
    expected = math.log(exit_rate / 2) + onp.asarray(
      [0.0, math.log1p(-math.exp(-20.0))]
    )
    onp.testing.assert_allclose(value, expected, rtol=1e-12)


class PowersTest(test_case.TestCase):
  """Tests that doubling and the scan give the same power sequence."""

  @parameterized.parameters(
    # Blocks of 16 and 32 take 16 + K / 16 and 32 + K / 32 products.
    (511, 1, "float64", 16),
    (513, 1, "float64", 32),
    (2**17, 41, "float64", 64),
    (2**17, 41, "float32", 16),
    # One squaring costs what 1000 steps do.
    (512, 4000, "float64", 1),
    (10**6, 4000, "float64", 64),
    (1, 3, "float64", 1),
  )
  def test_block_length(self, steps, states, dtype, expected):
    self.assertEqual(
      transition_power.block_length(steps, states, dtype), expected
    )

  @parameterized.parameters(1, 4, 64)
  def test_binomial_powers(self, block):
    # A chain of three, kept with probability 1/4: a_k is negative binomial.
    rates = onp.full(3, 6.0)
    off = np.asarray(onp.diag(rates[:-1], 1))
    start, end = (
      np.asarray(onp.eye(3)[i] * x) for i, x in ((0, 1.0), (2, 6.0))
    )
    with mock.patch.object(
      transition_power, "block_length", return_value=block
    ):
      sequence = power_sequence.sequence(
        start, off, np.asarray(rates), end, end, 200
      )
    k = onp.arange(200)
    # q = 8: the mass in the third state times its exit rate.
    expected = 6 * k * (k - 1) / 2 * 0.75**2 * 0.25 ** onp.maximum(k - 2.0, 0)
    logs = (
      onp.log(self.host(sequence.values)[2:200])
      + onp.log(2) * self.host(sequence.exponents)[2:200]
    )
    onp.testing.assert_allclose(
      logs, onp.log(expected[2:]), rtol=1e-15, atol=2e-14
    )
    self.assert_close(sequence.values[:2], [0.0, 0.0])

  def test_squares_of_a_slow_chain(self):
    # 1 - r/q = 1 - 1e-9, squared 60 times: kept is exp(2^60 log(1 - 1e-9)).
    share = 1e-9
    one = np.asarray(onp.ones(1))
    keep, lose = transition_power.uniformized(one * share, one[0])
    power = transition_power.Power(
      np.asarray(onp.zeros((1, 1))), keep, lose, one * share
    )
    for k in range(1, 40):
      power = transition_power.squared(power, one)
      stay = self.host(power.keep - power.lose)[0]
      expected = 2.0**k * math.log1p(-share)
      self.assertLess(abs(math.log(stay) - expected) / -expected, 1e-7)
      absorbed = self.host(power.absorbed)[0]
      self.assertLess(abs(absorbed / -math.expm1(expected) - 1), 1e-14)


class PiecesTest(test_case.TestCase):
  """Tests helper functions of the path."""

  def test_derivatives_with_times_in_blocks(self):
    # Two stages of rate one: the log density of time zero has no derivative, so
    # the last block must not be filled up with zeros.
    rates = np.asarray(onp.ones(2))
    off = np.asarray(onp.asarray([[0.0, 1.0], [0.0, 0.0]]))
    start, end = (np.asarray(onp.eye(2)[i]) for i in range(2))
    means = np.asarray(onp.asarray([0.5, 1.0, 3.0]))

    def log_density(start):
      sequence = power_sequence.sequence(start, off, rates, end, end, 64)
      return mixture.mix(sequence, means)[0]

    value, pullback = gradients.vjp(log_density, start)
    # Blocks of two times, as eight terms of 64 make a group.
    with mock.patch.object(mixture, "_CHUNK", 16):
      in_blocks, pullback_in_blocks = gradients.vjp(log_density, start)
      (found,) = pullback_in_blocks(np.ones_like(in_blocks))
    (expected,) = pullback(np.ones_like(value))
    self.assert_close(in_blocks, value, 1e-15)
    self.assert_close(found, expected, 1e-15)
    # The density is (a t + b) exp(-t) with masses a and b, here a = 1 and b = 0,
    # at the times t = means / 2, as the uniformization rate is two.
    self.assert_close(found, [3.0, 4.0 + 2.0 + 2 / 3], 1e-14)

  def test_log_poisson_weights(self):
    counts = onp.arange(0, 400)
    means = onp.asarray([1e-10, 0.3, 7.0, 120.0, 390.0])[:, None]
    expected = onp.asarray(
      [
        [k * math.log(x) - x - math.lgamma(k + 1) for k in counts]
        for x in means[:, 0]
      ]
    )
    actual = mixture.log_weights(counts, np.asarray(means))
    self.assert_close(actual, expected, 1e-12, 1e-12)

  def test_compensated_sum(self):
    for size in (1, 2, 3, 7, 50):
      x = onp.random.RandomState(size).normal(size=size) * 1e10
      x = onp.append(x, -math.fsum(x))
      actual = exact_sums.compensated_sum(np.asarray(x))
      self.assert_close(actual, math.fsum(x), 1e-10, 1e-20)


class KernelDerivativesTest(test_case.TestCase):
  """Tests derivatives in all arguments, in both modes."""

  def test_exponential(self):
    self.require_kernel()
    rate, t = 2.0, onp.asarray([0.5, 3.0])
    model = (t, [1.0], [[-rate]])
    # log f = log(alpha s) + S t with s = -S: the derivative in S is 1/S + t.
    value, bars = derivatives.vjp(
      pm.phase_type.log_prob, *model, cotangent=onp.asarray([1.0, 10.0])
    )
    self.assert_close(value, onp.log(rate) - rate * t, atol=1e-12)
    self.assert_close(bars[1], [11.0])
    self.assert_close(bars[2], [[(t[0] - 0.5) + 10 * (t[1] - 0.5)]])
    self.assert_close(bars[0], [-2.0, -20.0])
    self.assertIsNone(bars[3])
    self.assertIsNone(bars[4])
    _, tangent = derivatives.jvp(
      pm.phase_type.log_prob, *model, tangents=(None, None, [[1.0]], None, None)
    )
    self.assert_close(tangent, t - 0.5, atol=1e-14)

  @parameterized.parameters(*function_kinds.KINDS)
  def test_transposes_with_batches(self, kind):
    self.require_kernel()
    state = onp.random.RandomState(3)
    model = models.random_model(3, state)
    matrix = model.subgenerator * onp.asarray([1.0, 2.0])[:, None, None, None]
    exits = model.exit_rates * onp.asarray([1.0, 2.0])[:, None, None]
    times = state.uniform(size=(4, 1, 5))
    arguments = (times, model.initial_probs, matrix, exits, model.prob_zero)
    tangents = tuple(state.normal(size=onp.shape(x)) for x in arguments)
    cotangent = state.normal(size=(4, 2, 5))
    _, out = derivatives.jvp(
      getattr(pm.phase_type, kind), *arguments, tangents=tangents
    )
    _, bars = derivatives.vjp(
      getattr(pm.phase_type, kind), *arguments, cotangent=cotangent
    )
    forward = onp.sum(self.host(out) * cotangent)
    back = sum(
      onp.sum(self.host(b) * v) for b, v in zip(bars, tangents, strict=True)
    )
    self.assertLess(abs(forward - back), 1e-11 * onp.sum(onp.abs(cotangent)))


if __name__ == "__main__":
  absltest.main()
