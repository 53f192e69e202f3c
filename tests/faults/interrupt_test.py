"""Ctrl-C within calls of NumPy: they end at once, and all is as it was before.

Handlers that raise other exceptions, and ones that return, are tried in
tests/numpy/work_limit_test.py.
"""

import os
import signal
import threading
import time

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import inference
from phasic.substrates.numpy import math as pm
from tests.faults import models

# Of the processor, as the machine may be busy; and of the clock.
_SECONDS, _LONGEST = 1.0, 20.0


def _gradient():
  ring = models.ring(5000)
  call = models.log_prob_of_rates(ring, onp.array([1e5]))
  return pm.vjp(call, ring.subgenerator.parameters)[1](1.0)


def _statistics():
  data = inference.Observations(onp.linspace(1e5, 2e5, 200))
  return inference.em_step(models.ring(2000), data)


def _fit():
  data = inference.Observations(onp.linspace(0.1, 9.0, 20_000))
  start = pd.Coxian(onp.full(29, 0.5), onp.ones(30))
  return inference.fit_mle(start, data, num_starts=100)


def _many_models():
  ring = models.ring(64)
  factors = onp.linspace(1.0, 2.0, 50_000)[:, None]
  rates = factors * ring.subgenerator.parameters
  return models.with_rates(ring, rates).log_prob(1000.0)


# Each would take many seconds.
_CALLS = {
  "far_value": lambda: models.ring(2000).log_prob(1e6),
  "many_times": lambda: models.ring(100).cdf(onp.linspace(1e4, 1e6, 2_000_000)),
  "many_models": _many_models,
  "squares": lambda: models.ring(1200).survival_function(1e12),
  "gradient": _gradient,
  "statistics": _statistics,
  "elimination": lambda: models.dense(2000).variance(),
  "samples": lambda: models.ring(600).sample(3_000_000, seed=1),
  "fit": _fit,
}


def _state():
  """What is set for the process, and values of functions of all kinds."""
  ring, erlang = models.ring(700), pd.Erlang(3, 2.0)
  _, pullback = pm.vjp(lambda rate: pd.Erlang(3, rate).log_prob(0.5), 2.0)
  values = [
    ring.log_prob(onp.array([10.0, 300.0])),
    ring.mean(),
    erlang.quantile(onp.array([0.1, 0.9])),
    erlang.sample(5, seed=1),
    pullback(1.0)[0],
  ]
  settings = config.path(), config.num_threads(), config.work_limit()
  return settings, [onp.asarray(x).tobytes() for x in values]


class InterruptTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    self.addCleanup(config.set_work_limit, config.work_limit())
    self.addCleanup(config.set_num_threads, config.num_threads())
    config.set_work_limit(None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    self.addCleanup(signal.signal, signal.SIGINT, before)

  def assert_ends(self, call):
    """Checks the seconds from a signal of Ctrl-C to the exception."""
    sent = []

    def send():
      sent.extend([time.process_time(), time.monotonic()])
      os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
      with self.assertRaises(KeyboardInterrupt):
        call()
    finally:
      timer.cancel()
    self.assertLess(time.process_time() - sent[0], _SECONDS)
    self.assertLess(time.monotonic() - sent[1], _LONGEST)

  @parameterized.parameters(
    *((name, 1) for name in _CALLS), ("many_models", 4), ("squares", 4)
  )
  def test_calls_end_within_a_second(self, name, num_threads):
    config.set_num_threads(num_threads)
    before = _state()
    self.assert_ends(_CALLS[name])
    self.assertEqual(_state(), before)

  def test_a_fit_leaves_no_flags(self):
    self.assert_ends(_fit)
    config.set_work_limit(0.001)
    with self.assertWarnsRegex(
      RuntimeWarning, "more steps than the work limit"
    ):
      models.ring(2000).log_prob(1e6)
    with self.assertRaisesRegex(ValueError, "rate = -1.0: it must be > 0"):
      pd.Erlang(2, -1.0, validate_args=True)

  def test_other_threads_go_on(self):
    ring, found = models.ring(1000), []
    expected = ring.log_prob(2e4)
    others = [
      threading.Thread(target=lambda: found.append(ring.log_prob(2e4)))
      for _ in range(2)
    ]

    def call():
      for thread in others:
        thread.start()
      _CALLS["far_value"]()

    self.assert_ends(call)
    for thread in others:
      thread.join(60.0)
    self.assertEqual(found, [expected, expected])


if __name__ == "__main__":
  absltest.main()
