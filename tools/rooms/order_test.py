"""The order of floors, as the map in CONTRIBUTING.md has it."""

from absl.testing import absltest

from tools.rooms import order
from tools.rooms import trees


class OrderTest(trees.TreeTestCase):
  def _check(self, files: dict[str, str]) -> list[str]:
    return order.check(self.write(files))

  def test_rows_are_rooms_lowest_first(self):
    self.assertEqual(order.read(self.write({}), "native"), ["low", "high"])

  def test_a_full_map(self):
    files = {
      "phasic/loose.py": "",
      "phasic/math/empty/__init__.py": "",
      "phasic/include/phasic/op.h": "",
      "substrates/meta/tests/golden_test.py": "",
    }
    self.assertEmpty(self._check(files))

  def test_a_room_without_a_row(self):
    for file, room in (
      ("native/low/deep/b.h", "native/low/deep"),
      ("native/math/low/b.cc", "native/math/low"),
      ("substrates/tf/native/x.py", "substrates/tf/native"),
    ):
      with self.subTest(file):
        self.assert_one(
          self._check({file: ""}),
          f"CONTRIBUTING.md:1: the map has no row for {room}:",
        )

  def test_a_row_without_a_folder(self):
    page = trees.MAP + "| `attic` | numbers |\n"
    line = len(page.splitlines())
    self.assert_one(
      self._check({"CONTRIBUTING.md": page}),
      f"CONTRIBUTING.md:{line}: the map has a row for native/attic,",
    )


if __name__ == "__main__":
  absltest.main()
