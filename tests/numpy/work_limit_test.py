"""Long calls are interrupted by signals, and bounded by the limit on work."""

import signal

from absl.testing import absltest

from phasic._native import _kernel
from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from tests.generated.numpy.helpers import chains


class Interrupted(Exception):
  """What the handler of the test's signal raises."""


def _far_ring():
  """A ring of phases, and a time whose steps take half a minute."""
  return pd.PhaseType(*chains.ring(2000)), 3e6


class WorkLimitTest(absltest.TestCase):
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

  def test_calls_can_be_interrupted(self):
    dist, time = _far_ring()
    expected = dist.survival_function(300.0)

    def raise_it(*_):
      raise Interrupted

    self.handle_alarms(raise_it)
    for method, value in (
      ("log_prob", time),
      ("survival_function", time),
      ("quantile_log_survival", -200.0),
    ):
      with self.subTest(method):
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(Interrupted):
          getattr(dist, method)(value)
    # Interrupted results are not kept: a value that was NaN is right again.
    self.assertEqual(dist.survival_function(300.0), expected)

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
