"""Tests of which sources clang-tidy has to read again."""

import pathlib

from absl.testing import absltest

from tools import tidy


class TidyTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.source = self.root / "native/a/one.cc"
    self._write("native/a/one.cc", '#include "native/a/one.h"\n')
    self._write(
      "native/a/one.h", '  #  include "phasic/op.h"\n#include <cmath>\n'
    )
    self._write("phasic/include/phasic/op.h", '#include "near.h"\n')
    # Headers may include each other.
    self._write("phasic/include/phasic/near.h", '#include "phasic/op.h"\n')
    self._write("native/a/two.h", "")

  def _write(self, name, text):
    path = self.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

  def test_headers_are_found_through_headers(self):
    found = tidy.included(self.source, self.root)
    names = {path.relative_to(self.root).as_posix() for path in found}
    headers = {f"phasic/include/phasic/{x}.h" for x in ("op", "near")}
    self.assertEqual(names, {"native/a/one.cc", "native/a/one.h", *headers})

  def test_only_what_is_read_counts(self):
    before = tidy.digest(self.source, self.root, ["checks"])
    self._write("native/a/two.h", "int x;\n")
    self.assertEqual(tidy.digest(self.source, self.root, ["checks"]), before)
    self.assertNotEqual(tidy.digest(self.source, self.root, ["more"]), before)
    self._write("phasic/include/phasic/near.h", "int x;\n")
    self.assertNotEqual(tidy.digest(self.source, self.root, ["checks"]), before)


if __name__ == "__main__":
  absltest.main()
