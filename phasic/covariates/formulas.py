"""Formulas, which formulaic reads and evaluates."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
import dataclasses
import re
import warnings

import numpy as onp

from phasic.covariates import columns
from phasic.covariates import ranks
from phasic.internal import frameworks
from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal.frameworks import Foreign
from phasic.internal.tables import TableLike

# How formulaic marks the place of an error in a text.
_MARKS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
# A name of a column that is not an identifier, in a Python expression.
_QUOTED = re.compile("`([^`]*)`")


@dataclasses.dataclass(frozen=True)
class Formula:
  """A formula with what it keeps of its table: levels, centers and knots.

  Attributes:
    text: the formula.
    spec: the same as formulaic's `ModelSpec`.
    are_numbers: by each variable, whether its column holds numbers.
    levels: the levels of variables that stand for levels themselves.
  """

  text: str
  spec: Foreign
  are_numbers: Mapping[str, bool]
  levels: Mapping[str, list[object]]

  def __call__(self, covariates: TableLike) -> onp.ndarray:
    """Evaluates the columns, (m, k), for another table."""
    names = list(self.are_numbers)
    columns.check_names("effect names", names, covariates)
    variables = columns.read_all(covariates, names)
    for name, values in variables.items():
      if self.are_numbers[name] and not _is_number(values):
        raise TypeError(
          f"column {name!r} holds text: it must hold numbers, as in the table of "
          "the design"
        )
      if name in self.levels:
        levels = set(self.levels[name])
        bad = onp.asarray([x not in levels for x in columns.entries(values)])
        rule = f"be one of the design's levels {self.levels[name]}"
        advice = "make the design with all levels, or leave out rows"
        columns.check_rows(name, values, bad, rule, advice)
    frame = _frame(covariates, variables)
    try:
      matrix = _evaluate(self.spec, frame)
    except _errors() as error:
      row = self._first_row(frame)
      given = {name: columns.entries(x)[row] for name, x in variables.items()}
      raise ValueError(
        f"covariates is {raw_arguments.shown(given)} in row {row}: it must have "
        f"values that the effect {raw_arguments.shown(self.text)} covers; "
        f"formulaic says: {_said(error)}"
      ) from None
    return _columns(self.spec, matrix)

  def _first_row(self, frame: Foreign) -> int:
    """Returns the first row that cannot be evaluated."""
    good, bad = 0, len(frame)
    while bad - good > 1:
      middle = (good + bad) // 2
      try:
        _evaluate(self.spec, frame.iloc[:middle])
        good = middle
      except _errors():
        bad = middle
    return good


def read(
  effect: str, covariates: TableLike
) -> tuple[Formula, list[str], onp.ndarray]:
  """Evaluates a formula; returns it with the names of its columns and these.

  Args:
    effect: the formula.
    covariates: the table.

  Raises:
    ModuleNotFoundError, TypeError, ValueError: as `design` says.
  """
  with frameworks.needed_by("an effect that is a formula"):
    import formulaic
    import pandas  # noqa: F401
  try:
    formula = formulaic.Formula(effect)
    uses = {factor.expr: _variables(factor) for factor in _factors(formula)}
  except _errors() as error:
    raise _refusal(effect, error) from None
  _check_sides(effect, formula)
  names = _used_columns(uses, covariates)
  variables = columns.read_all(covariates, names)
  try:
    matrix = _evaluate(formula, _frame(covariates, variables))
  except _errors() as error:
    raise _refusal(effect, error) from None
  spec = matrix.model_spec
  levels = {}
  for factor, used in uses.items():
    _, state = spec.encoder_state.get(factor, (None, {}))
    categories = list(state.get("categories", ()))
    if len(categories) == 1:
      raise ranks.constant(factor, categories[0])
    if len(used) == 1 and categories:
      # Else the levels are of something that is computed from the variable.
      (name,) = used
      if set(columns.entries(variables[name])) <= set(categories):
        levels[name] = categories
  are_numbers = {name: _is_number(x) for name, x in variables.items()}
  kept = Formula(effect, spec, are_numbers, levels)
  return kept, list(spec.column_names[1:]), _columns(spec, matrix)


def _check_sides(effect: str, formula: Foreign) -> None:
  """Raises ValueError unless a formula has one side, an intercept and more."""
  shown = raw_arguments.shown(effect)
  terms = list(formula)
  if not all(hasattr(term, "factors") for term in terms):
    raise ValueError(
      f"effect is {shown}: it must have one side, without a response; write what "
      "is on the right of ~"
    )
  if not terms or terms[0].degree > 0:
    raise ValueError(
      f"effect is {shown}: it must not remove the intercept, in whose place the "
      "distribution has parameters, so that levels have a reference; leave out "
      "the 0 or -1"
    )
  if len(terms) == 1:
    raise ValueError(f"effect is {shown}: it must name at least one column")


def _factors(formula: Foreign) -> Iterator[Foreign]:
  """Yields the factors of all terms of a formula with one side."""
  for term in formula:
    yield from getattr(term, "factors", ())


def _variables(factor: Foreign) -> set[str]:
  """Returns the names in a factor that are not of functions that it calls.

  Raises:
    SyntaxError: the factor is not a Python expression.
  """
  if factor.eval_method.value == "lookup":
    return {factor.expr}
  quoted: dict[str, str] = {}

  def placeholder(match: re.Match[str]) -> str:
    return quoted.setdefault(match[1], f"_quoted_{len(quoted)}")

  tree = ast.parse(_QUOTED.sub(placeholder, factor.expr), mode="eval")
  nodes = list(ast.walk(tree))
  called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
  names, bound = set(), set()
  for node in nodes:
    if isinstance(node, ast.arg):
      bound.add(node.arg)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
      bound.add(node.id)
    elif isinstance(node, ast.Name) and id(node) not in called:
      names.add(node.id)
  originals = {placeholder: name for name, placeholder in quoted.items()}
  return {originals.get(name, name) for name in names - bound}


def _used_columns(
  uses: dict[str, set[str]], covariates: TableLike
) -> list[str]:
  """Returns the columns of a table that factors use, in the table's order.

  Other names are dropped from `uses`.

  Raises:
    ValueError: a name is neither a column nor known to formulaic or Python.
  """
  from formulaic import transforms

  there = tables.column_names(covariates, "covariates")
  known = {*transforms.TRANSFORMS, *dir(builtins)}
  for factor, names in uses.items():
    missing = sorted(names.difference(there, known))
    columns.check_names("effect names", missing, covariates)
    uses[factor] = names.intersection(there)
  used = set().union(*uses.values())
  return [name for name in there if name in used]


def _frame(
  covariates: TableLike, variables: Mapping[str, onp.ndarray]
) -> Foreign:
  """Returns columns as a DataFrame; pandas' categories keep their order."""
  import pandas

  frame = {}
  for name, values in variables.items():
    if columns.is_categorical(covariates, name):
      frame[name] = pandas.Categorical(covariates[name])
    else:
      # Older versions of formulaic know no other dtype of text.
      dtype = None if _is_number(values) else object
      frame[name] = pandas.Series(values, dtype=dtype)
  return pandas.DataFrame(frame)


