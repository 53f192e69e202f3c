"""Numbers of extreme size: right results, or NaN with a reason."""

import time

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from tests.accuracy import cases
from tests.accuracy import derivative_checks
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import extreme_chains
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle
from tests.oracle import positive_chain

_KINDS = ("log_density", "log_survival", "log_cdf")
_SHARDS = 10
_SIZE = 20
_COUNT = (20_000 if sweeps.FULL else 400) // _SHARDS


def _tolerance(truth: float, jumps: float) -> float:
  """Returns what is promised for a log, with the rounding of steps.

  Models whose states leave the range of doubles are computed step by step, at
  most some millions of steps; see "How exact, and how far" of the guide.
  """
  return max(cases.log_tolerance(truth), 3e-17 * min(jumps, 5e6))


def _times(state, rates):
  """Draws times of any size, most of them such that q t is moderate."""
  size = len(rates)
  logs = onp.log10(onp.maximum(rates.sum(-1).max(-1), 5e-324))
  exponents = onp.where(
    state.rand(size) < 0.3,
    state.uniform(-308, 308, size),
    state.choice([-20, 2], size) + state.uniform(0, 14, size) - logs,
  )
  few = state.rand(size) < 0.02
  exponents = onp.where(few, state.uniform(-323, -308, size), exponents)
  return 10.0 ** onp.clip(exponents, -323.0, 308.2)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ExtremeValuesTest(derivative_checks.TestCase):
  def _check_right_or_explained(self, operands, kinds=oracle.KINDS):
    arrays = kernel_calls.inputs(operands)
    for kind in kinds:
      start = time.monotonic()
      value = kernel_calls.directional(kind, operands)[0]
      self.assertLess(time.monotonic() - start, 30.0)
      message = kernel_calls.status(kind, arrays)[0]
      if onp.isnan(value):
        self.assertNotEqual(message, "ok")
        continue
      self.assertEqual(message, "ok")
      truth, _ = oracle.directional(kind, operands)
      bound = cases.value_tolerance(kind, float(truth.mid()))
      self.assertLessEqual(oracle.error(value, truth), bound, (value, truth))

  @parameterized.parameters(1e-13, 1e-9, 1e-6, 1e-3, 1.0, 100.0)
  def test_rates_of_a_million_millions(self, t):
    rates = onp.array([1e12, 3.0, 1e12])
    operands = models.hypoexponential(rates)._replace(time=t)
    kinds = ("log_density", "cdf")
    self._check_right_or_explained(operands, kinds)

  @parameterized.parameters(1e6, 1e300)
  def test_too_much_work_is_refused_at_once(self, t):
    rates = onp.array([1e12, 3.0, 1e12])
    operands = models.hypoexponential(rates)._replace(time=t)
    arrays = kernel_calls.inputs(operands)
    start = time.monotonic()
    truths = {
      "log_density": onp.log(3.0) - 3.0 * t,
      "log_survival": -3.0 * t,
      "log_cdf": 0.0,
    }
    for kind, truth in truths.items():
      value = kernel_calls.directional(kind, operands)[0]
      if onp.isnan(value):
        self.assertNotEqual(kernel_calls.status(kind, arrays), ["ok"])
      else:
        self.assertAlmostEqual(value, truth, delta=1e-15 * abs(truth))
      kernel_calls.gradient(kind, operands)
    self.assertLess(time.monotonic() - start, 60.0)

  @parameterized.parameters(1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300)
  def test_time_in_other_units(self, unit):
    # Rates and times of any size; only their product counts.
    model = models.hypoexponential(onp.array([1.0, 2.0, 0.5]) * unit)
    self._check_right_or_explained(model._replace(time=1.5 / unit))

  @parameterized.product(
    unit=(2.0**-990, 2.0**-930, 2.0**-660, 2.0**660, 2.0**920),
    jumps=(1e-3, 1.5, 40.0),
  )
  def test_derivatives_in_other_units(self, unit, jumps):
    # Products of rates with each other or with states leave the range of doubles.
    model = models.hypoexponential(onp.array([1.0, 2.0, 0.5]) * unit)
    model = model._replace(time=jumps / unit)
    move = models.direction(model, onp.random.default_rng(3), 0.0)
    for kind in _KINDS:
      self.check_gradient(kind, model, (), 1e-12)
      self.check_gradient(kind, model, (move,), 1e-9)
      for order in (1, 2):
        moves = order * (move,)
        actual = kernel_calls.directional(kind, model, moves)
        truth, scale = oracle.directional(kind, model, moves)
        missed = derivative_checks.shortfall(actual, [truth], [scale], 1e-9)
        self.assertEmpty(missed, (kind, order))

  @parameterized.parameters(5e-324, 1e-310, 2.3e-308)
  def test_the_smallest_numbers(self, tiny):
    cases_ = (
      cases.small_model(initial_probs=onp.array([0.5, 0.25, tiny])),
      cases.small_model(exit_rates=onp.array([tiny, 0.0, tiny])),
      cases.small_model(prob_zero=tiny),
      cases.small_model()._replace(time=tiny),
    )
    for operands in cases_:
      arrays = kernel_calls.inputs(operands)
      for kind in oracle.KINDS:
        value = kernel_calls.directional(kind, operands)[0]
        explained = kernel_calls.status(kind, arrays) != ["ok"]
        self.assertEqual(bool(onp.isnan(value)), explained)
        if explained:
          continue
        truth, _ = oracle.directional(kind, operands)
        bound = cases.value_tolerance(kind, float(truth.mid()))
        self.assertLessEqual(oracle.error(value, truth), bound, kind)

  @parameterized.parameters(1e307, 1.7e308)
  def test_the_largest_numbers(self, huge):
    exits = onp.array([huge, huge, huge])
    for operands in (
      cases.small_model(exit_rates=exits),
      cases.small_model(exit_rates=exits)._replace(time=1 / huge),
      cases.small_model(subgenerator=onp.full((3, 3), huge)),
      cases.small_model()._replace(time=huge),
    ):
      for kind in oracle.KINDS:
        value = kernel_calls.directional(kind, operands)[0]
        self.assertFalse(value > 0 and onp.isinf(value))
        kernel_calls.gradient(kind, operands)

  def test_many_times_and_phases_within_bounds(self):
    p, n = 150, 2000
    operands = models.erlang(p, 0.5)._replace(time=onp.linspace(0.1, 900, n))
    values = kernel_calls.directional("log_density", operands)
    self.assertTrue(onp.all(onp.isfinite(values)))

  def test_cdf_that_grows_by_less_than_its_last_digit_a_step(self):
    # One fast phase among slow ones, too many of them for squared powers.
    p, slow = 520, 4.7e-16
    exits = onp.full(p, slow)
    exits[0] = 1.0
    alpha = onp.full(p, 0.5 / (p - 1))
    alpha[0] = 0.5
    x = onp.array([1e5, 1e6])
    operands = oracle.Operands(
      alpha, onp.zeros((p, p)), exits, onp.float64(0.0), x
    )
    expected = onp.log(-0.5 * onp.expm1(-x) - 0.5 * onp.expm1(-slow * x))
    onp.testing.assert_allclose(
      kernel_calls.directional("log_cdf", operands), expected, 0.0, 1e-12
    )

  @parameterized.parameters(1e4, 1e5, 1e6)
  def test_cdf_of_exits_near_the_smallest_normal_number(self, x):
    unit = 2.0**-924
    rates = onp.array([[0.0, 4.7e-16], [0.85, 0.0]]) * unit
    exits = onp.array([0.0, 1.88e-307])
    operands = oracle.Operands(
      onp.array([0.625, 0.375]), rates, exits, onp.float64(0.0), x / unit
    )
    self._check_right_or_explained(operands, ("log_cdf",))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class ExtremeModelsTest(parameterized.TestCase):
  """Logs of small models whose rates and times span all doubles."""

  def _missed(self, kind, model, value, reason):
    """Returns what is wrong with a value, or None; `model` is all operands."""
    if onp.isnan(value) or reason != "ok":
      explained = bool(onp.isnan(value)) and reason != "ok"
      return None if explained else f"{value}, but {reason}"
    initial, rates, exits, atom, t = model
    truth = positive_chain.logs(initial, rates, exits, atom, t)[kind]
    if value == -onp.inf or truth == flint.arb("-inf"):
      right = value == -onp.inf and truth == flint.arb("-inf")
      return None if right else f"{value}, not {truth}"
    jumps = float((rates.sum(-1) + exits).max()) * float(t)
    bound = _tolerance(float(truth.mid()), jumps)
    missed = oracle.error(value, truth)
    return None if missed <= bound else f"{value}, off by {missed}"

  def _check(self, chains, times):
    initial, rates, exits, atom = chains.arguments()
    arrays = [initial, rates, exits, atom[:, None], times[:, None]]
    wrong = []
    for kind in _KINDS:
      code = kernel_calls.kind_code(kind)
      values = kernel_calls.module().forward(code, 0, arrays)[:, 0]
      reasons = kernel_calls.status(kind, arrays)
      for i, (value, reason) in enumerate(zip(values, reasons, strict=True)):
        model = [x[i] for x in (initial, rates, exits, atom, times)]
        missed = self._missed(kind, model, value, reason)
        if missed is not None:
          wrong.append((kind, missed, model))
    self.assertEmpty(wrong)

  def test_exits_near_the_smallest_normal_number(self):
    # Products of states with such exits underflow. A million steps on extended
    # doubles took a second, and their rounding was above 1e-12.
    slow = onp.array([[0.0, 6.3e-294], [6.03e-293, 0.0]])
    chain = onp.zeros((4, 4))
    chain[0, 3], chain[1, 0], chain[1, 3] = 6.9e-296, 2.4e-299, 4.56e-297
    chain[2, 0], chain[2, 3] = 8.57e-299, 1.18e-296
    chain[3, 0], chain[3, 1] = 1.3e-297, 6.63e-297
    for initial, rates, exits, atom, t in (
      ([0.5, 2.7e-66], slow, [4.2e-296, 8.44e-296], 0.5, 2.7e298),
      ([6.8e-24, 0.672, 0.0, 0.328], chain, [2.7e-298, 0, 0, 0], 0.0, 1.1e301),
    ):
      operands = oracle.Operands(
        onp.array(initial), rates, onp.array(exits), onp.float64(atom), t
      )
      truths = positive_chain.logs(*operands)
      for kind in _KINDS:
        value = kernel_calls.directional(kind, operands)[0]
        bound = cases.log_tolerance(float(truths[kind].mid()))
        self.assertLessEqual(oracle.error(value, truths[kind]), bound, kind)

  @parameterized.parameters(*cases.MODELS)
  def test_oracles_agree(self, name):
    for t in (1e-20, 0.5, 60.0):
      operands = cases.operands(name, "exits_and_atom_given", t)
      truths = positive_chain.logs(*operands)
      for kind in _KINDS:
        truth, _ = oracle.directional(kind, operands)
        self.assertTrue(truths[kind].overlaps(truth), (kind, t))
        self.assertLess(float(truths[kind].rad()), 1e-60)

  @parameterized.parameters(*range(_SHARDS))
  def test_sweep(self, seed):
    state = onp.random.RandomState([7, seed])
    for _ in range(_COUNT // _SIZE):
      chains = extreme_chains.draw(state, _SIZE, discrete=False)
      self._check(chains, _times(state, chains.weights))


if __name__ == "__main__":
  absltest.main()
