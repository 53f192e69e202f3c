"""Plain docstrings as text with markup."""

from absl.testing import absltest

from tools.site import docstrings

_DOCSTRING = """\
Computes w_e = |x| * `a_b`.

    w_e = sum_c x_c

Attributes:
  rate: r, (...).
  other (int): of the
    same.

Example: a number that is doubled,
  which is text.

  >>> a_b * 2
  'c_d'

Reference: D. E. F, A title that is long,
  2001.

docs/native-ops.md has all of it.

References:
  M. F. Neuts, Matrix-geometric solutions, 1981,
    ch. 2.
  A. B. See, Another one."""
# The parts that markup changes.
_MARKUP = r"""Computes w_e = \|x\| \* `a_b`.

::

    w_e = sum_c x_c

...
Example: a number that is doubled,
which is text.

  >>> a_b * 2
  'c_d'

Reference: D. E. F, A title that is long,
2001.

:doc:`/native-ops` has all of it.

References:
  * M\. F. Neuts, Matrix-geometric solutions, 1981,
    ch. 2.
  * A\. B. See, Another one."""


class DocstringsTest(absltest.TestCase):
  def test_markup(self):
    lines = docstrings.as_restructured_text(_DOCSTRING.splitlines())
    for part in _MARKUP.split("...\n"):
      self.assertIn(part, "\n".join(lines))
    self.assertEqual(docstrings.plain("a_ b_c d__"), r"a\_ b_c d_\_")

  def test_attributes(self):
    self.assertEqual(docstrings.attributes(_DOCSTRING), {"rate", "other"})
    self.assertEqual(docstrings.attributes("Nothing."), set())

  def test_attributes_get_types(self):
    text = (
      "A result.\n\nAttributes:\n  best: the best,\n    of all.\n  other: x."
    )
    text += "\n\nExample:\n  best: this is none."
    found = docstrings.with_types(text, {"best": "Sequence[SizeT]"})
    typed = "  best (Sequence[SizeT]): the best,"
    self.assertEqual(found, text.replace("  best: the best,", typed))


if __name__ == "__main__":
  absltest.main()
