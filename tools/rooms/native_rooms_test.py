"""The includes of native rooms, on trees in order and out of order."""

from absl.testing import absltest

from tools.rooms import native_rooms
from tools.rooms import order
from tools.rooms import trees


class NativeRoomsTest(trees.TreeTestCase):
  def _errors(self, files: dict[str, str]) -> list[str]:
    return native_rooms.Rooms(self.write(files)).errors

  def test_the_table_of_a_tree_in_order(self):
    rooms = native_rooms.Rooms(
      self.write(
        {
          "native/low/a_test.cc": '#include "native/high/b.h"\n',
          "native/low/test_cases.h": '  # include "native/high/c.h"\n',
          "native/high/c_test.cc": '#include "native/high/b.h"\n',
        }
      )
    )
    self.assertEmpty(rooms.errors)
    self.assertEqual(rooms.includes, {"low": [], "high": ["low"]})
    self.assertEqual(rooms.tests, {"high/c_test": [], "low/a_test": ["high"]})

  def test_headers_of_tests_count_for_each_test_of_the_room(self):
    rooms = native_rooms.Rooms(
      self.write(
        {
          "native/high/c_test.cc": "",
          "native/high/test_cases.h": '#include "native/low/a.h"\n',
        }
      )
    )
    self.assertEqual(rooms.tests, {"high/c_test": ["low"]})

  def test_an_include_from_above_is_an_error(self):
    text = '\n#include "native/high/d.h"\n'
    errors = self._errors({"native/low/e.h": text, "native/high/d.h": ""})
    self.assert_one(
      errors, "native/low/e.h:2: ", "comes after that of low", "move one"
    )

  def test_an_include_from_outside_of_rooms_is_an_error(self):
    text = '#include "native/attic/d.h"\n'
    errors = self._errors({"native/low/e.h": text})
    self.assert_one(errors, "native/low/e.h:1: ", "outside of all rooms")

  def test_a_file_outside_of_all_rooms_is_an_error(self):
    for file in ("stray.h", "attic/f_test.cc"):
      with self.subTest(file):
        errors = self._errors({f"native/{file}": ""})
        self.assert_one(errors, f"native/{file}:1: ", "outside of all rooms")

  def test_an_empty_room_is_an_error(self):
    page = trees.MAP + "| `empty` | nothing |\n"
    errors = self._errors({"CONTRIBUTING.md": page})
    self.assert_one(errors, "CONTRIBUTING.md:1: native/empty", "no sources")

  def test_a_room_that_is_too_full_is_an_error(self):
    files = {f"native/low/g{n}.h": "" for n in range(order.MAX_SOURCES - 1)}
    self.assertEmpty(self._errors({**files, "native/low/h_test.cc": ""}))
    errors = self._errors({**files, "native/low/h.cc": ""})
    self.assert_one(errors, "native/low:1: ", "25 sources")


if __name__ == "__main__":
  absltest.main()
