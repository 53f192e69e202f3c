"""Long calls are interrupted by signals, and bounded by the limit on work."""

import signal
import time

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic._native import _kernel
from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from tests.generated.numpy.helpers import chains


class Interrupted(Exception):
  """What the handler of the test's signal raises."""


def _far_ring():
  """A ring of phases, and a time whose steps take half a minute."""
  return pd.PhaseType(*chains.ring(2000)), 3e6


class WorkLimitTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    self.addCleanup(config.set_work_limit, config.work_limit())
    config.set_work_limit(None)

  def handle_alarms(self, handler):
    """Sets the handler of alarms; none comes after the test."""
    before = signal.signal(signal.SIGALRM, handler)
    self.addCleanup(signal.signal, signal.SIGALRM, before)
    self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0.0)

  def assert_ends_early(self, call):
    """Asserts that a call of a minute raises what a signal's handler raises."""

    def raise_it(*_):
      raise Interrupted

    self.handle_alarms(raise_it)
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with self.assertRaises(Interrupted):
      call()
    self.assertLess(time.monotonic() - began, 15.0)

  @parameterized.parameters(
    ("log_prob", 3e6),
    ("survival_function", 3e6),
    ("quantile_log_survival", -200.0),
  )
  def test_calls_can_be_interrupted(self, method, value):
    dist, _ = _far_ring()
    expected = dist.survival_function(300.0)
    self.assert_ends_early(lambda: getattr(dist, method)(value))
    # Interrupted results are not kept: a value that was NaN is right again.
    self.assertEqual(dist.survival_function(300.0), expected)

  def test_many_times(self):
    squared = pd.PhaseType(*chains.ring(100))
    times = onp.linspace(1e6, 1e7, 1_000_000)
    expected = squared.log_survival_function(times[:10])
    cut = pd.TruncatedPhaseType(squared, 1.0)
    for call in (
      lambda: squared.log_survival_function(times),
      lambda: squared.prob(times),
      lambda: squared.quantile(onp.linspace(0.01, 0.99, 3_000_000)),
      lambda: cut.log_prob(times),
    ):
      self.assert_ends_early(call)
    onp.testing.assert_array_equal(
      squared.log_survival_function(times[:10]), expected
    )

  def test_many_models(self):
    alpha, edges = chains.ring(64)
    many = onp.linspace(1.0, 2.0, 100_000)[:, None] * edges.parameters
    dist = pd.PhaseType(alpha, edges._replace(parameters=many))
    self.assert_ends_early(lambda: dist.log_prob(1000.0))

  def test_squares_and_eliminations(self):
    rng = onp.random.default_rng(1)
    rates = rng.uniform(size=(3000, 3000))
    onp.fill_diagonal(rates, 0.0)
    full = pd.PhaseType(onp.full(3000, 1 / 3000), rates, onp.ones(3000))
    self.assert_ends_early(full.mean)
    alone = pd.PhaseType(*chains.ring(1200))
    self.assert_ends_early(lambda: alone.survival_function(1e10))

  def test_handlers_that_return(self):
    dist, _ = _far_ring()
    calls = []
    self.handle_alarms(lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    found = dist.survival_function(3e3)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    self.assertEqual(found, dist.survival_function(3e3))

  def test_kernel_refuses_what_is_no_limit(self):
    for limit in (0.0, -1.0, float("nan")):
      with self.assertRaisesRegex(ValueError, "multiply_adds is"):
        _kernel.set_max_work(limit)


if __name__ == "__main__":
  absltest.main()
