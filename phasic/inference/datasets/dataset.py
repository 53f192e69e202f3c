"""The class of data sets: an immutable table with a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import types

import numpy as onp

from phasic.internal import frameworks
from phasic.internal.frameworks import Foreign


class Dataset(Mapping[str, onp.ndarray]):
  """A table of data with a description.

  The functions of `inference.datasets` return it. It is a mapping of names to
  columns, so that `Observations.from_table`, `covariates.design` and `fit_mle`
  take it as a table. It is immutable, and can be pickled.

  Attributes:
    columns: arrays (n,) by name, on the host and read-only: numbers or strings.
    description: what the columns are, with their units, and how they were
      simulated.

  Example:

    >>> from phasic import inference
    >>> table = inference.datasets.trial()
    >>> data = inference.Observations.from_table(
    ...   table, time="months", event="died"
    ... )
    >>> print(data.lower.shape, sorted(set(table["treatment"].tolist())))
    (400,) ['drug', 'placebo']
  """

  columns: Mapping[str, onp.ndarray]
  description: str

  def __init__(self, columns: Mapping[str, onp.ndarray], description: str):
    """Use the functions of `inference.datasets`.

    Args:
      columns: arrays (n,), by name; they are copied.
      description: a text.
    """
    copies = {name: _read_only(values) for name, values in columns.items()}
    object.__setattr__(self, "columns", types.MappingProxyType(copies))
    object.__setattr__(self, "description", description)

  def __setattr__(self, name: str, value: object) -> None:
    raise AttributeError(f"a Dataset is immutable: {name} cannot be set")

  def __delattr__(self, name: str) -> None:
    raise AttributeError(f"a Dataset is immutable: {name} cannot be deleted")

  def __reduce__(self) -> tuple[object, ...]:
    return type(self), (dict(self.columns), self.description)

  def __getitem__(self, column: str) -> onp.ndarray:
    if column not in self.columns:
      raise KeyError(
        f"column is {column!r}: it must be one of {list(self.columns)}"
      )
    return self.columns[column]

  def __iter__(self) -> Iterator[str]:
    return iter(self.columns)

  def __len__(self) -> int:
    return len(self.columns)

  # Arrays do not compare to one truth value, so data sets compare by identity.
  __eq__ = object.__eq__
  __hash__ = object.__hash__

  def __repr__(self) -> str:
    num_rows = len(next(iter(self.columns.values())))
    return f"Dataset(columns={list(self.columns)}, num_rows={num_rows})"

  def to_dataframe(self) -> Foreign:
    """Returns a DataFrame of pandas with copies of the columns.

    Raises:
      ModuleNotFoundError: pandas is not installed.
    """
    with frameworks.needed_by("a data set as a DataFrame"):
      import pandas

    return pandas.DataFrame(
      {name: onp.array(values) for name, values in self.columns.items()}
    )


def _read_only(values: onp.ndarray) -> onp.ndarray:
  copied: onp.ndarray = onp.array(values)
  copied.setflags(write=False)
  return copied
