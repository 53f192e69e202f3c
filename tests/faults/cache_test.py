"""The cache of compiled programs, JAX's, for two processes and on a full disk.

phasic itself has no cache of files: `bind_native` loads libraries that were
compiled before.
"""

import os
import pathlib
import tempfile

from absl.testing import absltest

from tests.faults import processes

# Compiles programs, after all processes have started; prints value and slope, and
# whether programs came from the cache. sys.argv has the most bytes of a file.
_PROGRAM = """
import resource
import sys

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
from phasic.substrates import jax as ph

events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name))
times = jnp.array([0.5, 1.0, 2.0])

@jax.jit
@jax.value_and_grad
def log_likelihood(rate):
  return jnp.sum(ph.distributions.Erlang(2, rate).log_prob(times))

most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
print("ready", flush=True)
sys.stdin.readline()
value, slope = log_likelihood(2.0)
hits = sum(name.endswith("/cache_hits") for name in events)
print(f"{value:.12f} {slope:.12f}", hits > 0)
"""
# log f(t) = 2 log r + log t - r t at r = 2, summed over times of the product one.
_RIGHT = "-2.841116916640 -0.500000000000"
_LARGE = "1000000000"


class CacheTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    folder = self.enterContext(tempfile.TemporaryDirectory())
    self.folder = pathlib.Path(folder)

  def outputs(self, count, most=_LARGE):
    """Returns what `count` processes print, and their errors."""
    variables = {
      "JAX_COMPILATION_CACHE_DIR": os.fspath(self.folder),
      "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    commands = [processes.command(_PROGRAM, most)] * count
    with processes.started(commands, **variables) as started:
      for process in started:
        self.assertEqual(process.stdout.readline(), "ready\n")
      for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
      found = [x.communicate(timeout=processes.LONGEST) for x in started]
      self.assertEqual([x.returncode for x in started], [0] * count, found)
    return found

  def test_two_processes_on_an_empty_cache(self):
    for output, _ in self.outputs(2):
      self.assertStartsWith(output, _RIGHT)
    # What they wrote is whole.
    ((output, error),) = self.outputs(1)
    self.assertEqual(output, f"{_RIGHT} True\n")
    self.assertNotIn("persistent compilation cache", error)

  def test_full_disk(self):
    ((output, error),) = self.outputs(1, most="3000")
    self.assertStartsWith(output, _RIGHT)
    self.assertIn("Error writing persistent compilation cache entry", error)
    # A part of a program was written; nobody takes it for a whole one.
    self.assertIn(3000, [x.stat().st_size for x in self.folder.iterdir()])
    ((output, error),) = self.outputs(1)
    self.assertStartsWith(output, _RIGHT)
    self.assertIn("Error reading persistent compilation cache entry", error)


if __name__ == "__main__":
  absltest.main()
