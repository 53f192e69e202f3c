"""The order of native rooms, on trees that keep it and trees that do not."""

import pathlib

from absl.testing import absltest

from tools.rooms import native_rooms
from tools.rooms import tables

_RULES = """
ROOMS = {
    "low": [],
    "middle": ["low"],
    "high": [
        "low",
        "middle",
    ],
}
UPWARD = {}
"""
_FILES = {
  "low/a.h": "",
  "middle/b.h": '#include <vector>\n#include "native/low/a.h"\n',
  "high/c.cc": '#include "native/middle/b.h"\n',
}


class NativeTest(absltest.TestCase):
  def _check(self, rules: str = _RULES, **files: str) -> list[str]:
    root = pathlib.Path(self.create_tempdir().full_path)
    named = {name.replace("__", "/"): text for name, text in files.items()}
    for name, text in {**_FILES, **named, "rooms.bzl": rules}.items():
      path = root / "native" / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(text, encoding="utf-8")
    return native_rooms.check(root)

  def _assert_one(self, errors: list[str], start: str, part: str):
    self.assertLen(errors, 1, errors)
    self.assertStartsWith(errors[0], start)
    self.assertIn(part, errors[0])

  def test_a_tree_in_order_has_no_errors(self):
    self.assertEmpty(self._check())

  def test_an_include_from_above_is_an_error(self):
    text = '\n#include "native/high/d.h"\n'
    errors = self._check(**{"low__e.h": text, "high__d.h": ""})
    self._assert_one(errors, "native/low/e.h:2: ", "lies above low")

  def test_an_include_of_a_room_that_is_not_listed_is_an_error(self):
    rules = _RULES.replace('"middle": ["low"]', '"middle": []')
    errors = self._check(rules)
    self._assert_one(errors, "native/middle/b.h:2: ", "does not list")

  def test_tests_may_include_everything(self):
    text = '#include "native/high/d.h"\n'
    files = {"low__a_test.cc": text, "high__d.h": ""}
    self.assertEmpty(self._check(**files))

  def test_rules_that_allow_a_circle_are_an_error(self):
    rules = _RULES.replace('"low": []', '"low": ["high"]')
    errors = self._check(rules)
    self._assert_one(errors, "native/rooms.bzl:3: ", "circle")

  def test_an_unknown_room_in_the_rules_is_an_error(self):
    rules = _RULES.replace('["low"]', '["low", "attic"]')
    errors = self._check(rules)
    self._assert_one(
      errors, "native/rooms.bzl:4: ", "attic, which is not a room"
    )

  def test_a_file_outside_of_all_rooms_is_an_error(self):
    errors = self._check(**{"stray.h": ""})
    self._assert_one(errors, "native/stray.h:1: ", "outside of all rooms")
    errors = self._check(**{"attic__f_test.cc": ""})
    self._assert_one(errors, "native/attic/f_test.cc:1: ", "outside")

  def test_an_empty_room_is_an_error(self):
    rules = _RULES.replace('"low": [],', '"low": [],\n    "empty": [],')
    self._assert_one(self._check(rules), "native/rooms.bzl:4: ", "no sources")

  def test_a_room_that_is_too_full_is_an_error(self):
    files = {f"low__g{n}.h": "" for n in range(tables.MAX_SOURCES - 1)}
    self.assertEmpty(self._check(**files, **{"low__h_test.cc": ""}))
    errors = self._check(**files, **{"low__h.cc": ""})
    self._assert_one(errors, "native/rooms.bzl:3: ", "25 sources")

  def test_an_exception_allows_an_include(self):
    rules = _RULES.replace(
      "UPWARD = {}", 'UPWARD = {"native/low/e.h": ["native/high/d.h"]}'
    )
    text = '#include "native/high/d.h"\n'
    files = {"low__e.h": text, "high__d.h": ""}
    self.assertEmpty(self._check(rules, **files))

  def test_an_exception_that_is_not_needed_is_an_error(self):
    for header in ("native/high/d.h", "native/low/a.h"):
      with self.subTest(header):
        rules = _RULES.replace(
          "UPWARD = {}", f'UPWARD = {{"native/middle/b.h": ["{header}"]}}'
        )
        errors = self._check(rules)
        self._assert_one(errors, "native/rooms.bzl:10: ", "no longer includes")

  def test_rules_of_another_form_are_an_error(self):
    for rules, line, part in (
      ("ROOMS = {}\n", 1, "UPWARD is missing"),
      ("\nROOMS = {]\n", 2, "does not match"),
      ("ROOMS = []\nUPWARD = {}\n", 1, "a dictionary"),
      ('ROOMS = {\n"a": "b"}\nUPWARD = {}\n', 2, "a list"),
      ('ROOMS = {\n"a": [],\n"a": []}\nUPWARD = {}\n', 3, "twice"),
      ('ROOMS = {"a": [1]}\nUPWARD = {}\n', 1, "a string"),
    ):
      with self.subTest(rules):
        errors = self._check(rules)
        self._assert_one(errors, f"native/rooms.bzl:{line}: ", part)


if __name__ == "__main__":
  absltest.main()
