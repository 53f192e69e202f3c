"""What importing NumPy's substrate and calling it costs, without a clock."""

import json
import os
import subprocess
import sys
import tracemalloc

from absl.testing import absltest
import numpy as np

from phasic.substrates import numpy as ph
from phasic.substrates.numpy.distributions import PhaseType

_LOADED = """
import json, sys
import numpy
before = set(sys.modules)
import phasic.substrates.numpy
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def _calls(function) -> dict[str, int]:
  """How often Python functions of phasic are called, by name."""
  counts: dict[str, int] = {}
  # Not just a folder of that name: the environment may be below one.
  package = os.path.dirname(ph.__file__) + os.sep

  def count(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package):
      counts[code.co_name] = counts.get(code.co_name, 0) + 1

  sys.setprofile(count)
  try:
    function()
  finally:
    sys.setprofile(None)
  return counts


class ImportTest(absltest.TestCase):
  def test_only_numpy_and_the_standard_library(self):
    path = os.pathsep.join(x for x in sys.path if x)
    result = subprocess.run(
      [sys.executable, "-c", _LOADED],
      env={**os.environ, "PYTHONPATH": path},
      capture_output=True,
      text=True,
      check=True,
    )
    names = json.loads(result.stdout.splitlines()[-1])
    roots = {name.partition(".")[0] for name in names}
    self.assertIn("phasic", roots)
    self.assertEmpty(roots - sys.stdlib_module_names - {"numpy", "phasic"})
    packages = [x for x in names if x.startswith("phasic.substrates.")]
    own = [x for x in packages if x.startswith("phasic.substrates.numpy")]
    self.assertEqual(packages, own)
    self.assertFalse([x for x in names if ".interop" in x])
    self.assertFalse([x for x in names if ".inference" in x])
    # Modules that import slowly wait for the single functions that need them.
    late = {"hashlib", "json", "numpy.random", "shutil", "subprocess"}
    self.assertEmpty(late.intersection(names))

  def test_what_comes_late_is_there(self):
    self.assertIn("inference", dir(ph))
    self.assertTrue(callable(ph.inference.fit_mle))
    with self.assertRaisesRegex(AttributeError, "no attribute 'absent'"):
      ph.absent  # noqa: B018


class CallTest(absltest.TestCase):
  """Constructing a distribution of three phases, and one `log_prob`.

  The bounds are what there was, and a little more: of checks that each call
  makes again there shall not be more.
  """

  def test_calls_are_few(self):
    initial = np.array([1.0, 0.0, 0.0])
    rates = np.array([[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -2.0]])

    def construct_and_evaluate():
      return PhaseType(initial, rates).log_prob(1.5)

    construct_and_evaluate()
    counts = _calls(construct_and_evaluate)
    self.assertLessEqual(counts["numeric"], 12, counts)
    self.assertLessEqual(counts["check_shapes"], 3, counts)
    self.assertNotIn("_parameter_properties", counts)
    self.assertLessEqual(sum(counts.values()), 230, counts)

  def test_moments_of_a_graph(self):
    edges = [(0, 1, {"a": 2.0}), (1, ph.graphs.ABSORBED, {"a": 1.0})]
    graph = ph.graphs.Graph.from_edges(edges, 0, params=("a",))
    initial = graph.initial_probs()

    def by_functions():
      weighted = graph.edge_weights({"a": 1.5})
      functions = ph.math.phase_type
      return [
        functions.mean(initial, weighted),
        functions.variance(initial, weighted),
      ]

    def by_distribution():
      dist = PhaseType.from_graph(graph, params={"a": 1.5})
      return [dist.mean(), dist.variance()]

    for function, most in ((by_functions, 75), (by_distribution, 220)):
      function()
      counts = _calls(function)
      self.assertLessEqual(sum(counts.values()), most, counts)


class MemoryTest(absltest.TestCase):
  def test_ascending_rates_take_a_matrix(self):
    p = 256
    dist = ph.distributions.AcyclicPhaseType(
      np.full(p, 1.0 / p), np.linspace(1.0, 2.0, p)
    )
    data = ph.inference.Observations([0.5, 1.0, 2.0])
    tracemalloc.start()
    try:
      ph.inference.em_step(dist, data)
      _, peak = tracemalloc.get_traced_memory()
    finally:
      tracemalloc.stop()
    self.assertLess(peak, 32 * 8 * p**2)


if __name__ == "__main__":
  absltest.main()
