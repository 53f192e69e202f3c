"""What the wheel must not have: folders and times of a build, writable code."""

import io
import os
import pathlib
import re
import zipfile

from absl.testing import absltest
from elftools.elf import elffile

# Where programs, packages and builds lie. The libraries name no file at all.
_ABSOLUTE = re.compile(
  rb"/(?:home|root|tmp|usr|opt|var|work|build|execroot|sandbox)/[\w./-]*"
)
_TIME = (1980, 1, 1, 0, 0, 0)
# Modes, with the bits that say whether it is a file or a folder.
_READABLE, _EXECUTABLE, _FOLDER = 0o100644, 0o100755, 0o040755
_FLAG_EXECUTE = 1  # PF_X of a segment
_NOW = 8  # DF_BIND_NOW: addresses are bound when the library is loaded


class TrustTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    (wheel,) = pathlib.Path("tools/wheel/wheel").glob("*.whl")
    self.wheel = self.enter_context(zipfile.ZipFile(wheel))
    self.libraries = {
      name: self.wheel.read(name)
      for name in self.wheel.namelist()
      if name.endswith(".so")
    }

  def test_entries_tell_nothing_of_the_build(self):
    entries = self.wheel.infolist()
    self.assertLen({entry.filename for entry in entries}, len(entries))
    for entry in entries:
      with self.subTest(entry.filename):
        mode = _READABLE
        if entry.is_dir():
          mode = _FOLDER
        elif entry.filename.endswith(".so"):
          mode = _EXECUTABLE
        self.assertEqual(oct(entry.external_attr >> 16), oct(mode))
        self.assertEqual(entry.date_time, _TIME)
        self.assertEmpty(entry.extra)
        self.assertEmpty(entry.comment)

  def test_libraries_tell_nothing_of_the_build(self):
    self.assertLen(self.libraries, 2)
    own = [os.getcwd(), os.path.expanduser("~")]
    for name, content in self.libraries.items():
      with self.subTest(name):
        self.assertEmpty(_ABSOLUTE.findall(content))
        for folder in own:
          if len(folder) > 1:
            self.assertNotIn(folder.encode(), content)
        sections = elffile.ELFFile(io.BytesIO(content)).iter_sections()
        debug = [x.name for x in sections if x.name.startswith(".debug")]
        self.assertEmpty(debug)

  def test_libraries_are_searched_for_nowhere_else(self):
    for name, content in self.libraries.items():
      with self.subTest(name):
        library = elffile.ELFFile(io.BytesIO(content))
        tags = [*library.get_section_by_name(".dynamic").iter_tags()]
        kinds = {tag.entry.d_tag for tag in tags}
        self.assertNoCommonElements(kinds, {"DT_RPATH", "DT_RUNPATH"})
        self.assertNotIn("DT_TEXTREL", kinds)
        (flags,) = [x for x in tags if x.entry.d_tag == "DT_FLAGS"]
        self.assertTrue(flags.entry.d_val & _NOW)

  def test_memory_of_libraries_is_not_both_written_and_executed(self):
    for name, content in self.libraries.items():
      with self.subTest(name):
        library = elffile.ELFFile(io.BytesIO(content))
        segments = {x["p_type"]: x["p_flags"] for x in library.iter_segments()}
        self.assertIn("PT_GNU_RELRO", segments)
        self.assertFalse(segments["PT_GNU_STACK"] & _FLAG_EXECUTE)
        for segment in library.iter_segments():
          if segment["p_type"] == "PT_LOAD":
            self.assertNotEqual(segment["p_flags"] & 3, 3)


if __name__ == "__main__":
  absltest.main()
