"""What shared tests say that they need, against what they import."""

from absl.testing import absltest

from tools.rooms import shared_tests
from tools.rooms import trees

_AT = "tests/shared.bzl"
_FILE = "tests/shared/folder/first_test.py"
_TEXT = trees.FILES[_FILE]


class SharedTestsTest(trees.TreeTestCase):
  def _check(self, tests: str = trees.TESTS, text: str = _TEXT) -> list[str]:
    return shared_tests.check(self.write({_FILE: text}, tests=tests))

  def _check_listing(self, room: str, text: str = _TEXT) -> list[str]:
    """Checks a test that lists another room than math/high."""
    return self._check(trees.TESTS.replace("math/high", room), text)

  def test_tables_that_are_right_have_no_errors(self):
    self.assertEmpty(self._check())

  def test_a_missing_room_is_an_error(self):
    self.assert_one(
      self._check(text=_TEXT + "from phasic.graphs.models import queue\n"),
      f"{_AT}:7: folder/group imports graphs/models in {_FILE}:3: ",
      "add it to its rooms",
    )
    text = _TEXT.replace("phasic.math", "phasic.substrates.jax.math")
    for found in (_TEXT, text):
      errors = self._check_listing("math/low", found)
      self.assertLen(errors, 2)
      self.assertIn(f"{_AT}:7: folder/group imports math/high", errors[0])

  def test_a_room_of_a_helper_is_checked(self):
    tests = trees.TESTS.replace('["math/low"]', '["internal"]')
    errors = self._check(tests)
    self.assertLen(errors, 2)
    self.assertStartsWith(
      errors[0], f"{_AT}:3: cases imports math/low in tests/helpers/cases.py:3"
    )

  def test_a_superfluous_room_is_an_error(self):
    for room, part in (
      ("math/low", "comes with another"),
      ("graphs/last", "is not imported"),
      ("attic", "is not in phasic/rooms.bzl"),
      ("math/package", "comes with another"),
    ):
      with self.subTest(room):
        errors = self._check_listing(f'math/high",\n            "{room}')
        self.assert_one(errors, f"{_AT}:14: {room} of", part, "drop it")

  def test_a_whole_package_is_listed_by_who_needs_all_of_it(self):
    text = _TEXT + "from phasic import graphs\nfor name in vars(graphs): pass\n"
    errors = self._check(text=text)
    self.assert_one(
      errors, f"{_AT}:7: folder/group imports graphs in {_FILE}:4"
    )
    self.assert_one(
      self._check_listing("graphs"), f"{_AT}:13: graphs of", "is not imported"
    )
    self.assert_one(
      self._check_listing('math/high",\n            "graphs', text),
      f"{_AT}:13: math/high of",
      "comes with another",
    )
    self.assertEmpty(self._check_listing("graphs", text))

  def test_a_package_without_its_rooms_has_a_library_of_its_own(self):
    text = _TEXT.replace("average", "path")
    errors = self._check_listing("internal", text)
    self.assert_one(errors, f"{_AT}:7: folder/group imports math/package")
    lists = 'internal",\n            "math/package'
    self.assertEmpty(self._check_listing(lists, text))

  def test_who_names_all_of_phasic_need_not_import_it(self):
    self.assertEmpty(self._check_listing("phasic"))

  def test_a_missing_helper_is_an_error(self):
    text = _TEXT + "from tests.helpers import models\n"
    self.assert_one(
      self._check(text=text),
      f"{_AT}:7: folder/group imports models in {_FILE}:3",
      "add it to its helpers",
    )
    text = _TEXT + "from tests.generated.tf.helpers.models import x\n"
    self.assert_one(self._check(text=text), f"{_AT}:7: ", "add it to its")

  def test_a_superfluous_helper_is_an_error(self):
    lists = trees.TESTS.replace(
      '            "cases",', '            "cases",\n            "models",'
    )
    self.assert_one(
      self._check(lists), f"{_AT}:11: the helper models of folder/group", "drop"
    )

  def test_an_import_of_all_helpers_is_an_error(self):
    text = _TEXT + "from tests import helpers\n"
    self.assert_one(self._check(text=text), f"{_FILE}:3: ", "all helpers")

  def test_a_file_that_is_not_there_is_an_error(self):
    lists = trees.TESTS.replace(
      "first_test", 'first_test", "folder/second_test'
    )
    self.assert_one(
      self._check(lists), f"{_AT}:8: ", "folder/second_test.py", "drop it"
    )

  def test_a_missing_table_is_an_error(self):
    lists = trees.TESTS.replace("HELPERS", "OTHERS")
    self.assert_one(self._check(lists), f"{_AT}:1: the table HELPERS")


if __name__ == "__main__":
  absltest.main()
