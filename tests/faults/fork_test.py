"""Processes that fork while other Python threads are in native calls.

The idle threads of the kernel are forked in tests/numpy/threads_test.py.
"""

from absl.testing import absltest

from tests.faults import processes

# Forks children while a thread repeats a call. A child that hangs is ended by its
# alarm. The code before it defines `call` and `check`.
_FORKS = """
import os
import signal
import sys
import threading
import time

has_begun, must_end = threading.Event(), threading.Event()

def work():
  while not must_end.is_set():
    has_begun.set()
    assert call() == expected_of_call

expected_of_call = call()
expected = check()
worker = threading.Thread(target=work, daemon=True)
worker.start()
has_begun.wait()
for fork in range(int(sys.argv[1])):
  time.sleep(0.01)
  child = os.fork()
  if child == 0:
    signal.alarm(int(sys.argv[2]))
    os._exit(0 if check() == expected else 1)
  _, status = os.waitpid(child, 0)
  code = os.waitstatus_to_exitcode(status)
  if code:
    print(f"child {fork} ended with {code}", flush=True)
    os._exit(1)
must_end.set()
worker.join(60)
print("hangs" if worker.is_alive() else "ends", check() == expected)
sys.stdout.flush()
os._exit(0)
"""

_LONG_CALL = """
import numpy as np
from phasic.substrates.numpy import config
from tests.faults import models

config.set_num_threads(4)
ring = models.ring(64)
rates = np.linspace(1.0, 2.0, 500)[:, None] * ring.subgenerator.parameters
many = models.with_rates(ring, rates)

def call():  # All threads of the kernel work on it.
  return many.log_prob(400.0).tobytes()

def check():
  some = models.with_rates(ring, rates[:40])
  return some.log_prob(40.0).tobytes(), some.mean().tobytes()
"""

# Only one thread at a time may have a model of more than 128 MiB.
_LARGE_CALL = """
from phasic.substrates.numpy import config
from tests.faults import models

config.set_num_threads(2)
large = models.ring(1_000_000)

def call():
  return large.log_prob(100.0)

def check():
  return large.log_prob(1.0)
"""

# NumPy's OpenBLAS ends its threads before a fork, also those that compute.
_LONG_RESULTS = """
import numpy as np
from phasic.substrates.numpy import distributions

erlang = distributions.Erlang(3, 2.0)
times = np.linspace(0.1, 5.0, 50_000)

def call():
  return erlang.log_prob(times).tobytes()

def check():
  return erlang.log_prob(times[:20_000]).tobytes()
"""

# Eliminations that look up one of sixteen sets of edges, and little else.
_LOOKUPS = """
import numpy as np
from phasic.substrates.numpy.internal import elimination_ops

orders = [np.random.default_rng(seed).permutation(6) for seed in range(16)]
edges = np.array([(x, [*x[1:], 6]) for x in orders], "int32")
edges = np.tile(edges, (10_000, 1, 1))

def solution(count):
  weights, given = np.ones((1, 6)), np.ones((1, 6, 1))
  found = elimination_ops.eliminate(None, edges[:count], weights, given)
  return found.tobytes()

def call():
  return solution(len(edges))

def check():
  return solution(16)
"""


class ForkTest(absltest.TestCase):
  def assert_survives(self, code, num_forks, longest=30):
    done = processes.run(code + _FORKS, str(num_forks), str(longest))
    self.assertEqual(
      (done.returncode, done.stdout), (0, "ends True\n"), done.stderr
    )

  def test_during_a_call_with_helpers(self):
    self.assert_survives(_LONG_CALL, 10)

  def test_during_a_call_that_has_its_turn(self):
    self.assert_survives(_LARGE_CALL, 3)

  def test_during_calls_with_long_results(self):
    self.assert_survives(_LONG_RESULTS, 40)

  def test_during_a_lookup(self):
    self.assert_survives(_LOOKUPS, 10, longest=5)


if __name__ == "__main__":
  absltest.main()
