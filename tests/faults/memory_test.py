"""Calls of NumPy in a process whose memory ends: they raise, or are NaN and warn.

Solves in all three libraries are tried in tests/shared/moments/elimination_test.py.
"""

import functools
import json
import os

from absl.testing import absltest
from absl.testing import parameterized

from tests.faults import processes

# In `make test-slow` there are more limits.
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_MEGABYTES = (1, 4, 8, 16, 32, 64, 128) if _FULL else (2, 16)

# Memory that a call has freed is not there for the next one.
_GIVE_BACK = {
  "MALLOC_MMAP_THRESHOLD_": "65536",
  "MALLOC_TRIM_THRESHOLD_": "65536",
}

# Prints a line of JSON for each call and limit of sys.argv: what it did in so many
# megabytes more than the process has, and whether that was right.
_LIMITED = """
import json
import resource
import sys
import warnings

import numpy as np
from phasic.substrates.numpy import config
from phasic.substrates.numpy import distributions as pd
from phasic.substrates.numpy import graphs
from phasic.substrates.numpy import inference
from phasic.substrates.numpy import math as pm
from tests.faults import models

names, megabytes, num_threads = map(json.loads, sys.argv[1:])
config.set_num_threads(num_threads)
erlang, ring, small_ring = pd.Erlang(3, 2.0), models.ring(300), models.ring(64)
times, probs = np.linspace(0.1, 9.0, 1_500_000), np.linspace(0.1, 0.9, 1_500_000)
dense, grid, long_ring = models.dense(1200), models.grid(150), models.ring(5000)
far = np.array([2000.0])
many = np.linspace(1.0, 2.0, 10_000)[:, None] * small_ring.subgenerator.parameters
data = inference.Observations(np.linspace(1e3, 3e3, 200))

def gradient(call, at):
  return pm.vjp(call, at)[1](1.0)[0]

def hessian_product(call, at):
  return pm.hessian_vector_product(call, (at,), (np.ones_like(at),))

def neighbors(state):
  x, y = state
  nearby = [((x + 1) % 200, y), (x, (y + 1) % 200)]
  return [(s, 1.0) for s in (nearby if x + y < 398 else [graphs.ABSORBED])]

text = graphs.Graph.from_transitions(neighbors, (0, 0)).to_json()
calls = {
  "dense_mean": dense.mean,
  "dense_sojourns": dense.expected_sojourn_times,
  "dense_value": lambda: dense.log_prob(0.1),
  "dense_gradient": lambda: gradient(
    lambda rates: pd.PhaseType(dense.initial_probs, rates, dense.exit_rates).mean(),
    dense.subgenerator,
  ),
  "fill_in": grid.variance,
  "squares": lambda: ring.log_survival_function(1e9),
  "times": lambda: erlang.log_prob(times),
  "times_of_ring": lambda: small_ring.log_prob(times),
  "samples": lambda: erlang.sample(1_500_000, seed=1),
  "paths": lambda: small_ring.sample_paths(100, 40_000, seed=1).times,
  "quantiles": lambda: erlang.quantile(probs),
  "models": lambda: models.with_rates(small_ring, many).log_prob(9.0),
  "models_quantiles": lambda: models.with_rates(small_ring, many[:5000]).median(),
  "checkpoints": lambda: gradient(
    models.log_prob_of_rates(long_ring, far), long_ring.subgenerator.parameters
  ),
  "gradient_of_times": lambda: gradient(
    models.log_prob_of_rates(small_ring, times[:500_000]),
    small_ring.subgenerator.parameters,
  ),
  "second_derivatives": lambda: hessian_product(
    models.log_prob_of_rates(ring, far), ring.subgenerator.parameters
  ),
  "statistics": lambda: inference.em_step(long_ring, data).distribution.initial_probs,
  "likelihood": lambda: inference.Observations(times).log_likelihood(erlang),
  "occupancy": lambda: ring.occupancy(np.linspace(0.0, 1.0, 9_999)),
  "graph": lambda: graphs.Graph.from_transitions(neighbors, (0, 0)).constants,
  "json": lambda: graphs.Graph.from_json(text).constants,
}

def limit(megabytes):
  with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
  top = used + int(megabytes * 2**20) if megabytes else resource.RLIM_INFINITY
  resource.setrlimit(resource.RLIMIT_AS, (top, resource.RLIM_INFINITY))

def small():
  graph = graphs.models.kingman(3)
  return [
    float(erlang.log_prob(1.5)),
    float(erlang.quantile(0.3)),
    float(pd.PhaseType([1.0, 0.0], [[-2.0, 1.0], [0.0, -1.0]]).variance()),
    float(pd.GraphPhaseType(graph, [1.0]).mean()),
    float(gradient(lambda rate: pd.Erlang(3, rate).log_prob(0.5), 2.0)),
  ]

expected = small()
for name in names:
  for megabyte in megabytes:
    print("trying", name, megabyte, flush=True)
    found, error = None, ""
    with warnings.catch_warnings(record=True) as issued:
      warnings.simplefilter("always")
      limit(megabyte)
      try:
        found = calls[name]()
      except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
      try:
        is_sound = small() == expected
      except MemoryError:
        is_sound = True
      limit(None)
    is_sound = is_sound and small() == expected
    bad = found is not None and np.isnan(found)
    if found is not None and not np.all(bad):
      other = calls[name]()
      is_sound = is_sound and np.allclose(found[~bad], other[~bad], rtol=1e-10)
    row = [name, megabyte, error, bool(np.any(bad)), is_sound]
    print(json.dumps([*row, [str(x.message) for x in issued]]), flush=True)
"""

