"""Observations from tables."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import inference
from tests.helpers import test_case

_INF, _NAN = math.inf, math.nan


class _Missing:
  """A missing value like pandas', without truth value."""

  def __ne__(self, other):
    raise TypeError("boolean value of NA is ambiguous")


_Missing.__name__ = "NAType"


class _Column:
  """A column of a table, like those of table libraries."""

  def __init__(self, values):
    self._values = values

  def to_numpy(self):
    return self._values


class _Table:
  """A table with pandas' interface for columns."""

  def __init__(self, **columns):
    self._columns = columns
    self.columns = list(columns)

  def __getitem__(self, name):
    return _Column(self._columns[name])


def _objects(*values):
  found = onp.empty(len(values), dtype=object)
  found[:] = values
  return found


class TablesTest(test_case.TestCase):
  def _ends(self, table, **names):
    data = inference.Observations.from_table(table, **names)
    return [
      None if x is None else self.host(x).tolist()
      for x in (data.lower, data.upper, data.weights, data.entry, data.cause)
    ]

  def test_times_and_events(self):
    table = _Table(
      days=onp.asarray([3, 5, 9]),
      died=_objects(True, False, True),
      enter=_objects(1.0, None, _Missing()),
      n=onp.asarray([1, 2, 1]),
      why=_objects("a", None, "b"),
    )
    found = self._ends(
      table,
      time="days",
      event="died",
      entry="enter",
      weight="n",
      cause="why",
      causes=(None, "a", "b"),
    )
    self.assertEqual(found[0], [3.0, 5.0, 9.0])
    self.assertEqual(found[1], [3.0, _INF, 9.0])
    self.assertEqual(found[2:], [[1, 2, 1], [1.0, -1.0, -1.0], [1, -1, 2]])
    self.assertEqual(self._ends(table, time="days")[1], [3.0, 5.0, 9.0])

  def test_ends(self):
    table = {"from": _objects(1.0, None, 2.0), "to": [1.5, 3.0, _NAN]}
    found = self._ends(table, lower="from", upper="to")
    self.assertEqual(found[:2], [[1.0, -1.0, 2.0], [1.5, 3.0, _INF]])

  @parameterized.parameters(
    (
      {"time": "t", "event": "x"},
      "event is 'x': it must be one of the table's columns",
    ),
    ({"event": "e"}, r"given columns are \['event'\]: give either time"),
    (
      {"time": "t", "lower": "t", "upper": "t"},
      "'upper'.: give either time, or",
    ),
    ({}, r"given columns are \[\]: give either time, or time and event, or"),
    ({"time": "t", "event": "two"}, r"two\[1\] = 2.0: it must be bool, or 0"),
    (
      {"lower": "none", "upper": "none"},
      r"^none\[0\] = nan: one of 'none' and 'none' must be known",
    ),
    ({"lower": "minus", "upper": "gone"}, r"^minus\[1\] = -1.0: one of 'min"),
    ({"time": "t", "cause": "name"}, "'name' holds names: pass causes"),
    (
      {"time": "t", "cause": "name", "causes": ["a"]},
      "has the cause 'b': it mu",
    ),
    ({"time": "gone"}, r"gone\[1\] = nan: it must be a number"),
    ({"time": "gone", "event": "e"}, r"gone\[1\] = nan: they must be >= 0"),
    ({"time": "t", "weight": "gone"}, r"gone\[1\] = nan: a weight must be"),
    ({"time": "minus"}, r"minus\[1\] = -1.0: values are times or counts"),
    ({"time": "t", "entry": "late"}, r"late\[0\] = 3.0: the exit must be"),
    ({"lower": "late", "upper": "t"}, r"t\[0\] = 1.0: it must be at least 'l"),
    ({"time": "far"}, r"far\[1\] = inf: it must be finite"),
    ({"time": "far", "event": "e"}, r"far\[1\] = inf: they must be .* finite"),
    ({"time": "t", "cause": "huge"}, r"huge\[1\] = 3000000000.0: it must be a"),
    ({"time": "wide"}, r"column 'wide' has shape \(2, 1\)"),
  )
  def test_bad_columns(self, names, message):
    table = {
      "t": [1.0, 2.0],
      "e": [0, 1],
      "two": [0, 2],
      "none": [_NAN, 1.0],
      "name": _objects("a", "b"),
      "gone": [1.0, _NAN],
      "minus": [1.0, -1.0],
      "late": [3.0, 1.0],
      "wide": onp.ones((2, 1)),
      "far": [1.0, _INF],
      "huge": [0.0, 3e9],
    }
    with self.assertRaisesRegex(ValueError, message):
      inference.Observations.from_table(table, **names)

  def test_a_path_is_not_a_table(self):
    with self.assertRaisesRegex(
      TypeError, "table is 'times.csv': it must be a table; read the file first"
    ):
      inference.Observations.from_table("times.csv")

  def test_whole_numbers_beside_float32(self):
    table = {
      "t": onp.asarray([1.5, 2.5], onp.float32),
      "w": onp.asarray([1, 3]),
      "since": _objects(None, 1),
    }
    data = inference.Observations.from_table(
      table, time="t", weight="w", entry="since"
    )
    for x, expected in (
      (data.lower, [1.5, 2.5]),
      (data.weights, [1.0, 3.0]),
      (data.entry, [-1.0, 1.0]),
    ):
      self.assertEqual(self.host(x).dtype, onp.float32)
      self.assertEqual(self.host(x).tolist(), expected)
    table["w"] = onp.asarray([1.0, 3.0])
    with self.assertRaisesRegex(
      TypeError, "w is float64 and t is float32|t is float32 and w is float64"
    ):
      inference.Observations.from_table(table, time="t", weight="w")
    table["w"] = onp.asarray([1j, 3.0])
    with self.assertRaisesRegex(
      TypeError, "'w' holds values that are not numbers: it must"
    ):
      inference.Observations.from_table(table, time="t", weight="w")

  def test_columns_of_other_lengths(self):
    for sizes in ((2, 1), (1, 2)):
      table = {"t": onp.ones(sizes[0]), "w": onp.ones(sizes[1])}
      with self.assertRaisesRegex(
        ValueError, f"numbers of rows: 't' {sizes[0]}, 'w' {sizes[1]}"
      ):
        inference.Observations.from_table(table, time="t", weight="w")

  @parameterized.parameters(
    (onp.asarray(["2001-02-03", "2001-02-04"], "M8[D]"), "dates: subtract"),
    (onp.asarray([1, 2], "m8[D]"), "durations: divide by a unit"),
    (onp.asarray(["1", "2"]), "text"),
    (_objects("1", 2.0), "text"),
  )
  def test_columns_without_numbers(self, column, message):
    with self.assertRaisesRegex(TypeError, f"column 't' holds {message}"):
      inference.Observations.from_table({"t": column}, time="t")

  def test_columns_of_missing_values_and_of_objects(self):
    # A column may be lost wholly where another one knows.
    table = {
      "from": _objects(None, None),
      "to": onp.asarray([1.5, 2.5], onp.float16),
    }
    found = self._ends(table, lower="from", upper="to")
    self.assertEqual(found[:2], [[-1.0, -1.0], [1.5, 2.5]])
    with self.assertRaisesRegex(
      TypeError, "column 't' holds values that are not numbers"
    ):
      table = {"t": _objects(1j, 2.0)}
      inference.Observations.from_table(table, time="t")

  def test_causes_by_number(self):
    table = {
      "t": [1.0, 2.0, 3.0],
      "to": [1.0, 4.0, _INF],
      "why": _objects(1, None, 0),
      "half": [0.5, 1.0, 1.0],
    }
    self.assertEqual(
      self._ends(table, time="t", cause="why")[4], [1.0, -1.0, 0.0]
    )
    # What is right-censored has no cause yet.
    found = self._ends(table, lower="t", upper="to", cause="why")
    self.assertEqual(found[1], [1.0, 4.0, _INF])
    self.assertEqual(found[4], [1.0, -1.0, -1.0])
    with self.assertRaisesRegex(
      ValueError, r"half\[0\] = 0.5: it must be a whole number"
    ):
      inference.Observations.from_table(table, time="t", cause="half")

  def test_what_is_not_a_table(self):
    for table in (3.0, [1.0, 2.0], None):
      with self.assertRaisesRegex(
        TypeError, "table is .*: it must be a DataFrame, or a mapping of names"
      ):
        inference.Observations.from_table(table, time="t")
    with self.assertRaisesRegex(
      TypeError, r"time is \[1.0, 2.0\]: it must be the name of a column"
    ):
      inference.Observations.from_table({"t": [1.0]}, time=[1.0, 2.0])
    with self.assertRaisesRegex(
      TypeError, "observed has dtype complex128: it must be bool, or 0 or 1"
    ):
      inference.Observations.right_censored([1.0], onp.asarray([1j]))


if __name__ == "__main__":
  absltest.main()
