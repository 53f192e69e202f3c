"""Which tests a change reaches, and which are near, on a small graph."""

from absl.testing import absltest

from tools.loops import targets

_ROOM = "phasic/math/low/a.py"
# A line is a rule: its class, its label, and what it has or needs.
_RULES = """
genrule //phasic:low.rewritten //phasic:math/low/a.py
py_library //phasic:low.numpy //phasic:out/low/a.py
py_library //phasic:low.jax //phasic:out/low/a.py
py_library //phasic:high.numpy //phasic:low.numpy
py_library //phasic:top.numpy //phasic:high.numpy
py_test //tests:shared/a/low.numpy //tests:shared/low_test.py //phasic:low.numpy
py_test //tests:shared/a/low.jax //tests:shared/low_test.py //phasic:low.jax
py_test //tests:shared/a/full.numpy //phasic:low.numpy
py_test //tests:shared/low/high.numpy //phasic:high.numpy
py_test //tests:shared/a/top.numpy //phasic:top.numpy
py_test //tests/wheel:wheel_test //:LICENSE //phasic:low.jax
py_test //tests/numpy:seam_test //substrates/jax:arrays.py
py_library //phasic:internal.jax //substrates/jax:arrays.py
py_test //tests/jax/seam:seam_tests //phasic:internal.jax
cc_library //native:kernel/model/model //native:kernel/model/a.h
cc_test //native:kernel/model/a_test //native:kernel/model/model
cc_library //native:kernel/batch/batch //native:kernel/model/model
cc_test //native:kernel/batch/b_test //native:kernel/batch/batch
py_test //tests:shared/kernel/value_tests.numpy //native:kernel/batch/batch
"""


def _xml(line: str) -> str:
  kind, label, *inputs = line.split()
  parts = [f'<rule-input name="{x}"/>' for x in inputs]
  if kind == "genrule":
    parts.append('<rule-output name="//phasic:out/low/a.py"/>')
  if "full" in label:
    parts.append('<list name="tags"><string value="slow"/></list>')
  return f'<rule class="{kind}" name="{label}">{"".join(parts)}</rule>'


class TargetsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    rules = "".join(map(_xml, _RULES.strip().splitlines()))
    self.graph = targets.Graph(f"<query>{rules}</query>".encode())

  def _near(self, file: str, package: str) -> dict[str, int]:
    reached = self.graph.reached(self.graph.of_file(file, package))
    fast = {x: n for x, n in reached.items() if x not in self.graph.slow}
    return targets.near(file, fast)

  def test_libraries_are_between_a_file_and_its_tests(self):
    self.assertEqual(
      self.graph.reached(self.graph.of_file(_ROOM, "phasic")),
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

  def test_a_package_reaches_its_tests_and_those_above(self):
    starts = self.graph.of_package("native")
    tests = {
      "//native:kernel/batch/b_test",
      "//native:kernel/model/a_test",
      "//tests:shared/kernel/value_tests.numpy",
    }
    self.assertEqual(self.graph.reached(starts), dict.fromkeys(tests, 1))

  def test_a_file_that_no_rule_has(self):
    self.assertEmpty(self.graph.of_file("phasic/py.typed", "phasic"))

  def test_near_are_tests_of_numpy_of_the_room_and_the_next(self):
    near = {"//tests:shared/a/low.numpy": 2, "//tests:shared/low/high.numpy": 3}
    self.assertEqual(self._near(_ROOM, "phasic"), near)

  def test_a_seam_is_tried_by_its_own_tests(self):
    near = {"//tests/numpy:seam_test": 0, "//tests/jax/seam:seam_tests": 1}
    self.assertEqual(
      self._near("substrates/jax/arrays.py", "substrates/jax"), near
    )

  def test_a_test_file_has_its_target(self):
    near = {"//tests:shared/a/low.numpy": 0}
    self.assertEqual(self._near("tests/shared/low_test.py", "tests"), near)

  def test_near_to_native_code_are_its_own_tests_and_one_in_python(self):
    self.assertEqual(
      self._near("native/kernel/model/a.h", "native"),
      {
        "//native:kernel/model/a_test": 1,
        "//tests:shared/kernel/value_tests.numpy": 1,
      },
    )

  def test_a_test_of_everything_is_near_where_it_is_the_only_one(self):
    near = {"//tests/wheel:wheel_test": 0}
    self.assertEqual(self._near("LICENSE", ""), near)

  def test_what_is_near_and_short_is_chosen(self):
    ranks = {"a": 2, "b": 1, "c": 1, "d": 3, "e": 3}
    seconds = {"a": 5.0, "b": 8.0, "c": 3.0, "d": 1.0, "e": 9.0}
    chosen = (["c", "b", "d"], ["a", "e"])
    self.assertEqual(targets.within(ranks, seconds, 12.0), chosen)

  def test_what_is_unknown_takes_a_median_time_or_is_known_to_be_long(self):
    long = max(targets.LONG, key=lambda label: targets.LONG[label])
    found = targets.within(
      {"a": 1, "b": 1, "c": 1, long: 1}, {"a": 4.0, "b": 6.0}, 10.0
    )
    self.assertEqual(found, (["a", "b"], ["c", long]))

  def test_own_and_first_tests_are_chosen_whatever_they_cost(self):
    seconds = {"a": 50.0, "b": 60.0}
    for rank, chosen in ((0, ["a", "b"]), (1, ["a"])):
      ranks = dict.fromkeys(seconds, rank)
      self.assertEqual(targets.within(ranks, seconds, 1.0)[0], chosen)


if __name__ == "__main__":
  absltest.main()
