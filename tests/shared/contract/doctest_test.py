"""The examples in the docstrings run on every substrate."""

import doctest
import importlib
import pkgutil
import types

from absl.testing import absltest

from phasic import distributions
from tests.helpers import test_case

_PACKAGE = distributions.__name__.rpartition(".")[0]
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _modules() -> list[types.ModuleType]:
  package = importlib.import_module(_PACKAGE)
  modules = []
  for found in pkgutil.walk_packages(package.__path__, f"{_PACKAGE}."):
    if "._native" in found.name:
      continue
    try:
      modules.append(importlib.import_module(found.name))
    except ImportError:
      # Packages that adapters need may be missing here.
      if ".interop." not in found.name:
        raise
  return modules


class DoctestTest(test_case.TestCase):
  def test_examples(self):
    finder = doctest.DocTestFinder()
    attempted = 0
    # A function that was asked for by its public name is found under both names.
    seen = set()
    for module in _modules():
      for example in finder.find(module):
        if not example.examples or example.docstring in seen:
          continue
        seen.add(example.docstring)
        with self.subTest(example.name):
          runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
          report: list[str] = []
          result = runner.run(example, out=report.append)
          attempted += result.attempted
          self.assertEqual(result.failed, 0, "".join(report))
    self.assertGreater(attempted, 0)


if __name__ == "__main__":
  absltest.main()
