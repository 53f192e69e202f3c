"""What tests that are written once need."""

from absl.testing import absltest

from tools.rooms import phasic_rooms
from tools.rooms import shared_tests
from tools.rooms import trees

_FILE = "tests/shared/folder/first_test.py"
_TEXT = trees.FILES[_FILE]


class SharedTestsTest(trees.TreeTestCase):
  def _needs(
    self, text: str = _TEXT, tests: str = trees.TESTS
  ) -> shared_tests.Needs:
    root = self.write({_FILE: text, "tests/shared.bzl": tests})
    return shared_tests.Needs(root, phasic_rooms.Rooms(root))

  def _rooms(self, text: str, tests: str = trees.TESTS) -> list[str]:
    needs = self._needs(text, tests)
    self.assertEmpty(needs.errors)
    return needs.tests["folder/group"]["rooms"]

  def test_helpers(self):
    needs = self._needs()
    self.assertEqual(
      needs.helpers,
      {
        "cases": {"helpers": [], "rooms": ["math/low"]},
        "models": {"helpers": ["cases"], "rooms": []},
      },
    )
    self.assertEqual(needs.tests["folder/group"]["helpers"], ["cases"])
    text = _TEXT + "from tests.generated.tf.helpers.models import x\n"
    self.assertEqual(
      self._needs(text).tests["folder/group"]["helpers"], ["cases", "models"]
    )

  def test_rooms_that_come_with_others_are_left_out(self):
    for text in (
      _TEXT,
      _TEXT.replace("phasic.math", "phasic.substrates.jax.math"),
      _TEXT + "from phasic.math.low import sums\n",
    ):
      with self.subTest(text):
        self.assertEqual(self._rooms(text), ["math/high"])
    text = _TEXT + "from phasic.graphs.models.queues import queue\n"
    self.assertEqual(self._rooms(text), ["graphs/models"])
    text = _TEXT + "from phasic.graphs.last import ends\n"
    self.assertEqual(self._rooms(text), ["math/high", "graphs/last"])

  def test_a_whole_package_is_needed_by_who_names_all_of_it(self):
    text = _TEXT + "from phasic import graphs\nfor name in vars(graphs): pass\n"
    self.assertEqual(self._rooms(text), ["graphs"])

  def test_a_package_without_its_rooms_has_a_library_of_its_own(self):
    text = _TEXT.replace("average", "path")
    self.assertEqual(self._rooms(text), ["internal", "math/package"])

  def test_rooms_that_are_named_by_hand_are_added(self):
    tests = trees.TESTS.replace(
      "files =", 'rooms = ["phasic"],\n        files ='
    )
    self.assertEqual(self._rooms(_TEXT, tests), ["phasic"])

  def test_an_import_of_all_helpers_is_an_error(self):
    errors = self._needs(_TEXT + "from tests import helpers\n").errors
    self.assert_one(errors, f"{_FILE}:3: ", "all helpers")

  def test_an_import_of_all_of_phasic_is_an_error(self):
    for text in ("import phasic\n", "from phasic.attic import x\n"):
      errors = self._needs(_TEXT + text).errors
      self.assert_one(errors, f"{_FILE}:3: ", "all of phasic")

  def test_a_file_that_is_not_there_is_an_error(self):
    tests = trees.TESTS.replace(
      "first_test", 'first_test", "folder/second_test'
    )
    errors = self._needs(tests=tests).errors
    self.assert_one(errors, "tests/shared.bzl:1: ", "folder/second_test.py")


if __name__ == "__main__":
  absltest.main()
