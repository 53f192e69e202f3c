"""Texts of `to_json` that other substrates and other processes read."""

import json
import os
import subprocess
import sys

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_distributions_cases as cases

_CASES = {**cases.FAMILIES, **cases.OF_EDGES, **cases.MAKERS}
# In JAX each method of each class is compiled.
_FEW = ("Epochs", "GraphPhaseType", "HyperErlang", "TruncatedPhaseType")
_TIMES = (0.5, 3.0)
# Reads texts by name, and writes the bits of log densities and means.
_READER = f"""
import importlib
import json
import numpy as onp

substrate, texts = json.load(sys.stdin)
if substrate == "jax":
  import jax
  jax.config.update("jax_enable_x64", True)
package = f"phasic.substrates.{{substrate}}.distributions"
classes = importlib.import_module(package)

def bits(dist):
  values = onp.asarray({_TIMES})
  found = [dist.mean()]
  if not dist.event_shape:
    found.append(dist.log_prob(values))
  return [onp.asarray(x).tobytes().hex() for x in found]

def read(text):
  return bits(classes.Distribution.from_json(text))
"""


def _names(substrate):
  return _FEW if substrate == "jax" else tuple(_CASES)


class SavingTest(comparisons.TestCase):
  @parameterized.parameters(*_CASES)
  def test_texts_of_all_substrates(self, name):
    texts = {
      substrate: _CASES[name](cases.Substrate(substrate)).to_json()
      for substrate in comparisons.SUBSTRATES
    }
    (text,) = set(texts.values())
    for substrate in comparisons.SUBSTRATES:
      reader = comparisons.SUBSTRATES[substrate].distributions.Distribution
      self.assertEqual(reader.from_json(text).to_json(), text)

  def test_edges_observations_and_fits(self):
    texts = []
    for substrate in comparisons.SUBSTRATES:
      x = cases.Substrate(substrate)
      inference = comparisons.SUBSTRATES[substrate].inference
      data = inference.Observations(
        x.array([0.1, 2.0]), x.array([0.1, onp.inf]), x.array([1.0, 3.0])
      )
      fit = inference.fit_mle(x.erlang(), data, fixed=["rate"])
      edges = x.math.EdgeRates([0, 1], [1, 2], x.array([1 / 3, 0.1]))
      texts.append((edges.to_json(), data.to_json(), fit.to_json()))
    for substrate in comparisons.SUBSTRATES:
      package = comparisons.SUBSTRATES[substrate]
      for edges, data, fit in texts:
        self.assertEqual(
          package.math.EdgeRates.from_json(edges).to_json(), edges
        )
        read = package.inference.Observations.from_json(data)
        self.assertEqual(read.to_json(), data)
        self.assertEqual(package.inference.Fit.from_json(fit).to_json(), fit)

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_another_process(self, substrate):
    dists = {
      name: _CASES[name](cases.Substrate(substrate))
      for name in _names(substrate)
    }
    texts = {name: dist.to_json() for name, dist in dists.items()}
    code = (
      f"import sys; sys.path[:] = {sys.path!r}\n{_READER}\n"
      "print(json.dumps({name: read(x) for name, x in texts.items()}))"
    )
    done = subprocess.run(
      [sys.executable, "-c", code],
      input=json.dumps([substrate, texts]),
      capture_output=True,
      check=True,
      env={**os.environ, "JAX_PLATFORMS": "cpu"},
      text=True,
      timeout=300,
    )
    found = json.loads(done.stdout)
    for name, dist in dists.items():
      self.assertEqual(found[name], _bits(dist), name)


def _bits(dist):
  """Returns what the other process writes of a distribution."""
  found = [dist.mean()]
  if not dist.event_shape:
    found.append(dist.log_prob(onp.asarray(_TIMES)))
  return [onp.asarray(x).tobytes().hex() for x in found]


if __name__ == "__main__":
  absltest.main()
