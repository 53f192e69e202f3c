"""One thread, 256 and 1,000: what is refused, what starts, and the same bits.

JAX and TensorFlow have such tests, tests/jax/seam/threads_test.py and
tests/tf/seam/threads_test.py; bad values of other kinds are in
tests/numpy/threads_test.py.
"""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import inference
from phasic.substrates.numpy import math as pm
from tests.faults import models
from tests.faults import processes

_RULE = "it must be from 1 to 256"

# Prints bits of a call on 256 threads in a process that has no memory for their
# stacks, and those of one thread.
_WITHOUT_STACKS = """
import resource

import numpy as np
from phasic.substrates.numpy import config
from tests.faults import models

ring = models.ring(64)
rates = np.linspace(1.0, 2.0, 3000)[:, None] * ring.subgenerator.parameters
many = models.with_rates(ring, rates)
config.set_num_threads(1)
expected = many.log_prob(30.0).tobytes()
config.set_num_threads(256)
with open("/proc/self/statm") as file:
  used = int(file.read().split()[0]) * resource.getpagesize()
limits = (used + 2**26, resource.RLIM_INFINITY)
resource.setrlimit(resource.RLIMIT_AS, limits)
print(many.log_prob(30.0).tobytes() == expected)
with open("/proc/self/status") as file:
  count = next(line for line in file if line.startswith("Threads"))
print(int(count.split()[1]) < 64)
"""


def _many(count=3000):
  """A model of 64 phases, and many sets of rates for it."""
  ring = models.ring(64)
  factors = onp.linspace(1.0, 2.0, count)[:, None]
  return ring, factors * ring.subgenerator.parameters


def _values():
  ring, rates = _many()
  return models.with_rates(ring, rates).log_prob(30.0)


def _gradients():
  ring, rates = _many(1000)
  return pm.vjp(models.log_prob_of_rates(ring, 30.0), rates)[1](1.0)


def _shared_gradient():
  ring, _ = _many()
  factors = onp.linspace(1.0, 2.0, 1000)[:, None]

  def call(rates):  # The gradient is a sum over all models.
    return models.log_prob_of_rates(ring, 30.0)(factors * rates)

  return pm.vjp(call, ring.subgenerator.parameters)[1](1.0)


def _small_gradients():
  rates = onp.linspace(0.5, 2.0, 40_000)
  return pm.vjp(lambda x: onp.sum(pd.Erlang(3, x).log_prob(1.5)), rates)[1](1.0)


_CALLS = {
  "values": _values,
  "gradients": _gradients,
  "shared_gradient": _shared_gradient,
  "small_gradients": _small_gradients,
  "many_times": lambda: models.ring(100).cdf(onp.linspace(0.1, 9.0, 200_000)),
  "moments": lambda: models.with_rates(*_many()).variance(),
  "quantiles": lambda: models.with_rates(*_many(200)).median(),
  "samples": lambda: pd.Erlang(3, [1.0, 2.0]).sample(100_000, seed=1),
  "squares": lambda: models.ring(300).log_survival_function(1e9),
  "statistics": lambda: (
    inference.em_step(
      models.ring(100), inference.Observations(onp.linspace(5.0, 90.0, 2000))
    ).distribution.initial_probs
  ),
}


class ThreadCountsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertEqual(config.path(), "kernel")
    self.addCleanup(config.set_num_threads, config.num_threads())

  def test_a_thousand_is_refused(self):
    before = config.num_threads()
    with self.assertRaisesRegex(ValueError, f"count is 1000: {_RULE}"):
      config.set_num_threads(1000)
    self.assertEqual(config.num_threads(), before)

  def test_a_thousand_in_the_environment(self):
    code = """
      from phasic.substrates.numpy import config
      print(config.num_threads())
    """
    variables = {"PHASIC_NUM_THREADS": "1000"}
    done = processes.run(code, variables=variables)
    self.assertRegex(
      done.stderr,
      r"^phasic: PHASIC_NUM_THREADS is '1000': it must be an integer from 1 to "
      r"256; \d is used$",
    )
    self.assertBetween(int(done.stdout), 1, 8)

  @parameterized.parameters(*_CALLS)
  def test_same_bits(self, name):
    found = []
    for count in (1, 2, 256):
      config.set_num_threads(count)
      found.append(onp.asarray(_CALLS[name]()).tobytes())
    self.assertEqual(found[1], found[0])
    self.assertEqual(found[2], found[0])

  def test_threads_that_cannot_start(self):
    done = processes.run(_WITHOUT_STACKS)
    self.assertEqual((done.returncode, done.stderr), (0, ""))
    self.assertEqual(done.stdout, "True\nTrue\n")


if __name__ == "__main__":
  absltest.main()
