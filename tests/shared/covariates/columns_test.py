"""Columns of tables of covariates."""

import importlib.util
import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import pandas

from phasic import covariates
from tests.helpers import test_case

_TABLE = {
  "age": onp.asarray([60.0, 71.0, 48.0]),
  "sex": ["f", "m", "f"],
  "dose": [1, 0, 1],
  "ill": [True, False, False],
}
_BAD = {
  "age": [60.0, math.nan, math.inf],
  "none": [1, None, 3],
  "sex": ["f", "m", None],
  "mixed": onp.asarray([1, "m", 2], dtype=object),
  "objects": [object(), object()],
  "day": onp.asarray(["2020-01-01"], dtype="datetime64[D]"),
  "stay": onp.asarray([1], dtype="timedelta64[D]"),
  "phase": [1j],
  "matrix": onp.ones((2, 2)),
  "empty": [],
}


class ColumnsTest(test_case.TestCase):
  def _column(self, table, name, dtype_kinds):
    values = covariates.column(table, name)
    self.assertIsInstance(values, onp.ndarray)
    self.assertIn(values.dtype.kind, dtype_kinds)
    return values.tolist()

  @parameterized.parameters(
    lambda x: x,
    pandas.DataFrame,
    lambda x: pandas.DataFrame(x).convert_dtypes(),
    lambda x: pandas.DataFrame(x, index=["c", "b", "a"]),
  )
  def test_tables(self, table_of):
    table = table_of(_TABLE)
    self.assertEqual(self._column(table, "age", "fi"), [60.0, 71.0, 48.0])
    self.assertEqual(self._column(table, "sex", "U"), ["f", "m", "f"])
    self.assertEqual(self._column(table, "dose", "i"), [1, 0, 1])
    self.assertEqual(self._column(table, "ill", "b"), [True, False, False])

  def test_polars(self):
    if importlib.util.find_spec("polars") is None:
      self.skipTest("polars is not installed")
    table = importlib.import_module("polars").DataFrame(_TABLE)
    self.assertEqual(self._column(table, "sex", "U"), ["f", "m", "f"])
    self.assertEqual(self._column(table, "dose", "i"), [1, 0, 1])

  def test_other_numbers(self):
    table = {
      "half": onp.asarray([0.5, 2.0], dtype=onp.float16),
      "objects": onp.asarray([0.5, 2], dtype=object),
      "single": onp.asarray([0.5, 2.0], dtype=onp.float32),
    }
    for name in table:
      self.assertEqual(self._column(table, name, "f"), [0.5, 2.0])
    self.assertEqual(covariates.column(table, "single").dtype, onp.float32)

  def test_labels_with_an_order_are_labels(self):
    table = {"stage": pandas.Categorical(["b", "a"], categories=["b", "a"])}
    self.assertEqual(self._column(table, "stage", "U"), ["b", "a"])

  def test_number_of_rows(self):
    values = covariates.column(_TABLE, "sex", num_rows=3)
    self.assertEqual(values.tolist(), ["f", "m", "f"])
    with self.assertRaisesRegex(
      ValueError, "num_rows is 2, and column 'sex' has 3 rows: there must be"
    ):
      covariates.column(_TABLE, "sex", num_rows=2)
    for num_rows in ("3", 3.0, True):
      with self.assertRaisesRegex(TypeError, "num_rows is .* an integer"):
        covariates.column(_TABLE, "sex", num_rows=num_rows)

  @parameterized.parameters(
    ("age", ValueError, r"'age' is nan in row 1: .* finite .* rows \[1, 2\]"),
    ("none", ValueError, r"'none' is None in row 1: .* value .* rows \[1\]"),
    ("sex", ValueError, r"'sex' is None in row 2: .* value .* rows \[2\]"),
    ("mixed", TypeError, "'mixed' holds Python objects: .* numbers or text"),
    ("objects", TypeError, "'objects' holds Python objects"),
    ("day", TypeError, "'day' holds dates: subtract an origin"),
    ("stay", TypeError, "'stay' holds durations: divide by a unit"),
    ("phase", TypeError, "'phase' holds complex numbers"),
    ("matrix", ValueError, r"'matrix' has shape \(2, 2\)"),
    ("empty", ValueError, "'empty' has no rows: it must have at least one"),
    (
      "agee",
      ValueError,
      "name is 'agee': .* one of the columns .*'age', 'none'",
    ),
    (3, TypeError, "name is 3: it must be a string"),
  )
  def test_refused(self, name, error, message):
    with self.assertRaisesRegex(error, message):
      covariates.column(_BAD, name)

  def test_values_that_pandas_calls_missing(self):
    table = pandas.DataFrame(
      {
        "number": pandas.array([1, None], dtype="Int64"),
        "text": pandas.array(["a", None], dtype="string"),
        "label": pandas.Categorical(["a", None]),
      }
    )
    for name in table.columns:
      with self.assertRaisesRegex(ValueError, rf"'{name}' is .* in row 1: "):
        covariates.column(table, name)

  def test_labels_that_look_like_numbers(self):
    ages = [str(age) for age in range(40, 51)]
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      covariates.column({"grade": ages[:10]}, "grade")
      covariates.column({"sex": [*ages, "other"]}, "sex")
      labels = {"age": pandas.Categorical(ages)}
      self.assertEqual(self._column(labels, "age", "U"), ages)
    with self.assertWarnsRegex(
      RuntimeWarning, "'age' is text, and its 11 labels are numbers, .*'40'"
    ):
      covariates.column({"age": ages}, "age")

  @parameterized.parameters("", "  ")
  def test_an_empty_label_is_refused(self, label):
    with self.assertRaisesRegex(
      ValueError, rf"'sex' is '{label}' in row 1: it must have a label .*\[1\]"
    ):
      covariates.column({"sex": ["f", label]}, "sex")

  @parameterized.parameters(
    ("data.csv", "read the file first"),
    ([1.0], "a DataFrame, or a mapping"),
    (None, "the table with the columns"),
  )
  def test_no_table(self, table, message):
    with self.assertRaisesRegex(TypeError, f"covariates is .*: .*{message}"):
      covariates.column(table, "age")


if __name__ == "__main__":
  absltest.main()
