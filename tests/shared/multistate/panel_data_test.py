"""Panel data: rows in order, labels, and tables that are refused."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import pandas

from phasic import inference
from phasic import multistate
from tests.helpers import test_case

_TABLE = {
  "patient": [1, 1, 1, 2, 2, 2],
  "years": [0.0, 1.0, 2.5, 0.0, 1.5, 2.0],
  "stage": ["well", "ill", "dead", "well", "well", "ill"],
  "age": [60.0, 61.0, 62.5, 40.0, 41.5, 42.0],
}
_ARGUMENTS = {"subject": "patient", "time": "years", "state": "stage"}
_ALLOWED = {"well": ["ill", "dead"], "ill": ["dead"]}


def _read(table=None, **arguments):
  return multistate.PanelData.from_table(
    {**_TABLE, **(table or {})}, **{**_ARGUMENTS, **arguments}
  )


class PanelDataTest(test_case.TestCase):
  """Tests `PanelData.from_table`."""

  def test_fields(self):
    data = _read(exact=["dead"], covariates=["age"])
    self.assertEqual(data.subjects, ("1", "2"))
    self.assertEqual(list(data.subject), [0, 0, 0, 1, 1, 1])
    self.assertEqual(list(data.kinds), [0, 0, 1, 0, 0, 0])
    self.assertEqual(list(data.covariates["age"]), _TABLE["age"])
    self.assertIn("2 subjects, 6 rows", repr(data))

  def test_rows_are_sorted_and_said(self):
    mixed = {name: x[::-1] for name, x in _TABLE.items()}
    with self.assertWarnsRegex(RuntimeWarning, "row 2, of subject 2"):
      data = _read(mixed)
    self.assertEqual(data.subjects, ("2", "1"))
    self.assertEqual(list(data.times[:3]), [0.0, 1.5, 2.0])
    self.assertEqual(list(data.rows), [2, 1, 0, 5, 4, 3])

  def test_order_of_rows_does_not_matter(self):
    model = multistate.MultiState(_ALLOWED)
    plain, layout = model.with_data(_read())
    value = onp.asarray(plain.log_likelihood_terms(plain.parameters, layout))
    mixed = {
      name: [x[i] for i in (3, 5, 0, 2, 1, 4)] for name, x in _TABLE.items()
    }
    with self.assertWarns(RuntimeWarning):
      other, layout = model.with_data(_read(mixed))
    again = onp.asarray(other.log_likelihood_terms(plain.parameters, layout))
    self.assert_close(again[::-1], value, 1e-14)

  def test_numbers_are_names(self):
    data = _read({"stage": [0, 1, 2, 0, 0, 1]})
    self.assertEqual(list(data.states), list("012001"))
    model = multistate.MultiState({0: [1, 2], 1: [2]})
    fit = inference.fit_mle(model, data)
    self.assertIn("rates[0 -> 1]", list(fit.uncertainty.names))

  def test_missing_states(self):
    for lost in (None, "", math.nan):
      states = ["well", lost, "dead", "well", "well", "ill"]
      self.assertEqual(_read({"stage": states}).states[1], "")

  def test_categories_keep_their_order(self):
    """The reference level is the first category, not the first letter."""
    arms = ["placebo", "placebo", "placebo", "drug", "drug", "drug"]
    frame = pandas.DataFrame(_TABLE).assign(
      arm=pandas.Categorical(arms, categories=["placebo", "drug"])
    )
    data = multistate.PanelData.from_table(
      frame, **_ARGUMENTS, covariates=["arm"]
    )
    model = multistate.MultiState(_ALLOWED, effects={"well -> ill": "arm"})
    bound, _ = model.with_data(data)
    labels = bound.labels["effects"]
    self.assertEqual(tuple(labels), ("arm[T.drug], well -> ill",))


class RefusedTablesTest(test_case.TestCase):
  """Tests messages about tables, which name subject and row."""

  @parameterized.named_parameters(
    ("twice", {"years": [0.0, 1.0, 1.0, 0.0, 1.5, 2.0]}, {}, "rows 1 and 2"),
    ("lost time", {"years": [0.0, math.nan] * 3}, {}, "row 1, of subject 1"),
    ("no column", {}, {"time": "when"}, "time is 'when'"),
    ("lost subject", {"patient": [1, None, 1, 2, 2, 2]}, {}, "row 1"),
    (
      "set of sets",
      {},
      {"censored": {"x": ["y"], "y": ["ill"]}},
      "names? states",
    ),
    ("empty set", {}, {"censored": {"x": []}}, "is empty"),
    ("exact set", {}, {"censored": {"x": ["ill"]}, "exact": ["x"]}, "a set"),
    ("flags", {}, {"exact_times": "years"}, "true or false"),
  )
  def test_values(self, table, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      _read(table, **arguments)

  @parameterized.named_parameters(
    ("state", {"stage": [1.5] * 6}, {}, "string or a whole number"),
    ("exact", {}, {"exact": "dead"}, "sequence"),
    ("censored", {}, {"censored": ["ill"]}, "map labels"),
    ("covariates", {}, {"covariates": "age"}, "list of names"),
    ("dates", {"years": onp.arange(6).astype("M8[D]")}, {}, "dates"),
  )
  def test_types(self, table, arguments, message):
    with self.assertRaisesRegex(TypeError, message):
      _read(table, **arguments)

  @parameterized.named_parameters(
    (
      "no path",
      {"stage": ["ill", "well", "dead", "well", "well", "ill"]},
      {},
      "subject 1 goes from ill in row 0 to well in row 1",
    ),
    (
      "exact",
      {"stage": ["well", "dead", "dead", "well", "well", "ill"]},
      {"exact": ["dead"]},
      "subject 1 goes from dead in row 1 to dead in row 2, whose time of entry",
    ),
    (
      "in one step",
      {"stage": ["ill", "well", "dead", "well", "well", "ill"]},
      {"exact_times": True},
      "in one step",
    ),
    ("first", {"stage": ["", *_TABLE["stage"][1:]]}, {}, "initial_probs"),
    (
      "unknown",
      {"stage": [*_TABLE["stage"][:5], "sick"]},
      {},
      "subject 2, row 5 has state 'sick'",
    ),
    ("set", {}, {"censored": {"x": ["sick"]}}, "one of the states well, ill"),
    ("name", {}, {"censored": {"ill": ["well"]}}, "is a state"),
  )
  def test_transitions(self, table, arguments, message):
    data = _read(table, **arguments)
    with self.assertRaisesRegex(ValueError, message):
      multistate.MultiState(_ALLOWED).with_data(data)

  def test_path_through_sets(self):
    states = ["ill", "any", "well", "well", "well", "ill"]
    data = _read({"stage": states}, censored={"any": ["well", "ill"]})
    with self.assertRaisesRegex(
      ValueError, "from any in row 1 to well in row 2"
    ):
      multistate.MultiState(_ALLOWED).with_data(data)

  def test_missing_covariates(self):
    model = multistate.MultiState(_ALLOWED, effects=["age"])
    ages = [*_TABLE["age"][:4], math.nan, 42.0]
    data = _read({"age": ages}, covariates=["age"])
    with self.assertRaisesRegex(ValueError, "subject 2, row 4 has no age"):
      model.with_data(data)
    # The last row of a subject needs none.
    ages = [*_TABLE["age"][:5], math.nan]
    _, layout = model.with_data(_read({"age": ages}, covariates=["age"]))
    self.assertTrue(onp.all(onp.isfinite(layout.columns)))

  def test_other_data(self):
    with self.assertRaisesRegex(TypeError, "PanelData.from_table"):
      inference.fit_mle(multistate.MultiState(_ALLOWED), _TABLE)
    with self.assertRaisesRegex(TypeError, "columns of its table"):
      inference.fit_mle(
        multistate.MultiState(_ALLOWED), _read(), covariates=_TABLE
      )


class RefusedModelsTest(test_case.TestCase):
  """Tests messages about arguments of models."""

  @parameterized.named_parameters(
    ("itself", {"transitions": {"a": ["a"]}}, "lead to itself"),
    ("twice", {"transitions": {"a": ["b", "b"]}}, "twice"),
    ("none", {"transitions": {}}, "at least one"),
    ("rate", {"transitions": {"a": ["b"]}, "rates": {"x": 1.0}}, "the rates a"),
    ("sign", {"transitions": {"a": ["b"]}, "rates": {"a -> b": 0.0}}, "> 0"),
    ("state", {"transitions": {"a": ["b"]}, "sojourns": {"b": 2}}, "are left"),
    ("phases", {"transitions": {"a": ["b"]}, "sojourns": {"a": 0}}, "from 1"),
  )
  def test_intensities(self, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      multistate.Intensities(**arguments)

  @parameterized.named_parameters(
    ("cuts", {"cuts": [2.0, 1.0]}, "ascending"),
    ("effects", {"effects": {"x": ["age"]}}, "one of the rates"),
    ("probs", {"initial_probs": {"well": 0.5}}, "sum to one"),
    ("start", {"estimate_initial_probs": True}, "initial_probs is None"),
    ("error", {"misclassification": {"well": {"ill": 1.0}}}, "zero and one"),
    (
      "errors",
      {"misclassification": {"well": {"ill": 0.5, "dead": 0.6}}},
      "less than one",
    ),
  )
  def test_models(self, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      multistate.MultiState(_ALLOWED, **arguments)

  def test_late_cuts(self):
    with self.assertRaisesRegex(ValueError, "before 2.5"):
      multistate.MultiState(_ALLOWED, cuts=[1.0, 5.0]).with_data(_read())

  def test_no_data(self):
    with self.assertRaisesRegex(ValueError, "fit_mle"):
      _ = multistate.MultiState(_ALLOWED).parameters


if __name__ == "__main__":
  absltest.main()
