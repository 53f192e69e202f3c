"""Which tests are near to a change, on small tables of rooms and tests."""

from absl.testing import absltest

from tools.loops import targets
from tools.rooms import phasic_rooms

_RULES = """
PACKAGES = ["math", "top"]
ROOMS = {
    "internal": [],
    "math/low": ["internal"],
    "math/middle": ["math/low"],
    "top/high": ["math/middle"],
    "top/highest": ["math", "top/high"],
}
"""
_TESTS = """
HELPERS = {
    "cases": dict(helpers = ["base"]),
    "base": dict(rooms = ["math/low"]),
}
TESTS = {
    "a/low": dict(files = ["a/low_test"], rooms = ["math/low"]),
    "a/middle": dict(files = ["a/middle_test"], rooms = ["math/middle"]),
    "a/high": dict(files = ["a/x_test", "a/y_test"], rooms = ["top/high"]),
    "a/highest": dict(files = ["a/highest_test"], rooms = ["top/highest"]),
    "a/math": dict(files = ["a/math_test"], rooms = ["math"]),
    "a/all": dict(files = ["a/all_test"], rooms = ["phasic"]),
    "a/not_in_numpy": dict(
        files = ["a/none_test"],
        rooms = ["math/low"],
        disabled = {"numpy": "has no autodiff"},
    ),
    "low/above": dict(files = ["low/above_test"], rooms = ["top/high"]),
    "low/beside": dict(files = ["low/beside_test"], rooms = ["internal"]),
    "top/tests": dict(files = ["top/tests_test"], rooms = ["top/highest"]),
    "a/helped": dict(files = ["a/helped_test"], helpers = ["cases"]),
}
"""
_PACKAGES = {
  "",
  "phasic",
  "tests",
  "tests/jax",
  "native/kernel/model",
  "tools",
  "tools/rooms",
}


def _label(name: str, folder: str = "a") -> str:
  return f"//tests:shared/{folder}/{name}.numpy"


class TargetsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.rooms = phasic_rooms.Rooms(_RULES)
    self.tests = targets.numpy_tests(_TESTS)

  def _near(self, *files: str) -> dict[str, int]:
    return targets.near(files, self.rooms, self.tests, _PACKAGES)

  def test_the_tests_of_a_room_and_of_those_right_above(self):
    self.assertEqual(
      self._near("phasic/math/low/a.py"),
      {
        _label("low"): targets.ROOM,
        _label("above", "low"): targets.ROOM,
        _label("tests", "top"): targets.ABOVE,
        _label("middle"): targets.ABOVE,
        _label("highest"): targets.ABOVE,
        _label("math"): targets.BROAD,
        _label("all"): targets.BROAD,
        _label("helped"): targets.BROAD,
      },
    )

  def test_the_highest_room_has_its_own_and_the_broad_tests(self):
    self.assertEqual(
      self._near("phasic/top/highest/a.py"),
      {
        _label("highest"): targets.ROOM,
        _label("tests", "top"): targets.ROOM,
        _label("all"): targets.BROAD,
      },
    )

  def test_a_package_is_named_by_its_rooms(self):
    self.assertEqual(
      self._near("phasic/top/__init__.py"),
      {
        _label("high"): targets.ABOVE,
        _label("highest"): targets.ABOVE,
        _label("above", "low"): targets.ABOVE,
        _label("tests", "top"): targets.ABOVE,
        _label("all"): targets.BROAD,
      },
    )

  def test_a_test_file_has_its_target(self):
    self.assertEqual(
      self._near("tests/shared/a/y_test.py"), {_label("high"): targets.OWN}
    )

  def test_a_helper_has_all_that_use_it(self):
    for name in ("base", "cases"):
      self.assertEqual(
        self._near(f"tests/helpers/{name}.py"),
        {_label("helped"): targets.ABOVE},
      )

  def test_native_rooms_and_tools_have_their_packages(self):
    near = self._near("native/kernel/model/new/a.cc", "tools/rooms/a.py")
    self.assertEqual(near["//native/kernel/model:all"], targets.OWN)
    self.assertEqual(near["//tools/rooms:all"], targets.OWN)
    self.assertIn("//tests:shared/kernel/value_tests.numpy", near)

  def test_folders_outside_of_rooms(self):
    for file, label in (
      ("docs/page.md", "//tests/documents:all"),
      ("README.md", "//tests/documents:all"),
      ("substrates/tf/a.py", "//tests/tf/seam:all"),
      ("substrates/meta/a.py", "//substrates/meta:all"),
      ("phasic/include/a.h", "//tests/numpy:native_tests"),
    ):
      with self.subTest(file):
        self.assertIn(label, self._near(file))

  def test_other_files_have_no_test(self):
    self.assertEmpty(self._near("LICENSE", "phasic/py.typed", "docs.txt"))

  def test_the_lowest_rank_counts(self):
    near = self._near("phasic/math/low/a.py", "tests/shared/a/low_test.py")
    self.assertEqual(near[_label("low")], targets.OWN)

  def test_test_files_outside_of_the_tables_are_queried(self):
    files = ["tests/jax/a_test.py", "tests/jax/gone_test.py", "phasic/a.py"]
    self.assertEqual(
      targets.own_queries(files, _PACKAGES, {"tests/jax/a_test.py"}),
      ["tests(rdeps(//tests/jax:all, //tests/jax:a_test.py))"],
    )

  def test_tests_that_run_together(self):
    build = 'py_test_package(needs = ["a"], together = {"all": ["b", "c"]})'
    self.assertEqual(targets.groups(build), {"all": ["b", "c"]})
    self.assertEmpty(targets.groups('py_test_package(needs = ["a"])'))

  def test_what_is_near_and_short_is_chosen(self):
    ranks = {"a": 2, "b": 1, "c": 1, "d": 3, "e": 3}
    seconds = {"a": 5.0, "b": 8.0, "c": 3.0, "d": 1.0, "e": 9.0}
    self.assertEqual(
      targets.within(ranks, seconds, 12.0), (["c", "b", "d"], ["a", "e"])
    )

  def test_what_is_unknown_takes_a_median_time(self):
    ranks = {"a": 1, "b": 1, "c": 1}
    self.assertEqual(
      targets.within(ranks, {"a": 4.0, "b": 6.0}, 10.0),
      (["a", "b"], ["c"]),
    )
    self.assertEqual(targets.within(ranks, {}, 0.0), (["a", "b", "c"], []))

  def test_long_tests_are_known_to_be_long(self):
    long = max(targets.LONG, key=lambda label: targets.LONG[label])
    ranks = {"a": 1, long: 1}
    self.assertEqual(targets.within(ranks, {"a": 4.0}, 10.0), (["a"], [long]))

  def test_own_and_first_tests_are_chosen_whatever_they_cost(self):
    seconds = {"a": 50.0, "b": 60.0}
    own = {"a": targets.OWN, "b": targets.OWN}
    self.assertEqual(targets.within(own, seconds, 1.0), (["a", "b"], []))
    near = {"a": targets.ROOM, "b": targets.ROOM}
    self.assertEqual(targets.within(near, seconds, 1.0), (["a"], ["b"]))

  def test_what_a_query_starts_from(self):
    files = [
      "phasic/math/low/a.py",
      "phasic/math/low/gone.py",
      "tests/jax/BUILD",
      "tests/shared.bzl",
      "README.md",
    ]
    self.assertEqual(
      targets.roots(files, _PACKAGES, set(files) - {"phasic/math/low/gone.py"}),
      [
        "//:README.md",
        "//phasic:all",
        "//phasic:math/low/a.py",
        "//tests/...",
        "//tests/jax:all",
      ],
    )
    everything = ["build_defs.bzl", "phasic/a.py"]
    self.assertEqual(
      targets.roots(everything, _PACKAGES, set(everything)), ["//..."]
    )

  def test_whole_house(self):
    self.assertTrue(targets.is_whole_house("//tests/wheel:wheel_test"))
    self.assertTrue(
      targets.is_whole_house("//tests:shared/contract/doctests.jax")
    )
    self.assertFalse(
      targets.is_whole_house("//tests:shared/contract/contract_tests.jax")
    )


if __name__ == "__main__":
  absltest.main()
