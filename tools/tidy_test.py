"""Tests of which sources clang-tidy has to read again."""

import pathlib

from absl.testing import absltest

from tools import tidy


class TidyTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self._write("native/a/one.cc", '#include "native/a/one.h"\n')
    self._write(
      "native/a/one.h", '  #  include "phasic/op.h"\n#include <cmath>\n'
    )
    self._write("phasic/include/phasic/op.h", '#include "near.h"\n')
    self._write("phasic/include/phasic/near.h", "")
    self._write("native/a/two.h", "")

  def _write(self, name, text):
    path = self.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

  def _digest(self, *settings):
    source = self.root / "native/a/one.cc"
    return tidy.digest(source, self.root, list(settings))

  def test_headers_are_found_through_headers(self):
    found = tidy.included(self.root / "native/a/one.cc", self.root)
    names = {path.relative_to(self.root).as_posix() for path in found}
    self.assertEqual(
      names,
      {
        "native/a/one.cc",
        "native/a/one.h",
        "phasic/include/phasic/op.h",
        "phasic/include/phasic/near.h",
      },
    )

  def test_only_what_is_read_counts(self):
    before = self._digest("checks")
    self._write("native/a/two.h", "int x;\n")
    self.assertEqual(self._digest("checks"), before)
    self.assertNotEqual(self._digest("other checks"), before)
    self._write("phasic/include/phasic/near.h", "int x;\n")
    self.assertNotEqual(self._digest("checks"), before)

  def test_headers_that_include_each_other(self):
    self._write("native/a/one.h", '#include "native/a/two.h"\n')
    self._write("native/a/two.h", '#include "native/a/one.h"\n')
    found = tidy.included(self.root / "native/a/one.cc", self.root)
    self.assertLen(found, 3)


if __name__ == "__main__":
  absltest.main()
