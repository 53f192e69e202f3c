"""Tests of refused examples, seeds and files, with positions and messages."""

from __future__ import annotations

from absl.testing import absltest
from absl.testing import parameterized

from substrates.meta import paths
from substrates.meta import tables
from substrates.meta.tests import testing


class ExamplesAndSeedsTest(parameterized.TestCase):
  """Tests of docstring examples, and of seeds in all kinds of files."""

  @parameterized.named_parameters(
    (
      "syntax",
      '''
      def f():
        """A function.

        >>> f(
        """
      ''',
      "4:8: does not parse: '(' was never closed",
    ),
    (
      "name",
      '''
      """Module.

      >>> x = (1,
      ...      np.nothing)
      """
      ''',
      "4:10: np.nothing is not in jax.numpy",
    ),
    (
      "backslash",
      '"""Module.\n\n>>> x = "\\n"\n"""',
      '3:1: a backslash in an example: use r"""',
    ),
    (
      "first_line",
      '""">>> 1 + 1"""',
      "1:1: an example does not start on a line of its own",
    ),
    (
      "seed_without_import",
      '"""Module.\n\n>>> f(seed=1)\n"""',
      "3:12: a seed needs an import before it, to which `import jax` can be"
      " added",
    ),
    (
      "library_seed",
      "f(seed=1)",
      "1:8: a literal seed in the library; take it as an argument",
    ),
  )
  def test_example(self, code, message):
    self.assertEqual(testing.refusals(code), [message])

  @parameterized.parameters("-1", "(1, 2)", "1.0", "True", "2 * 3")
  def test_seed_that_is_no_int_literal(self, seed):
    self.assertEqual(
      testing.refusals(f"import math\nf(seed={seed})", testing.TEST),
      ["2:8: a seed is an int literal, so that it can become a key for JAX"],
    )

  def test_jax_rebound(self):
    code = "import math\njax = 1\nf(seed=1)"
    self.assertEqual(
      testing.refusals(code, testing.TEST),
      ["2:1: jax is rebound, but a seed needs jax.random.key"],
    )


class FilesTest(parameterized.TestCase):
  """Tests of errors that concern a whole file, such as its path or syntax."""

  def test_all_problems_are_told_in_order(self):
    code = "import jax\nimport numpy\nfrom . import x"
    found = [message[:4] for message in testing.refusals(code)]
    self.assertEqual(found, ["1:1:", "2:1:", "3:1:"])

  def test_syntax_error(self):
    self.assertEqual(
      testing.refusals("x = (\n"), ["1:5: does not parse: '(' was never closed"]
    )

  def test_line_ends(self):
    self.assertEqual(
      testing.refusals("x = 1\r\n"), ["1:1: lines end in \\r\\n; use \\n"]
    )

  @parameterized.parameters(
    ("phasic/internal/tape/x.py", "is for NumPy only: jax gets no copy"),
    ("substrates/tf/x.py", "is for tf only: jax gets no copy of it"),
    ("substrates/meta/x.py", "is not rewritten: expected"),
    ("phasic/_native/__init__.py", "phasic/_native is not rewritten"),
    ("phasic/__init__.py", "is not rewritten: expected"),
    ("tests/jax/x_test.py", "is not rewritten: only tests/helpers"),
    ("examples/x.py", "is not rewritten: expected"),
  )
  def test_place(self, path, message):
    (found,) = testing.refusals("", path)
    self.assertStartsWith(found, message)

  @parameterized.product(
    start=tuple(tables.ADAPTERS), substrate=tables.SUBSTRATES
  )
  def test_adapter_is_where_its_library_lives(self, start, substrate):
    path = f"{start}_x.py"
    if substrate not in tables.ADAPTERS[start]:
      with self.assertRaisesRegex(paths.PathError, "is an adapter"):
        paths.output_path(path, substrate)
      return
    for root in tables.ADAPTERS[start][substrate]:
      code = f"import {root}.x"
      self.assertEmpty(testing.refusals(code, path, substrate))
      (found,) = testing.refusals(code, "phasic/math/x.py", substrate)
      self.assertIn("is not in the table of allowed imports", found)

  @parameterized.parameters(*tables.SUBSTRATES)
  def test_what_all_seams_share_has_a_place(self, substrate):
    self.assertEqual(
      paths.output_path("phasic/internal/native/x.py", substrate),
      f"phasic/substrates/{substrate}/internal/native/x.py",
    )

  def test_omitted_name_in_use(self):
    code = "from phasic.math import gamma, beta\nx = gamma.f()"
    self.assertEqual(
      testing.refusals(code, omit_deps=frozenset({"phasic.math.gamma"})),
      ["2:5: gamma is used, but its import is omitted"],
    )

  def test_omitted_import_in_a_function(self):
    code = "def f():\n  from phasic.math import gamma"
    self.assertEqual(
      testing.refusals(code, omit_deps=frozenset({"phasic.math.gamma"})),
      ["2:3: an omitted import must stand at module level"],
    )

  def test_omitted_import_with_a_backslash(self):
    code = "from phasic.math import gamma, \\\n  beta"
    self.assertEqual(
      testing.refusals(code, omit_deps=frozenset({"phasic.math.gamma"})),
      ["1:1: an import with an omitted name uses a backslash"],
    )


if __name__ == "__main__":
  absltest.main()
