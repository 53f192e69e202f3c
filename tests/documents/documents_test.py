"""The code of the README and of the pages in docs runs as it stands."""

import contextlib
import importlib
import importlib.util
import io
import math
import os
import pathlib
import re
import subprocess
import sys

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta import tables

# A block of Python, and what it prints where the page shows that.
_BLOCK = re.compile(
  r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?",
  re.MULTILINE | re.DOTALL,
)
# A block with this text needs a library of the reader's own.
_FRAGMENT = "bind_native("
# Blocks with these texts have tests of their own, as they need an environment or
# checks of their own.
_PYMC, _KERAS = "import jax, numpy as np, pymc", "import keras"
_PACKAGES = tables.PUBLIC_PACKAGES
# Modules in them with names of their own.
_MODULES = (
  *("graphs.models", "inference.datasets"),
  *("math.discrete_phase_type", "math.phase_type"),
)
# `interop` has no names of its own, only modules.
_ADAPTERS = ("interop.scipy.wrap", "interop.numpyro.wrap", "interop.tfp.wrap")


def _blocks(document: str) -> list[tuple[int, str, str | None]]:
  """Returns the line of each block of Python, its text and what it prints."""
  text = pathlib.Path(document).read_text()
  return [
    (text.count("\n", 0, match.start(1)), match.group(1), match.group(2))
    for match in _BLOCK.finditer(text)
  ]


def _block_with(text: str) -> str:
  """Returns the block of docs/guide.md that contains the text."""
  blocks = [block for _, block, _ in _blocks("docs/guide.md")]
  (found,) = (block for block in blocks if text in block)
  return found


def _listed_names() -> list[str]:
  """Returns the names that docs/names.md has a line for."""
  lines = pathlib.Path("docs/names.md").read_text().splitlines()
  entries = [line.partition(": ")[0] for line in lines if line[:3] == "- `"]
  return [name for entry in entries for name in re.findall("`(.*?)`", entry)]


def _public_names() -> set[str]:
  """Returns the public names of the packages, as docs/names.md writes them."""
  names = {*_ADAPTERS, "binding.jaxbind_compat"}
  for package in (*_PACKAGES, *_MODULES):
    module = importlib.import_module(f"phasic.substrates.numpy.{package}")
    names |= {f"{package}.{name}" for name in module.__all__}
  backend = importlib.import_module("phasic.substrates.jax")
  return names | {*backend.__all__} - {*_PACKAGES, "__version__"}


class DocumentsTest(parameterized.TestCase):
  @parameterized.parameters(
    ("README.md", 1),
    ("docs/guide.md", 7),
    ("docs/binding.md", 3),
    ("docs/fitting.md", 3),
    ("docs/bayes.md", 4),
    ("docs/epochs.md", 11),
    ("docs/rewards.md", 5),
    ("docs/population-genetics.md", 10),
    ("docs/causes.md", 3),
    ("docs/export.md", 5),
    ("docs/pypi.md", 1),
  )
  def test_runs(self, document, at_least):
    blocks = _blocks(document)
    self.assertGreaterEqual(len(blocks), at_least)
    names = {}  # Later blocks may stand on earlier ones, as a reader does.
    for line, block, shown in blocks:
      if any(name in block for name in (_FRAGMENT, _PYMC, _KERAS)):
        continue
      with self.subTest(f"{document}:{line}"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
          exec(compile("\n" * line + block, document, "exec"), names)
        if shown is not None:
          self.assertEqual(printed.getvalue(), shown)

  def test_pymc(self):
    if importlib.util.find_spec("pymc") is None:
      self.skipTest("PyMC is not installed here: `make test-pymc` has it")
    exec(_block_with(_PYMC), {})

  def test_keras_network_learns(self):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
      exec(_block_with(_KERAS), {})
    self._check_losses(printed.getvalue())

  def test_keras_network_learns_in_jax(self):
    recipe = _block_with(_KERAS).replace("import tf as", "import jax as")
    # Keras has one backend in a process.
    environment = os.environ | {"KERAS_BACKEND": "jax"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    printed = subprocess.run(
      [sys.executable, "-c", recipe],
      env=environment,
      check=True,
      capture_output=True,
      text=True,
    ).stdout
    self._check_losses(printed)

  def _check_losses(self, printed):
    of_network, of_true_rates = map(float, printed.split())
    self.assertBetween(of_network, of_true_rates - 0.01, of_true_rates + 0.01)

  def test_names_are_listed_once(self):
    listed = _listed_names()
    self.assertCountEqual(listed, set(listed))
    self.assertCountEqual(listed, _public_names())

  def test_adapters_have_their_names(self):
    for name in _ADAPTERS:
      module, _, function = name.rpartition(".")
      backend = "numpy" if module == "interop.scipy" else "jax"
      adapter = importlib.import_module(f"phasic.substrates.{backend}.{module}")
      self.assertTrue(callable(getattr(adapter, function)))

  def test_posteriors_are_of_the_same_data(self):
    (_, model, _), _, (_, density, _), *_ = _blocks("docs/bayes.md")
    names = {}
    exec(model, names)
    exec(density.partition("warmup =")[0], names)
    from numpyro.infer import util

    for rate in (0.5, 2.0):
      log_rate = math.log(rate)
      of_model, _ = util.log_density(names["model"], (), {}, {"rate": rate})
      found = float(names["log_density"](log_rate))
      self.assertAlmostEqual(found, float(of_model) + log_rate, places=9)


if __name__ == "__main__":
  absltest.main()
