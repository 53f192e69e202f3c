"""The order of phasic's rooms, on trees that keep it and trees that do not."""

from absl.testing import absltest

from tools.rooms import order
from tools.rooms import phasic_rooms
from tools.rooms import trees

_LOW = "phasic/math/low/sums.py"
_HIGH = "phasic/math/high/means.py"
_BINDING = "phasic/binding/__init__.py"
_MATH = "phasic/math/__init__.py"
_LAST = "phasic/graphs/last/ends.py"
_SEAM = "phasic/internal/native/calls.py"
_USES_LOW = "from phasic.internal import seam\n"


class PhasicRoomsTest(trees.TreeTestCase):
  def _rooms(self, files: dict[str, str]) -> phasic_rooms.Rooms:
    return phasic_rooms.Rooms(self.write(files))

  def _check(self, **files: str) -> list[str]:
    return self._rooms(files).errors

  def _low(self, text: str) -> list[str]:
    """Checks a tree whose lowest room has more lines from its second on."""
    return self._check(**{_LOW: _USES_LOW + text})

  def _last(self, text: str) -> list[str]:
    """Checks a tree whose room graphs/last has a text."""
    return self._check(**{_LAST: text})

  def test_a_tree_in_order_has_no_errors(self):
    self.assertEmpty(self._check())

  def test_the_table_has_what_each_room_imports(self):
    text = "def late():\n  from phasic.math.high import means\n"
    rooms = self._rooms({_LAST: text + "from phasic import math\n"})
    self.assertEmpty(rooms.errors)
    self.assertEqual(rooms.imports["graphs/last"], ["math/high", "math"])
    self.assertEqual(
      rooms.closure(["graphs/last"]),
      {"graphs/last", "math/high", "math/low", "internal"},
    )

  def test_an_import_from_above_is_an_error(self):
    for text in (
      "from phasic.math.high import means\n",
      "from phasic.math.high.means import mean\n",
      "import phasic.math.high.means\n",
      "from phasic.math import average\n",
      "from ..high import means\n",
      "from phasic.substrates.jax.math.high import means\n",
      "from phasic.substrates.tf.math import average\n",
    ):
      with self.subTest(text):
        self.assert_one(
          self._low(text),
          f"{_LOW}:2: math/low imports phasic.math.high.means, of math/high",
          "comes after that of math/low",
          "move one of them",
        )

  def test_a_hidden_import_from_above_is_an_error(self):
    for text in (
      "def late():\n  from phasic.math.high import means\n",
      "if TYPE_CHECKING:\n  from phasic.math.high import means\n",
      "try:\n  from phasic.math.high import means\nexcept ImportError: pass\n",
      "from phasic.math import (\n  average,\n)\n",
      "from phasic.substrates.jax import math as pm\npm.average(1)\n",
    ):
      with self.subTest(text):
        self.assert_one(
          self._low(text),
          f"{_LOW}:3: ",
          "phasic.math.high.means",
          "comes after",
        )

  def test_a_name_used_through_a_package_is_an_import_of_its_module(self):
    errors = self._low("from phasic import math as pm\n\npm.average(1)\n")
    self.assert_one(errors, f"{_LOW}:4: ", "phasic.math.high.means")
    errors = self._low("from phasic import math as pm\n\npm.total(1)\n")
    self.assertEmpty(errors)
    text = "from phasic import math as pm\n\npm.high.means.mean(1)\n"
    self.assert_one(self._low(text), f"{_LOW}:4: ", "phasic.math.high.means")

  def test_an_import_of_a_whole_package_is_an_error(self):
    for line, text in (
      (1, "import phasic.math\n"),
      (1, "from phasic import math\n"),
      (1, "from phasic.math import *\n"),
      (1, "from phasic.substrates.jax.math import *\n"),
      (2, "from phasic import math as pm\ngetattr(pm, 'total')\n"),
      (2, "from phasic import math as pm\npm.unknown\n"),
    ):
      with self.subTest(text):
        self.assert_one(
          self._check(**{_HIGH: text}),
          f"{_HIGH}:{line}: math/high imports all of phasic.math",
          "import the modules that it needs",
        )
        self.assertEmpty(self._last(text))

  def test_a_public_module_of_a_package_is_its_room(self):
    for text in (
      "from phasic import graphs\ngraphs.models.queue(1)\n",
      "from phasic.graphs import models\nmodels.queue(1)\n",
      "from phasic.graphs.models import queue\n",
    ):
      with self.subTest(text):
        rooms = self._rooms({_LAST: text})
        self.assertEmpty(rooms.errors)
        self.assertEqual(rooms.imports["graphs/last"], ["graphs/models"])

  def test_imports_that_are_errors(self):
    math = trees.FILES["phasic/math/__init__.py"]
    for file, text, place, part in (
      (_LAST, "import phasic\n", ":1: ", "name the modules of phasic"),
      (
        _LAST,
        "from phasic.substrates import jax\n",
        ":1: ",
        "name the modules",
      ),
      (_LAST, "from phasic.math import path\n", ":1: ", "imports no room"),
      (_LAST, "from phasic._native import _kernel\n", ":1: ", "only internal"),
      (_LAST, "from phasic import include\n", ":1: ", "internal and binding"),
      (
        _LAST,
        "from tests.helpers import cases\n",
        ":1: ",
        "imports tests.helpers",
      ),
      (
        _SEAM,
        "from phasic.math import total\n",
        ":1: internal ",
        "comes after",
      ),
      (
        _MATH,
        math + "from phasic.graphs.last.ends import end\n",
        ":4: ",
        "own rooms",
      ),
      (
        _BINDING,
        "from phasic.binding.bound import bind as bound\n",
        ":1: ",
        "rename",
      ),
      (
        "phasic/__init__.py",
        "from phasic.math.low import sums\n",
        ":1: ",
        "drop",
      ),
    ):
      with self.subTest(text):
        self.assert_one(self._check(**{file: text}), file + place, part)

  def test_a_file_that_does_not_parse_is_an_error(self):
    with self.assertRaisesRegex(ValueError, f"{_LOW}:2: "):
      self._low("def\n")

  def test_a_file_outside_of_all_rooms_is_an_error(self):
    for file in (
      "phasic/stray.py",
      "phasic/math/stray.py",
      "phasic/attic/stray.py",
      "phasic/math/low/deeper/stray.py",
      "phasic/internal/deeper/stray.py",
    ):
      with self.subTest(file):
        errors = self._check(**{file: ""})
        self.assert_one(errors, f"{file}:1: ", "outside of all", "move it into")

  def test_a_module_with_two_files_is_an_error(self):
    file = "phasic/math/low.py"
    with self.assertRaisesRegex(ValueError, "rename one of them"):
      self._check(**{file: "", "phasic/math/low/__init__.py": ""})

  def test_a_room_without_sources_is_an_error(self):
    row = "| `binding` | users' functions |\n"
    page = trees.MAP.replace(row, row + "| `empty` | nothing |\n")
    errors = self._check(**{"CONTRIBUTING.md": page})
    self.assert_one(errors, "CONTRIBUTING.md:1: empty has no", "remove its row")

  def test_a_public_name_of_a_room_is_an_error(self):
    for text in (
      "from phasic.math.high.means import mean as high\n",
      "from phasic.math.low import low\n",
      "from phasic.math.low import sums as low\n",
      "def low(): pass\n",
      "low = 1\n",
    ):
      with self.subTest(text):
        errors = self._check(**{_MATH: trees.FILES[_MATH] + text})
        self.assert_one(errors, f"{_MATH}:4: the public name ", "rename one")

  def test_a_folder_with_too_many_sources_is_an_error(self):
    for folder in ("phasic/math/low", "tests/shared/folder", "tools"):
      with self.subTest(folder):
        count = order.MAX_SOURCES - (folder != "tools")
        files = {f"{folder}/f{n:02}.py": "" for n in range(count)}
        files[f"{folder}/__init__.py"] = ""
        self.assertEmpty(self._check(**files))
        errors = self._check(**files, **{f"{folder}/z.py": ""})
        self.assert_one(errors, f"{folder}/z.py:1: ", "25 sources", "split it")


if __name__ == "__main__":
  absltest.main()