def _evaluate(formula: Foreign, frame: Foreign) -> Foreign:
  """Evaluates a formula, or a `ModelSpec`, as formulaic's `ModelMatrix`.

  Levels that the specification does not have are errors.
  """
  from formulaic import errors

  with onp.errstate(all="ignore"), warnings.catch_warnings():
    warnings.simplefilter("error", errors.DataMismatchWarning)
    return formula.get_model_matrix(frame, na_action="ignore", output="numpy")


def _columns(spec: Foreign, matrix: Foreign) -> onp.ndarray:
  """Returns the columns after that of the intercept, all finite, in float64."""
  values = onp.asarray(matrix, dtype=onp.float64)[:, 1:]
  for name, x in zip(spec.column_names[1:], values.T, strict=True):
    columns.check_finite(name, x)
  return values


def _is_number(values: onp.ndarray) -> bool:
  return values.dtype.kind in "biuf"


def _errors() -> tuple[type[Exception], ...]:
  """Returns the exceptions by which formulaic refuses formulas and values."""
  from formulaic import errors

  return (
    *(errors.FormulaicError, errors.DataMismatchWarning),
    *(ArithmeticError, AttributeError, LookupError, NameError),
    *(SyntaxError, TypeError, ValueError),
  )


def _refusal(effect: str, error: Exception) -> ValueError:
  """Returns the error about a formula that formulaic refuses."""
  return ValueError(
    f"effect is {raw_arguments.shown(effect)}: it must be a formula of "
    f"formulaic, such as 'age + C(sex)'; formulaic says: {_said(error)}"
  )


def _said(error: Exception) -> str:
  """Returns the first line of an error's message, without formatting."""
  text: str = _MARKS.sub("", str(error))
  return text.split("\n")[0]
