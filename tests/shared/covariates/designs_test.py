"""Designs of arrays and of named columns, and their refusals."""

import ast
import math
import pickle
import re

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import numpy as np
import numpy as onp
import pandas

from phasic import covariates
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax

_TABLE = {
  "age": [60, 71, 48, 55],
  "dose": [0.5, 1.0, 2.0, 0.25],
  "ill": [True, False, False, True],
  "sex": ["f", "m", "f", "m"],
}


def _normal(seed, *shape):
  return onp.random.default_rng(seed).normal(size=shape)


class DesignsTest(test_case.TestCase):
  def _assert_same(self, design, again):
    self.assertEqual(again.names, design.names)
    onp.testing.assert_array_equal(again.matrix, design.matrix)
    self.assertFalse(again.matrix.flags.writeable)

  @parameterized.parameters(lambda x: x, pandas.DataFrame)
  def test_names(self, table_of):
    table = table_of(_TABLE)
    design = covariates.design(["dose", "age", "ill"], table)
    self.assertEqual(design.names, ("dose", "age", "ill"))
    expected = [[0.5, 60, 1], [1, 71, 0], [2, 48, 0], [0.25, 55, 1]]
    self.assertEqual(design.matrix.tolist(), expected)
    self.assertEqual(design.matrix.dtype, onp.float64)
    other = {"ill": [False], "dose": [3.0], "age": [80]}
    self.assertEqual(design.evaluate(other).tolist(), [[3.0, 80.0, 0.0]])
    self.assertEqual(
      repr(covariates.design(("age",), table)),
      ("Design(names=('age',), num_rows=4)"),
    )
    self._assert_same(design, pickle.loads(pickle.dumps(design)))

  def test_arrays(self):
    values = _normal(0, 5, 2)
    design = covariates.design(np.asarray(values))
    self.assertEqual(design.names, ("x[0]", "x[1]"))
    onp.testing.assert_array_equal(design.matrix, values)
    onp.testing.assert_array_equal(
      design.evaluate(2.0 * values[:1]), 2 * values[:1]
    )
    vector = covariates.design(
      np.asarray(values[:, 0]),
      _TABLE | {name: [*column, column[0]] for name, column in _TABLE.items()},
    )
    self.assertEqual(vector.names, ("x",))
    onp.testing.assert_array_equal(vector.matrix, values[:, :1])
    self.assertEqual(vector.evaluate([3.0, 4]).tolist(), [[3.0], [4.0]])
    for each in (design, vector):
      again = pickle.loads(pickle.dumps(each))
      self._assert_same(each, again)
    self.assertEqual(again.evaluate([3.0]).tolist(), [[3.0]])
    self.assertEqual(
      covariates.design([True, False]).evaluate([1]).tolist(), [[1]]
    )

  def test_it_is_immutable(self):
    values = _normal(1, 4)
    design = covariates.design(values)
    first = values[0]
    values[0] = 7.0
    self.assertEqual(design.matrix[0, 0], first)
    with self.assertRaisesRegex(ValueError, "read-only"):
      design.matrix[0, 0] = 1.0
    with self.assertRaisesRegex(AttributeError, "immutable: names"):
      design.names = ()
    with self.assertRaisesRegex(AttributeError, "immutable: matrix"):
      del design.matrix

  @hypothesis.given(
    seed=strategies.integers(0, 2**32 - 1),
    exponents=strategies.lists(
      strategies.integers(-300, 300), min_size=1, max_size=4
    ),
    offset=strategies.sampled_from([0.0, 3.0, -1e3]),
  )
  @hypothesis.settings(max_examples=40, deadline=None)
  def test_scales_do_not_matter(self, seed, exponents, offset):
    values = _normal(seed, 12, len(exponents)) + offset
    values = values * 10.0 ** onp.asarray(exponents, dtype=float)
    design = covariates.design(values)
    onp.testing.assert_array_equal(design.matrix, values)
    onp.testing.assert_array_equal(design.evaluate(values[3:5]), values[3:5])

  @hypothesis.given(
    seed=strategies.integers(0, 2**32 - 1),
    parts=strategies.sets(strategies.integers(0, 3), min_size=1),
    shift=strategies.sampled_from([0.0, 2.0]),
    scale=strategies.sampled_from([1e-8, 1.0, 1e8]),
  )
  @hypothesis.settings(max_examples=40, deadline=None)
  def test_collinear_columns_are_named(self, seed, parts, shift, scale):
    values = _normal(seed, 15, 5)
    last = sum((j + 1.0) * values[:, j] for j in sorted(parts)) + shift
    # The column after it takes no part.
    values = onp.column_stack([values[:, :4], scale * last, values[:, 4]])
    with self.assertRaisesRegex(ValueError, "collinear") as caught:
      covariates.design(values)
    listed = re.search(r"columns (\[.*?'\]) are", str(caught.exception))[1]
    expected = [f"x[{j}]" for j in [*sorted(parts), 4]]
    self.assertEqual(ast.literal_eval(listed), expected)

  def test_how_close_is_collinear(self):
    values = _normal(3, 20, 2)
    for distance, is_refused in ((1e-8, False), (1e-12, True)):
      near = onp.column_stack([values[:, 0], values @ [1.0, distance]])
      if is_refused:
        with self.assertRaisesRegex(ValueError, "collinear"):
          covariates.design(near)
      else:
        covariates.design(near)

  def test_more_columns_than_rows_are_collinear(self):
    # With a constant, two rows can tell one column, and three rows two.
    for num_rows in (2, 3):
      covariates.design(_normal(4, num_rows, num_rows - 1))
      for more in (0, 3):
        with self.assertRaisesRegex(ValueError, "collinear"):
          covariates.design(_normal(4, num_rows, num_rows + more))

  @parameterized.parameters(
    ([[0.0, 1.0], [0.0, 2.0]], r"'x\[0\]' is 0.0 in all rows: it must vary"),
    ([3.0, 3.0], "'x' is 3.0 in all rows: .* place of an intercept"),
    ([0.3, 0.1 + 0.2], "'x' is 0.3 in all rows"),
    ([5.0], "'x' is 5.0 in all rows"),
  )
  def test_constant_columns(self, effect, message):
    with self.assertRaisesRegex(ValueError, message):
      covariates.design(effect)

  @parameterized.parameters(
    ([[1.0, 2.0], [math.nan, 1.0]], r"'x\[0\]' is nan in row 1"),
    ([1.0, math.inf, -math.inf], r"'x' is inf in row 1: .* rows \[1, 2\]"),
    (3.0, r"effect has shape \(\): it must have shape \(n,\) or \(n, k\)"),
    (onp.ones((2, 2, 2)), r"effect has shape \(2, 2, 2\)"),
    (onp.ones((0, 2)), r"effect has shape \(0, 2\): .* one row"),
    (onp.ones((2, 0)), r"effect has shape \(2, 0\): .* one column"),
    ([], r"effect is \[\]: it must name at least one column"),
    ([[1.0], [1.0, 2.0]], "effect is ragged"),
  )
  def test_bad_values(self, effect, message):
    with self.assertRaisesRegex(ValueError, message):
      covariates.design(effect)

  @parameterized.parameters(
    (None, "effect is None: it must be an array"),
    (b"age", "effect holds bytes"),
    ([["a"]], "effect holds text"),
    ([1.0, None], "effect holds Python objects"),
    ([1j, 2.0], "effect holds complex numbers"),
    (_TABLE, "effect is a table: .* design of their names"),
    (pandas.DataFrame(_TABLE), "effect is a table"),
  )
  def test_bad_types(self, effect, message):
    with self.assertRaisesRegex(TypeError, message):
      covariates.design(effect)

  @parameterized.parameters(
    (
      ["agee"],
      ValueError,
      "effect names 'agee': .* one of the columns .*'age'",
    ),
    (
      ["age", "sex"],
      TypeError,
      r"'sex' holds labels: .* formula with C\(sex\)",
    ),
    (["age", "age"], ValueError, r"columns \['age', 'age'\] are collinear"),
    ([1.0, 2.0], ValueError, "effect has 2 rows, and covariates has 4: "),
  )
  def test_of_tables(self, effect, error, message):
    with self.assertRaisesRegex(error, message):
      covariates.design(effect, _TABLE)

  def test_other_tables(self):
    with self.assertRaisesRegex(TypeError, r"covariates is None: .*\['age'\]"):
      covariates.design(["age"])
    with self.assertRaisesRegex(
      ValueError, "different numbers of rows: 'age' 1"
    ):
      covariates.design(["age", "dose"], {"age": [1], "dose": [1, 2]})
    grades = {"grade": pandas.Categorical([1, 2, 1])}
    with self.assertRaisesRegex(
      TypeError, r"'grade' holds labels: .*C\(grade\)"
    ):
      covariates.design(["grade"], grades)
    design = covariates.design(["age", "dose"], _TABLE)
    for table, message in (
      ({"age": [1]}, r"effect names 'dose': .*, \['age'\]"),
      ({"age": [1, None], "dose": [1, 2]}, "'age' is None in row 1"),
      ({"age": [1], "dose": [1, 2]}, "different numbers of rows"),
      ({"age": [], "dose": []}, "'age' has no rows"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        design.evaluate(table)

  def test_other_arrays(self):
    values = _normal(5, 6, 2)
    design, vector = covariates.design(values), covariates.design(values[:, 0])
    for each, array, message in (
      (design, values[0], r"shape \(2,\): it must have shape \(m, 2\)"),
      (design, values[:, :1], r"shape \(6, 1\): it must have shape \(m, 2\)"),
      (vector, values, r"shape \(6, 2\): it must have shape \(m,\)"),
      (vector, [1.0, math.nan], "'x' is nan in row 1"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        each.evaluate(array)
    with self.assertRaisesRegex(
      TypeError, "covariates is a table: it must be an"
    ):
      design.evaluate(_TABLE)

  def test_traced_arrays(self):
    if MODE == "jax":
      with self.assertRaisesRegex(
        TypeError, "effect is traced: .* known values"
      ):
        jax.jit(lambda x: covariates.design(x).matrix)(np.ones(3))


if __name__ == "__main__":
  absltest.main()
