"""One of two processes of jax.distributed dies or stops: the other one ends.

JAX's messages are quoted in docs/many-devices.md.
"""

import os
import pathlib
import re
import signal
import time

from absl.testing import absltest
from absl.testing import parameterized

from tests.faults import processes

# In `make test-slow` the coordinator dies, too, and a process stops.
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_PAGE = pathlib.Path("docs/many-devices.md")

# Prints the log likelihood of both parts of the data; after a line of input it
# computes it until something happens.
_PROGRAM = """
import sys

import jax

port, process_id, seconds = sys.argv[1:]
jax.config.update("jax_enable_x64", True)
jax.distributed.initialize(
  f"127.0.0.1:{port}", 2, int(process_id), heartbeat_timeout_seconds=int(seconds)
)

import jax.numpy as jnp
import numpy as np
from phasic.substrates import jax as ph

mesh = jax.make_mesh((2,), ("data",), (jax.sharding.AxisType.Auto,))
own = np.array([[0.5, 1.0], [2.0, 1.0]][int(process_id)])
sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
times = jax.make_array_from_process_local_data(sharding, own)

def part(rate, times):
  return ph.distributions.Erlang(2, rate).log_prob(times).sum()[None]

parts = ph.shard_batches(part, mesh, in_axes=(None, 0))
log_likelihood = jax.jit(lambda rate, times: jnp.sum(parts(rate, times)))
rate = np.float64(2.0)
print(f"value {log_likelihood(rate, times):.12f}", flush=True)
sys.stdin.readline()
while True:
  float(log_likelihood(rate, times))
"""
# log f(t) = 2 log r + log t - r t at r = 2, summed over times of the product one.
_VALUE = "value -3.454822555520\n"
# Far below JAX's 100 s, and enough on a busy machine.
_HEARTBEAT = 10


def _quoted():
  """Returns the two messages that the page quotes: of a sum, and of the end."""
  text = " ".join(_PAGE.read_text().split())
  found = re.search(
    'raises ValueError `([^`]*)`.*JAX ends the others with "([^"]*)"', text
  )
  assert found is not None
  return found.groups()


class DistributedTest(parameterized.TestCase):
  def assert_ends(self, fault, faulty):
    """Returns what a process says after a fault of the other one."""
    port = str(processes.free_port())
    commands = [
      processes.command(_PROGRAM, port, str(i), str(_HEARTBEAT))
      for i in range(2)
    ]
    with processes.started(commands, XLA_FLAGS="") as started:
      for process in started:
        lines = iter(process.stdout.readline, "")
        self.assertEqual(next(x for x in lines if x.startswith("v")), _VALUE)
      started[faulty].send_signal(fault)
      began = time.monotonic()
      other = started[1 - faulty]
      _, error = other.communicate("\n", timeout=processes.LONGEST)
      self.assertLess(time.monotonic() - began, 6 * _HEARTBEAT)
    self.assertNotEqual(other.returncode, 0)
    return error

  def test_worker_dies(self):
    failed, ended = _quoted()
    error = self.assert_ends(signal.SIGKILL, 1)
    self.assertRegex(error, f"ValueError: .*{failed}")
    self.assertIn(ended, error)

  @absltest.skipUnless(_FULL, "in `make test-slow`")
  def test_coordinator_dies(self):
    _, ended = _quoted()
    self.assertIn(ended, self.assert_ends(signal.SIGKILL, 0))

  @absltest.skipUnless(_FULL, "in `make test-slow`")
  def test_worker_stops(self):
    _, ended = _quoted()
    error = self.assert_ends(signal.SIGSTOP, 1)
    self.assertIn(ended, error)
    self.assertIn("stopped sending heartbeats", error)


if __name__ == "__main__":
  absltest.main()
