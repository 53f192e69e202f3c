"""The order of phasic's rooms, on trees that keep it and trees that do not."""

from absl.testing import absltest

from tools.rooms import phasic_rooms
from tools.rooms import tables
from tools.rooms import trees

_LOW = "phasic/math/low/sums.py"
_LAST = "phasic/graphs/last/ends.py"
_SEAM = "phasic/internal/native/calls.py"
_USES_LOW = "from phasic.internal import seam\n"


class PhasicRoomsTest(trees.TreeTestCase):
  def _check(self, rules: str = trees.RULES, **files: str) -> list[str]:
    return phasic_rooms.check(self.write(files, rules))

  def _low(self, text: str) -> list[str]:
    """Checks a tree whose lowest room has more lines from its second on."""
    return self._check(**{_LOW: _USES_LOW + text})

  def _last(self, text: str, *rooms: str) -> list[str]:
    """Checks a tree whose room graphs/last lists rooms, and has a text."""
    listed = ", ".join(f'"{room}"' for room in rooms)
    rules = trees.RULES.replace('last": []', f'last": [{listed}]')
    return self._check(rules, **{_LAST: text})

  def test_a_tree_in_order_has_no_errors(self):
    self.assertEmpty(self._check())

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
          self._last(text),
          f"{_LAST}:{line}: graphs/last imports all of phasic.math",
          "import the modules that it needs",
        )
        self.assertEmpty(self._last(text, "math"))

  def test_an_import_of_all_of_phasic_is_an_error(self):
    for text in ("import phasic\n", "from phasic.substrates import jax\n"):
      with self.subTest(text):
        errors = self._last(text)
        self.assert_one(errors, f"{_LAST}:1: ", "name the modules of phasic")

  def test_a_room_that_is_not_listed_is_an_error(self):
    errors = self._last("from phasic.math.high import means\n")
    self.assert_one(
      errors, f"{_LAST}:1: ", "of math/high, which graphs/last does not list"
    )
    errors = self._last("from phasic.math.high import means\n", "math/high")
    self.assertEmpty(errors)

  def test_a_room_that_is_not_imported_is_an_error(self):
    errors = self._last("", "math/high")
    self.assert_one(
      errors,
      "phasic/rooms.bzl:11: graphs/last does not import math/high",
      "drop it",
    )

  def test_a_public_module_of_a_package_is_its_room(self):
    for text in (
      "from phasic import graphs\ngraphs.models.queue(1)\n",
      "from phasic.graphs import models\nmodels.queue(1)\n",
      "from phasic.graphs.models import queue\n",
    ):
      with self.subTest(text):
        self.assertEmpty(self._last(text, "graphs/models"))
        self.assert_one(
          self._last(text), f"{_LAST}:", "of graphs/models", "does not list"
        )

  def test_a_name_of_a_package_without_a_room_of_it_is_an_error(self):
    text = "from phasic.math import path\n"
    self.assert_one(
      self._last(text, "internal"),
      f"{_LAST}:1: ",
      "lists no room",
      "import phasic.internal.seam",
    )

  def test_a_table_that_allows_a_circle_is_an_error(self):
    rules = trees.RULES.replace(
      '"math/low": ["internal"]', '"math/low": ["internal", "math/high"]'
    )
    text = _USES_LOW + "from phasic.math.high import means\n"
    errors = self._check(rules, **{_LOW: text})
    self.assert_one(
      errors, "phasic/rooms.bzl:5: ", "circle", "move math/high before math/low"
    )

  def test_an_unknown_room_in_the_table_is_an_error(self):
    errors = self._last("", "attic")
    self.assert_one(
      errors, "phasic/rooms.bzl:11: ", "attic, which is not a room", "drop it"
    )

  def test_a_table_of_another_form_is_an_error(self):
    for old, new, start in (
      ("ROOMS = {", "OTHERS = {", "phasic/rooms.bzl:1: the table ROOMS"),
      ('["math", "graphs"]', "{}", "phasic/rooms.bzl:2: this must be a list"),
      ('"internal": []', '"internal": 1', "phasic/rooms.bzl:4: this must be"),
      ('high": [', 'low": [', "phasic/rooms.bzl:6: math/low is listed twice"),
      (
        '["math/high"]',
        '["math/high", "math/high"]',
        "phasic/rooms.bzl:10: math/high is listed twice",
      ),
    ):
      with self.subTest(new):
        self.assert_one(self._check(trees.RULES.replace(old, new)), start)

  def test_a_file_that_does_not_parse_is_an_error(self):
    self.assert_one(self._low("def\n"), f"{_LOW}:2: ")

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
    errors = self._check(
      **{file: "", "phasic/math/low/__init__.py": "from phasic import math\n"}
    )
    self.assertLen(errors, 1)
    self.assertIn("rename one of them", errors[0])

  def test_a_room_without_sources_is_an_error(self):
    rules = trees.RULES.replace(
      '    "binding"', '    "empty": [],\n    "binding"'
    )
    self.assert_one(
      self._check(rules), "phasic/rooms.bzl:12: empty has no", "remove it"
    )

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
        count = tables.MAX_SOURCES - (folder != "tools")
        files = {f"{folder}/f{n:02}.py": "" for n in range(count)}
        files[f"{folder}/__init__.py"] = ""
        self.assertEmpty(self._check(**files))
        errors = self._check(**files, **{f"{folder}/z.py": ""})
        self.assert_one(errors, f"{folder}/z.py:1: ", "25 sources", "split it")


if __name__ == "__main__":
  absltest.main()
