"""Which tests a change reaches, and which are near, on a small graph."""

from absl.testing import absltest

from tools.loops import targets

# Each rule: its class, and what it has or needs.
_RULES = {
  "//phasic:low.rewritten": ("genrule", ["//phasic:math/low/a.py"]),
  "//phasic:low.numpy": ("py_library", ["//phasic:out/low/a.py"]),
  "//phasic:high.numpy": ("py_library", ["//phasic:low.numpy"]),
  "//phasic:top.numpy": ("py_library", ["//phasic:high.numpy"]),
  "//phasic:low.jax": ("py_library", ["//phasic:out/low/a.py"]),
  "//tests:shared/a/low.numpy": (
    "py_test",
    ["//tests:shared/a/low_test.py", "//phasic:low.numpy"],
  ),
  "//tests:shared/a/low.jax": (
    "py_test",
    ["//tests:shared/a/low_test.py", "//phasic:low.jax"],
  ),
  "//tests:shared/low/high.numpy": ("py_test", ["//phasic:high.numpy"]),
  "//tests:shared/a/top.numpy": ("py_test", ["//phasic:top.numpy"]),
  "//tests:shared/a/full.numpy": ("py_test", ["//phasic:low.numpy"]),
  "//tests/wheel:wheel_test": ("py_test", ["//:LICENSE", "//phasic:low.jax"]),
  "//native/kernel/model:model": ("cc_library", ["//native/kernel/model:a.h"]),
  "//native/kernel/model:a_test": ("cc_test", ["//native/kernel/model:model"]),
  "//native/kernel/batch:batch": (
    "cc_library",
    ["//native/kernel/model:model"],
  ),
  "//native/kernel/batch:b_test": ("cc_test", ["//native/kernel/batch:batch"]),
  "//tests:shared/kernel/value_tests.numpy": (
    "py_test",
    ["//native/kernel/batch:batch"],
  ),
}
_SLOW = '<list name="tags"><string value="slow"/></list>'


def _graph() -> targets.Graph:
  text = ""
  for name, (kind, inputs) in _RULES.items():
    text += f'<rule class="{kind}" name="{name}">'
    text += "".join(f'<rule-input name="{x}"/>' for x in inputs)
    if kind == "genrule":
      text += '<rule-output name="//phasic:out/low/a.py"/>'
    text += (_SLOW if "full" in name else "") + "</rule>"
  return targets.Graph(f"<query>{text}</query>".encode())


class TargetsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.graph = _graph()

  def _near(self, file: str, package: str) -> dict[str, int]:
    reached = self.graph.reached(self.graph.of_file(file, package))
    fast = {x: n for x, n in reached.items() if x not in self.graph.slow}
    return targets.near(file, fast)

  def test_libraries_are_between_a_file_and_its_tests(self):
    starts = self.graph.of_file("phasic/math/low/a.py", "phasic")
    self.assertEqual(
      self.graph.reached(starts),
      {
        "//tests:shared/a/low.numpy": 1,
        "//tests:shared/a/low.jax": 1,
        "//tests:shared/a/full.numpy": 1,
        "//tests:shared/low/high.numpy": 2,
        "//tests:shared/a/top.numpy": 3,
        "//tests/wheel:wheel_test": 1,
      },
    )
    self.assertEqual(self.graph.slow, {"//tests:shared/a/full.numpy"})

  def test_rules_of_a_package(self):
    starts = self.graph.of_package("native/kernel/batch")
    self.assertLen(starts, 2)
    self.assertEqual(
      self.graph.reached(starts),
      {
        "//native/kernel/batch:b_test": 1,
        "//tests:shared/kernel/value_tests.numpy": 1,
      },
    )

  def test_a_file_that_no_rule_has(self):
    self.assertEmpty(self.graph.of_file("phasic/py.typed", "phasic"))

  def test_near_are_tests_of_numpy_of_the_room_and_the_next(self):
    self.assertEqual(
      self._near("phasic/math/low/a.py", "phasic"),
      {"//tests:shared/a/low.numpy": 2, "//tests:shared/low/high.numpy": 3},
    )

  def test_a_test_file_has_its_target(self):
    self.assertEqual(
      self._near("tests/shared/a/low_test.py", "tests"),
      {"//tests:shared/a/low.numpy": 0},
    )

  def test_near_to_native_code_are_its_own_tests_and_one_in_python(self):
    self.assertEqual(
      self._near("native/kernel/model/a.h", "native/kernel/model"),
      {
        "//native/kernel/model:a_test": 2,
        "//tests:shared/kernel/value_tests.numpy": 1,
      },
    )

  def test_a_test_of_everything_is_near_where_it_is_the_only_one(self):
    self.assertEqual(self._near("LICENSE", ""), {"//tests/wheel:wheel_test": 0})

  def test_what_is_near_and_short_is_chosen(self):
    ranks = {"a": 2, "b": 1, "c": 1, "d": 3, "e": 3}
    seconds = {"a": 5.0, "b": 8.0, "c": 3.0, "d": 1.0, "e": 9.0}
    self.assertEqual(
      targets.within(ranks, seconds, 12.0), (["c", "b", "d"], ["a", "e"])
    )

  def test_what_is_unknown_takes_a_median_time_or_is_known_to_be_long(self):
    long = max(targets.LONG, key=lambda label: targets.LONG[label])
    ranks = {"a": 1, "b": 1, "c": 1, long: 1}
    self.assertEqual(
      targets.within(ranks, {"a": 4.0, "b": 6.0}, 10.0),
      (["a", "b"], ["c", long]),
    )

  def test_own_and_first_tests_are_chosen_whatever_they_cost(self):
    seconds = {"a": 50.0, "b": 60.0}
    for rank, chosen in ((0, ["a", "b"]), (1, ["a"])):
      ranks = dict.fromkeys(seconds, rank)
      self.assertEqual(targets.within(ranks, seconds, 1.0)[0], chosen)


if __name__ == "__main__":
  absltest.main()
