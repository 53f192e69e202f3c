"""Designs: the columns of numbers that an effect makes of covariates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
from typing import TypeAlias, TypeGuard

import numpy as onp

from phasic.covariates import columns
from phasic.covariates import formulas
from phasic.covariates import ranks
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import tables
from phasic.internal.arrays import ArrayLike
from phasic.internal.tables import TableLike

# A formula, names of columns, or an array.
EffectLike: TypeAlias = str | Sequence[str] | ArrayLike
# The argument of `Design.evaluate`: a table, or an array if the effect is one.
CovariatesLike: TypeAlias = TableLike | ArrayLike


class Design:
  """Named columns of numbers that an effect makes of covariates.

  `design` makes it. It is immutable, and can be pickled, also to other
  processes.

  Attributes:
    names: of the k columns, such as "age" or "C(sex)[T.m]".
    matrix: (n, k), float64, on the host and read-only: a row for each row of
      the covariates.

  Example: the reference level of a column of text is the first one.

    >>> from phasic import covariates
    >>> table = {"age": [60, 71, 48, 55], "sex": ["f", "m", "m", "f"]}
    >>> effect = covariates.design("age + C(sex)", table)
    >>> effect
    Design(names=('age', 'C(sex)[T.m]'), num_rows=4)
    >>> print(effect.evaluate({"age": [65], "sex": ["m"]}))
    [[65.  1.]]
  """

  names: tuple[str, ...]
  matrix: onp.ndarray
  _read: Callable[[CovariatesLike], onp.ndarray]

  def __init__(
    self,
    names: Sequence[str],
    matrix: onp.ndarray,
    read: Callable[[CovariatesLike], onp.ndarray],
  ):
    """Use `design`.

    Args:
      names: of the k columns.
      matrix: (n, k).
      read: makes such a matrix of other covariates; it can be pickled.
    """
    matrix = onp.array(matrix, dtype=onp.float64)
    matrix.setflags(write=False)
    fields = {"names": tuple(names), "matrix": matrix, "_read": read}
    for name, value in fields.items():
      object.__setattr__(self, name, value)

  def __setattr__(self, name: str, value: object) -> None:
    raise AttributeError(f"a Design is immutable: {name} cannot be set")

  def __delattr__(self, name: str) -> None:
    raise AttributeError(f"a Design is immutable: {name} cannot be deleted")

  def __reduce__(self) -> tuple[object, ...]:
    return type(self), (self.names, self.matrix, self._read)

  def __repr__(self) -> str:
    return f"Design(names={self.names}, num_rows={len(self.matrix)})"

  def evaluate(self, covariates: CovariatesLike) -> onp.ndarray:
    """Evaluates the same columns for other covariates.

    Levels, centers and knots of splines are those of the covariates with which
    the design was made.

    Args:
      covariates: a table with the columns that the effect names; or an array
        with as many columns, (m,) or (m, k), if the effect is an array.

    Returns:
      (m, k), float64, on the host.

    Raises:
      TypeError, ValueError: as `design` does, but columns may be constant or
        collinear; or a column has a level, or another value, that the effect
        does not cover: the message names column, row and value.
    """
    return self._read(covariates)


def design(effect: EffectLike, covariates: TableLike | None = None) -> Design:
  """Makes named columns of numbers of covariates: a design matrix.

  There is never a column for an intercept, as parameters of a distribution take
  its place: "age" and "1 + age" mean the same. So levels are coded against a
  reference level, the first one, unless the formula names another:
  `C(sex, contr.treatment("m"))`. "0 + age" and "age - 1" are refused.

  A formula sees the columns of the table, and functions of formulaic and NumPy,
  such as log(age). It is code, which formulaic evaluates: take none from a
  stranger.

  Args:
    effect: a formula, for which the packages formulaic and pandas must be
      installed, such as "age * C(sex)", "bs(age, df=4)" or `cr(age, df=3,
      constraints="center")`; or a list of the names of columns of numbers or
      bools; or the numbers, (n,) or (n, k). Columns of an array are called "x"
      if it is (n,), else "x[0]", "x[1]".
    covariates: a table with a row for each subject: a pandas or polars
      DataFrame, a pyarrow Table, or a mapping of names to columns. None if the
      effect is an array.

  Returns:
    A `Design`.

  Raises:
    ModuleNotFoundError: the effect is a formula, and formulaic is not
      installed.
    TypeError: an argument has another type; or the effect names a column of
      text outside of a formula, or a column of dates.
    ValueError: the formula cannot be read, or has a response or no intercept;
      the table lacks a column; there are no rows, or their numbers differ; a
      value is missing or infinite (the message names its row); a column is
      constant, or columns are collinear, also together with a constant, to
      within 1e-10 of their lengths (the message names all that take part).

  Example:
    >>> from phasic import covariates
    >>> table = {"age": [60, 71, 48, 55], "dose": [0, 1, 1, 0]}
    >>> effect = covariates.design(["age", "dose"], table)
    >>> print(effect.matrix)
    [[60.  0.]
     [71.  1.]
     [48.  1.]
     [55.  0.]]
  """
  if isinstance(effect, str):
    if covariates is None:
      raise TypeError(
        "covariates is None: it must be the table with the columns of the "
        f"formula {raw_arguments.shown(effect)}"
      )
    formula, names, matrix = formulas.read(effect, covariates)
    read: Callable[..., onp.ndarray] = formula
  elif _are_names(effect):
    names = list(effect)
    read = functools.partial(_read_columns, names)
    matrix = read(covariates)
  else:
    array = _host_array("effect", effect)
    is_vector = onp.ndim(array) == 1
    names = ["x"] if is_vector else [f"x[{j}]" for j in range(array.shape[1])]
    read = functools.partial(_read_array, names, is_vector)
    matrix = read(array)
    _check_num_rows(len(matrix), covariates)
  ranks.check(names, matrix)
  return Design(names, matrix, read)


def _are_names(effect: object) -> TypeGuard[Sequence[str]]:
  """Returns whether an effect is a list of names; raises if it is empty."""
  if not isinstance(effect, (list, tuple)):
    return False
  if not effect:
    raise ValueError(f"effect is {effect}: it must name at least one column")
  return all(isinstance(name, str) for name in effect)


def _read_columns(
  names: Sequence[str], covariates: TableLike | None
) -> onp.ndarray:
  """Reads the named columns of a table."""
  table = columns.check_names("effect names", names, covariates)
  return columns.read_matrix(table, names)


def _read_array(
  names: Sequence[str], is_vector: bool, covariates: ArrayLike
) -> onp.ndarray:
  """Reads an array with as many columns as there are names."""
  array = _host_array("covariates", covariates)
  shape = (len(array),) if is_vector else (len(array), len(names))
  if onp.shape(array) != shape:
    raise ValueError(
      f"covariates has shape {onp.shape(array)}: it must have shape "
      f"{'(m,)' if is_vector else f'(m, {len(names)})'}, as the effect is an "
      "array with as many columns"
    )
  matrix = onp.reshape(array, (len(array), len(names)))
  for name, values in zip(names, matrix.T, strict=True):
    columns.check_finite(name, values)
  return matrix


def _host_array(name: str, x: object) -> onp.ndarray:
  """Converts an array, (n,) or (n, k), to float64 on the host.

  Raises:
    TypeError: it is a table or traced, or does not hold real numbers.
    ValueError: it has another shape, or no rows or columns.
  """
  if isinstance(x, Mapping) or hasattr(x, "columns"):
    raise TypeError(
      f"{name} is a table: it must be an array; to use columns of a table, make "
      "a design of their names, design([name, ...], table)"
    )
  array = dtypes.concrete(x, name)
  if array is None:
    raise TypeError(
      f"{name} is traced: it must have known values; pass a host array"
    )
  raw_arguments.refuse_objects(array.dtype, name)
  if array.dtype.kind == "c":
    raise TypeError(f"{name} holds complex numbers: it must hold real ones")
  if onp.ndim(array) not in (1, 2) or onp.size(array) == 0:
    raise ValueError(
      f"{name} has shape {onp.shape(array)}: it must have shape (n,) or (n, k), "
      "with at least one row and one column"
    )
  return onp.asarray(array, dtype=onp.float64)


def _check_num_rows(num_rows: int, covariates: TableLike | None) -> None:
  """Raises ValueError if a table has another number of rows than an array."""
  if covariates is None:
    return
  for name in tables.column_names(covariates, "covariates")[:1]:
    size = len(tables.values(covariates, str(name)))
    if size != num_rows:
      raise ValueError(
        f"effect has {num_rows} rows, and covariates has {size}: there must be "
        "one for each subject in both"
      )
