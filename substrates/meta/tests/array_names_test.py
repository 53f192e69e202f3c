"""Tests of the table of array names against the installed libraries."""

from __future__ import annotations

import importlib
import importlib.util

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta import array_names
from substrates.meta import exports
from substrates.meta import make_array_names
from substrates.meta import tables


class ArrayNamesTest(parameterized.TestCase):
  """Tests that an upgrade has removed no name; see make_array_names.py."""

  @parameterized.parameters(("numpy", "numpy"), ("jax", "jax.numpy"))
  def test_names_exist(self, substrate, module):
    if importlib.util.find_spec(module.partition(".")[0]) is None:
      self.skipTest(f"{module} is not installed")
    real = make_array_names.names_of(importlib.import_module(module))
    self.assertEmpty(array_names.NAMES[substrate] - set(real))

  def test_all_numpy_releases_have_the_names(self):
    later = tables.LATER_NUMPY_NAMES
    self.assertEmpty(array_names.NAMES["numpy"] & later)
    self.assertEmpty(array_names.NAMES["numpy"] & tables.GONE_NUMPY_NAMES)
    numpy = importlib.import_module("numpy")
    if numpy.__version__.startswith("2.0."):
      self.assertEmpty({name for name in later if hasattr(numpy, name)})

  @parameterized.parameters("numpy", "jax")
  def test_refused_names_are_not_in_the_table(self, substrate):
    names = array_names.NAMES[substrate]
    self.assertEmpty(names & set(tables.REFUSED_ARRAY_NAMES))
    self.assertContainsSubset({"where", "inf", "linalg.solve"}, names)


class ExportsTest(parameterized.TestCase):
  """Tests of `exports`, which finds a module's names without importing it."""

  @parameterized.parameters(
    ("def f():\n  pass\n\ndef _g():\n  pass", "f"),
    ("a, (b, c) = 1, (2, 3)\nd: int = 4\n_e = 5", "a b c d"),
    ("a = b = lambda: 0", "a b"),
    ("import os\nfrom os import path\nfrom os import sep as sep", "sep"),
    ("from p.q import a, b as c, _d", "a c"),
    ("__all__ = ['a', '_b']\na = _b = c = 1", "a _b"),
    (
      "class linalg:\n  e = 1\n  def solve(): ...\n  def _f(): ...",
      "linalg linalg.e linalg.solve",
    ),
  )
  def test_public_names(self, text, names):
    self.assertCountEqual(exports.public_names(text, "p"), names.split())


if __name__ == "__main__":
  absltest.main()
