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


class DocstringsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.lines = docstrings.as_restructured_text(_DOCSTRING.splitlines())

  def test_text_is_escaped(self):
    self.assertEqual(self.lines[0], r"Computes w_e = \|x\| \* `a_b`.")
    self.assertEqual(docstrings.plain("a_ b_c d__"), r"a\_ b_c d_\_")

  def test_blocks_and_examples_stay(self):
    self.assertIn("    w_e = sum_c x_c", self.lines)
    self.assertEqual(self.lines[2], "::")
    self.assertIn("  >>> a_b * 2", self.lines)
    self.assertIn("  'c_d'", self.lines)

  def test_text_of_an_example_is_a_paragraph(self):
    place = self.lines.index("Example: a number that is doubled,")
    self.assertEqual(self.lines[place + 1], "which is text.")

  def test_a_reference_is_a_paragraph_and_a_page_is_a_link(self):
    place = self.lines.index("Reference: D. E. F, A title that is long,")
    self.assertEqual(self.lines[place + 1], "2001.")
    self.assertIn(":doc:`/native-ops` has all of it.", self.lines)

  def test_references_are_a_list(self):
    self.assertEqual(
      self.lines[-3:],
      [
        r"  * M\. F. Neuts, Matrix-geometric solutions, 1981,",
        "    ch. 2.",
        r"  * A\. B. See, Another one.",
      ],
    )

  def test_attributes(self):
    self.assertEqual(docstrings.attributes(_DOCSTRING), {"rate", "other"})
    self.assertEqual(docstrings.attributes("Nothing."), set())

  def test_attributes_get_types(self):
    lines = [
      *("A result.", "", "Attributes:", "  best: the best,", "    of all."),
      *("  other: no field.", "", "Example:", "  best: this is none."),
    ]
    types = {"best": "Sequence[SizeT]"}
    found = docstrings.with_types("\n".join(lines), types).split("\n")
    self.assertEqual(found[3], "  best (Sequence[SizeT]): the best,")
    self.assertEqual(found[:3] + found[4:], lines[:3] + lines[4:])


if __name__ == "__main__":
  absltest.main()
