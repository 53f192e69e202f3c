"""The order of phasic's rooms, on trees that keep it and trees that do not."""

from absl.testing import absltest

from tools.rooms import order
from tools.rooms import phasic_rooms
from tools.rooms import trees

_LOW = "phasic/math/low/sums.py"
_HIGH = "phasic/math/high/means.py"
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
          "lies above it",
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
          self._low(text), f"{_LOW}:3: ", "phasic.math.high.means", "lies above"
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

  def test_an_import_of_all_of_phasic_is_an_error(self):
    for text in ("import phasic\n", "from phasic.substrates import jax\n"):
      with self.subTest(text):
        errors = self._last(text)
        self.assert_one(errors, f"{_LAST}:1: ", "name the modules of phasic")

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

  def test_a_name_of_a_package_without_a_room_of_it_is_an_error(self):
    text = "from phasic.math import path\n"
    self.assert_one(
      self._last(text),
      f"{_LAST}:1: ",
      "imports no room",
      "import phasic.internal.seam",
    )

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

  def test_the_seam_imports_only_itself(self):
    errors = self._check(**{_SEAM: "from phasic.math import total\n"})
    self.assert_one(
      errors,
      f"{_SEAM}:1: internal imports phasic.math.low.sums",
      "lies above",
    )
    errors = self._check(**{_SEAM: "from phasic import include\n"})
    self.assertEmpty(errors)

  def test_the_kernel_is_called_through_the_seam(self):
    errors = self._last("from phasic._native import _kernel\n")
    self.assert_one(errors, f"{_LAST}:1: ", "which only internal may")
    errors = self._last("from phasic import include\n")
    self.assert_one(errors, f"{_LAST}:1: ", "only internal and binding may")

  def test_phasic_imports_no_tests(self):
    errors = self._last("from tests.helpers import cases\n")
    self.assert_one(errors, f"{_LAST}:1: ", "imports tests.helpers.cases")

  def test_a_package_has_names_of_its_own_rooms(self):
    file = "phasic/math/__init__.py"
    text = trees.FILES[file] + "from phasic.graphs.last.ends import end\n"
    errors = self._check(**{file: text})
    self.assert_one(errors, f"{file}:4: ", "only of its own rooms")

  def test_a_public_name_of_a_room_is_an_error(self):
    file = "phasic/math/__init__.py"
    for text in (
      "from phasic.math.high.means import mean as high\n",
      "from phasic.math.low import low\n",
      "from phasic.math.low import sums as low\n",
      "def low(): pass\n",
      "low = 1\n",
    ):
      with self.subTest(text):
        errors = self._check(**{file: trees.FILES[file] + text})
        self.assert_one(errors, f"{file}:4: the public name ", "rename one")

  def test_a_public_name_of_another_module_is_an_error(self):
    file = "phasic/binding/__init__.py"
    text = "from phasic.binding.bound import bind as bound\n"
    errors = self._check(**{file: text})
    self.assert_one(
      errors, f"{file}:1: the public name bound of phasic.binding"
    )

  def test_phasic_itself_imports_nothing(self):
    file = "phasic/__init__.py"
    errors = self._check(**{file: "from phasic.math.low import sums\n"})
    self.assert_one(errors, f"{file}:1: ", "drop it")

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
