"""Designs of formulas."""

import pickle
import sys
from unittest import mock
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import formulaic
import numpy as onp
import pandas
from scipy import interpolate

from phasic import covariates
from tests.helpers import test_case

_SIZE = 40
_RANDOM = onp.random.default_rng(1)
_TABLE = {
  "age": _RANDOM.uniform(20.0, 80.0, _SIZE),
  "dose": _RANDOM.integers(1, 4, _SIZE),
  "ill": _RANDOM.random(_SIZE) < 0.5,
  "sex": _RANDOM.choice(["m", "f"], _SIZE),
  "body mass": _RANDOM.uniform(18.0, 35.0, _SIZE),
  "C": _RANDOM.random(_SIZE),
}
_SMALL = {
  "age": [60, 71, 48, 55, 40, 65],
  "sex": ["f", "m", "m", "f", "m", "f"],
  "grade": [3, 1, 2, 2, 1, 3],
}


def _other(**columns):
  """Returns a table of three rows that differs from one by some columns."""
  return {
    "age": [30.0, 40.0, 50.0],
    "dose": [3, 1, 2],
    "ill": [True, False, True],
    "sex": ["m", "m", "f"],
    "body mass": [20.0, 21.0, 22.0],
    **columns,
  }


class FormulasTest(test_case.TestCase):
  def _check(self, effect, names, rows, table=_SMALL):
    design = covariates.design(effect, table)
    self.assertEqual(design.names, names)
    onp.testing.assert_array_equal(design.matrix, rows)
    return design

  def test_by_hand(self):
    ages = _SMALL["age"]
    men = [0, 1, 1, 0, 1, 0]
    for effect in ("age", "1 + age", "~ age"):
      self._check(effect, ("age",), onp.transpose([ages]))
    for effect in ("sex", "C(sex)"):
      self._check(effect, (f"{effect}[T.m]",), onp.transpose([men]))
    self._check(
      'C(sex, contr.treatment("m"))',
      ("C(sex, contr.treatment('m'))[T.f]",),
      onp.transpose([[1, 0, 0, 1, 0, 1]]),
    )
    products = [a * m for a, m in zip(ages, men)]
    design = self._check(
      "age * C(sex)",
      ("age", "C(sex)[T.m]", "age:C(sex)[T.m]"),
      onp.transpose([ages, men, products]),
    )
    # One level is enough, as the others are known.
    rows = design.evaluate({"sex": ["m", "m"], "age": [1, 2]})
    self.assertEqual(rows.tolist(), [[1, 1, 1], [2, 1, 2]])
    self._check(
      "C(grade)",
      ("C(grade)[T.2]", "C(grade)[T.3]"),
      [[0, 1], [0, 0], [1, 0], [1, 0], [0, 0], [0, 1]],
    )
    self._check("grade", ("grade",), onp.transpose([_SMALL["grade"]]))

  def test_order_of_pandas_categories(self):
    table = pandas.DataFrame(_SMALL)
    order = ["m", "f"]
    table["sex"] = pandas.Categorical(table["sex"], categories=order)
    self._check(
      "sex", ("sex[T.f]",), onp.transpose([[1, 0, 0, 1, 0, 1]]), table
    )

  @parameterized.parameters(
    "age + C(sex)",
    "age * sex + dose",
    "age:sex",
    "C(dose) * ill",
    "C(ill) + C(dose, contr.sum)",
    "log(age) + np.sqrt(`body mass`)",
    "{age + `body mass`} + I(dose ** 2) + age.clip(30, 60)",
    "C(dose // 2)",
    "center(age) + scale(`body mass`)",
    "poly(age, 2)",
    "bs(age, df=4):sex",
    'cr(age, df=3, constraints="center")',
  )
  def test_like_formulaic(self, effect):
    frame = pandas.DataFrame(_TABLE)
    # There, a column C would hide the function C.
    expected = formulaic.model_matrix(effect, frame.drop(columns="C"))
    for table in (_TABLE, frame.set_index("age", drop=False)):
      design = covariates.design(effect, table)
      again = pickle.loads(pickle.dumps(design))
      self.assertEqual(again.names, design.names)
      for matrix in (
        design.evaluate(_TABLE),
        again.matrix,
        again.evaluate(table),
      ):
        onp.testing.assert_array_equal(matrix, design.matrix)
      self.assertEqual(design.names, tuple(expected.columns[1:]))
      onp.testing.assert_array_equal(design.matrix, expected.iloc[:, 1:])
      other = pandas.DataFrame(_other())
      rows = expected.model_spec.get_model_matrix(other).iloc[:, 1:]
      onp.testing.assert_array_equal(design.evaluate(_other()), rows)

  def test_centers_are_those_of_the_design(self):
    design = covariates.design("center(age)", _TABLE)
    expected = onp.asarray([30.0, 50.0]) - onp.mean(_TABLE["age"])
    rows = design.evaluate({"age": [30.0, 50.0]})[:, 0]
    onp.testing.assert_allclose(rows, expected, rtol=1e-14)

  def test_splines(self):
    ages = _TABLE["age"]
    ends = [min(ages)] * 4, [max(ages)] * 4
    knots = onp.asarray([*ends[0], onp.median(ages), *ends[1]])
    design = covariates.design("bs(age, df=4)", _TABLE)
    for x, rows in (
      (ages, design.matrix),
      (
        onp.asarray([30.0, 55.0, 70.0]),
        design.evaluate({"age": [30.0, 55.0, 70.0]}),
      ),
    ):
      basis = interpolate.BSpline.design_matrix(x, knots, 3).toarray()
      onp.testing.assert_allclose(rows, basis[:, 1:], rtol=1e-12, atol=1e-15)

  @parameterized.parameters(
    ("age - 1", "must not remove the intercept, .* leave out the 0 or -1"),
    ("0 + age", "must not remove the intercept"),
    ("-1 + C(sex)", "must not remove the intercept"),
    (
      "dose ~ age",
      "effect is 'dose ~ age': it must have one side, without a r",
    ),
    ("age | sex", "must have one side"),
    ("1", "effect is '1': it must name at least one column"),
    ("", "effect is '': it must name at least one column"),
    (
      "age +",
      "effect is 'age \\+': it must be a formula .* says: Operator `\\+`",
    ),
    ("C(age", "formulaic says: Formula ended before"),
    ("age age", "formulaic says: Missing operator between `age` and `age`.$"),
    ("{age age}", "formulaic says: invalid syntax"),
    ("noise(age)", "formulaic says: .*'noise' is not defined"),
    ("log(sex)", "formulaic says: Unable to evaluate factor `log\\(sex\\)`"),
    (
      "C(sex, levels=['m'])",
      "formulaic says: Data has categories outside .*'f'",
    ),
    (
      "agee + sex",
      "effect names 'agee': it must be one of the columns .*'age',",
    ),
    ("log(agee)", "effect names 'agee': it must be one of the columns"),
    ("log(`body fat`)", "effect names 'body fat': it must be one of the col"),
    ("log(age - 50)", "'log\\(age - 50\\)' is (nan|-inf) in row"),
    ("age + {2 * age + 3}", "\\['age', '2 \\* age \\+ 3'\\] are collinear"),
    ("{0 * age}", "column '0 \\* age' is 0.0 in all rows"),
    ("cr(age, df=3)", 'are collinear: .* center the spline, .*"center"\\)'),
  )
  def test_refused(self, effect, message):
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      with self.assertRaisesRegex(ValueError, message):
        covariates.design(effect, _TABLE)

  def test_refused_tables(self):
    with self.assertRaisesRegex(TypeError, "covariates is None: .* 'age'"):
      covariates.design("age")
    with self.assertRaisesRegex(TypeError, "covariates is 'age.csv'"):
      covariates.design("age", "age.csv")
    for effect, column, error, message in (
      ("age", [1.0, None, 2.0], ValueError, r"'age' is None in row 1: .*\[1\]"),
      ("C(age)", ["a", None], ValueError, "'age' is None in row 1"),
      ("bs(age)", [onp.nan, 1.0], ValueError, "'age' is nan in row 0"),
      ("age", [], ValueError, "'age' has no rows"),
      ("C(age)", ["a", "a"], ValueError, r"'C\(age\)' is 'a' in all rows"),
    ):
      with self.assertRaisesRegex(error, message):
        covariates.design(effect, {"age": column})
    # A column that the effect does not name may be anything.
    covariates.design("age", {"age": [1.0, 2.0], "f": [None, None]})
    table = {"sex": ["f", "m"], "f": [None, None]}
    covariates.design('C(sex, contr.treatment("f"))', table)

  @parameterized.parameters(
    (
      {"sex": ["m", "f", "x"]},
      ValueError,
      r"column 'sex' is 'x' in row 2: .* levels \['f', 'm'\] .* rows \[2\]",
    ),
    ({"dose": [1, 7, 9]}, ValueError, r"'dose' is 7 in row 1: .*\[1, 2, 3\]"),
    ({"sex": [1, 0, 1]}, ValueError, "'sex' is 1 in row 0: .* levels"),
    ({"sex": ["m", None, "f"]}, ValueError, "'sex' is None in row 1"),
    (
      {"age": ["a", "b", "c"]},
      TypeError,
      "'age' holds text: .* numbers, as in",
    ),
    ({"age": [30, 40, onp.inf]}, ValueError, "'age' is inf in row 2"),
    ({"age": [30.0]}, ValueError, "different numbers of rows: 'age' 1"),
    (
      {"age": [30.0, 900.0, 901.0]},
      ValueError,
      "covariates is {'age': 900.0, .*} in row 1: .* says: .* beyond upper",
    ),
  )
  def test_other_values(self, columns, error, message):
    effect = "sex + C(dose) + bs(age, df=4)"
    design = covariates.design(effect, _TABLE)
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      with self.assertRaisesRegex(error, message):
        design.evaluate(_other(**columns))

  def test_levels_of_an_expression(self):
    design = covariates.design("C(dose // 2)", _TABLE)
    self.assertEqual(design.evaluate({"dose": [0, 3]}).tolist(), [[0.0], [1.0]])
    with self.assertRaisesRegex(
      ValueError, "{'dose': 8} in row 2: .*says: Data"
    ):
      design.evaluate({"dose": [1, 3, 8, 9]})

  def test_without_formulaic(self):
    with mock.patch.dict(sys.modules, {"formulaic": None}):
      with self.assertRaisesRegex(
        ModuleNotFoundError, "formula needs formulaic, .* pip install formulaic"
      ):
        covariates.design("age", _TABLE)
      self.assertLen(covariates.design(["age"], _TABLE).names, 1)


if __name__ == "__main__":
  absltest.main()