_CALLS = (
  *("dense_mean", "dense_sojourns", "dense_value", "dense_gradient", "fill_in"),
  *("squares", "times", "times_of_ring", "samples", "paths", "quantiles"),
  *("models", "models_quantiles", "gradient_of_times", "second_derivatives"),
  *("likelihood", "graph", "json", "checkpoints", "statistics", "occupancy"),
)


@functools.cache
def _rows(num_threads):
  """Runs all calls with all limits; begins again after a call that crashes.

  Returns:
    {name: rows}; a row is [megabytes, error, has NaN, is sound, warnings].
  """
  rows = {name: [] for name in _CALLS}
  left = list(rows)
  while left:
    arguments = map(json.dumps, (left, _MEGABYTES, num_threads))
    done = processes.run(
      _LIMITED, *arguments, timeout=600.0, variables=_GIVE_BACK
    )
    *others, last = done.stdout.splitlines() or [done.stderr]
    for line in (*others, last):
      if line.startswith("["):
        name, *row = json.loads(line)
        rows[name].append(row)
    if done.returncode == 0:
      break
    if not last.startswith("trying"):
      raise AssertionError(done.stderr)
    name = last.split()[1]
    rows[name].append(
      [None, f"the process ended with {done.returncode}", False, False, []]
    )
    left = left[left.index(name) + 1 :]
  return rows


class MemoryTest(parameterized.TestCase):
  def check(self, name, num_threads):
    rows = _rows(num_threads)[name]
    for megabytes, error, has_nan, is_sound, warnings in rows:
      with self.subTest(megabytes=megabytes, error=error, warnings=warnings):
        if error:
          self.assertStartsWith(error, "MemoryError")
        if has_nan:
          self.assertIn("memory", "".join(warnings))
        self.assertTrue(is_sound)
    # The fault was there.
    self.assertTrue(
      any(error or has_nan for _, error, has_nan, *_ in rows), rows
    )

  @parameterized.product(name=_CALLS, num_threads=(1, 4) if _FULL else (1,))
  def test_calls(self, name, num_threads):
    self.check(name, num_threads)


if __name__ == "__main__":
  absltest.main()
