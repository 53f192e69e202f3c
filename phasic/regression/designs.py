"""Reads the columns of a regression's effects from tables."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any, NamedTuple

import numpy as onp

from phasic import covariates as covariates_lib
from phasic import inference
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import ArrayLike
from phasic.internal.tables import TableLike
from phasic.regression import layouts
from phasic.regression import reading
from phasic.regression import specs

INTERCEPT = "Intercept"
# A column is far from zero if its mean is more than so many standard deviations.
_FAR = 100.0


class RegressionData(NamedTuple):
  """Observations with the columns of their effects.

  Attributes:
    parts: one for each stratum, see `layouts.Part`.
    order: (n,), which place of all parts together each observation has; None
      for one part.
    weights: (n,), or None for ones.

  Example: subjects with the same dose share a chain.

    >>> from phasic import inference
    >>> from phasic.distributions import Hypoexponential
    >>> from phasic.regression import Regression
    >>> model = Regression(
    ...   Hypoexponential([1.0, 2.0]), params={"rates[1]": ["dose"]}
    ... )
    >>> _, data = model.with_data(
    ...   inference.Observations([1.0, 2.0, 5.0, 3.0]),
    ...   {"dose": [0.0, 0.0, 1.0, 1.0]},
    ... )
    >>> tuple(data.parts[0].observations.lower.shape)
    (2, 2)
  """

  parts: tuple[layouts.Part, ...]
  order: ArrayLike | None
  weights: ArrayLike | None


@dataclasses.dataclass(frozen=True, eq=False)
class Columns:
  """The columns of all effects, as they were read with the data.

  Attributes:
    designs: how they are read, by name of the effect.
    names: the names of the columns, by name of the effect.
    spreads: their standard deviations, likewise.
    levels: the strata.
  """

  designs: Mapping[str, covariates_lib.Design]
  names: Mapping[str, tuple[str, ...]]
  spreads: Mapping[str, onp.ndarray]
  levels: tuple[object, ...]


class Rows(NamedTuple):
  """The numbers of some subjects.

  Attributes:
    matrices: columns (n, k), by name of the effect.
    offsets: (n,), by name of the effect.
    stratum: the index of each subject's stratum, (n,).
  """

  matrices: Mapping[str, onp.ndarray]
  offsets: Mapping[str, onp.ndarray]
  stratum: onp.ndarray


def read(
  spec: specs.Spec,
  observations: inference.Observations,
  covariates: TableLike | None,
) -> tuple[Columns, RegressionData]:
  """Reads covariates of observed subjects, see `Regression.with_data`."""
  size = _checked_size(spec, observations)
  designs = {
    name: covariates_lib.design(effect, covariates)
    for name, effect in spec.effects.items()
    if effect is not None
  }
  for name, design in designs.items():
    if len(design.matrix) != size:
      raise ValueError(
        f"{name} has {len(design.matrix)} rows, and there are {size} "
        "observations: there must be a row for each"
      )
  matrices = _matrices(
    spec, {name: design.matrix for name, design in designs.items()}, size
  )
  _warn_of_far_columns(designs)
  names = {
    name: (
      *((INTERCEPT,) if name == "time" and spec.intercept else ()),
      *(designs[name].names if name in designs else ()),
    )
    for name in spec.effects
  }
  spreads = {name: reading.spread(x) for name, x in matrices.items()}
  levels: tuple[object, ...] = ()
  stratum = onp.zeros(size, int)
  if spec.strata is not None:
    labels = reading.labels("strata", spec.strata, covariates, size)
    found, stratum = onp.unique(labels, return_inverse=True)
    levels = tuple(onp.ndarray.tolist(found))
  rows = Rows(matrices, _offsets(spec, covariates, size, False), stratum)
  return Columns(designs, names, spreads, levels), _laid_out(
    spec, observations, rows
  )


def _warn_of_far_columns(
  designs: Mapping[str, covariates_lib.Design],
) -> None:
  """Warns of columns whose mean is far from zero, such as calendar years.

  The parameters at zero are then nearly collinear with their coefficients.
  """
  for effect, design in designs.items():
    means = onp.mean(design.matrix, axis=0)
    far = onp.abs(means) > _FAR * reading.spread(design.matrix)
    if onp.any(far):
      i = int(onp.argmax(far))
      user_warnings.warn(
        f"column {design.names[i]!r} of {effect} has mean {means[i]:g}, which is "
        "far from zero for its spread: the parameters of the distribution are "
        "those at zero, and errors may get lost; subtract a typical value, or "
        "write center(...) in a formula"
      )


def at(spec: specs.Spec, columns: Columns, covariates: TableLike) -> Rows:
  """Reads covariates of other subjects, for predictions."""
  given = {
    name: design.evaluate(
      reading.source_of(spec.effects[name], name, covariates)
    )
    for name, design in columns.designs.items()
  }
  size = reading.num_rows(given, covariates)
  stratum = onp.zeros(size, int)
  if spec.strata is not None:
    stratum = _strata(spec, columns, covariates, size)
  return Rows(
    _matrices(spec, given, size),
    _offsets(spec, covariates, size, True),
    stratum,
  )


def _checked_size(
  spec: specs.Spec, observations: inference.Observations
) -> int:
  """Returns the number of observations, after checks."""
  if not isinstance(observations, inference.Observations):
    raise TypeError(
      f"observations is {type(observations).__name__}: it must be "
      "inference.Observations"
    )
  observations.check_fits(spec.distribution)
  shape = static.shape(observations.lower)
  if len(shape) != 1 or not shape[0]:
    raise ValueError(
      f"observations have shape {shape}: it must be (n,), n > 0, one for each "
      "subject"
    )
  size = shape[0]
  assert isinstance(size, int)
  return size


def _matrices(
  spec: specs.Spec, given: Mapping[str, onp.ndarray], size: int
) -> dict[str, onp.ndarray]:
  """Returns the columns of all effects, with that of the intercept."""
  matrices: dict[str, onp.ndarray] = {}
  for name in spec.effects:
    columns = [given[name]] if name in given else []
    if name == "time" and spec.intercept:
      columns = [onp.ones((size, 1)), *columns]
    dtype = spec.distribution.dtype
    matrices |= {name: onp.asarray(onp.concatenate(columns, axis=-1), dtype)}
  return matrices


def _offsets(
  spec: specs.Spec, covariates: TableLike | None, size: int, by_name: bool
) -> dict[str, onp.ndarray]:
  """Returns the offsets of effects; arrays by their names in a table."""
  offsets: dict[str, onp.ndarray] = {}
  for name, source in spec.offsets.items():
    label = f"offsets[{name!r}]"
    if by_name and not isinstance(source, str):
      source = reading.source_of(source, label, covariates)
    values = reading.numbers(label, source, covariates, size)
    offsets |= {name: onp.asarray(values, spec.distribution.dtype)}
  return offsets


def _strata(
  spec: specs.Spec, columns: Columns, covariates: TableLike | None, size: int
) -> onp.ndarray:
  """Returns the index of each subject's stratum.

  Raises:
    ValueError: a stratum was not fitted.
  """
  source: Any = spec.strata
  if not isinstance(source, str):
    source = reading.source_of(source, "strata", covariates)
  labels = reading.labels("strata", source, covariates, size)
  index = []
  for i, label in enumerate(onp.ndarray.tolist(labels)):
    if label not in columns.levels:
      raise ValueError(
        f"strata is {label!r} in row {i}: it must be one of those that were "
        f"fitted, {', '.join(map(str, columns.levels))}"
      )
    index.append(columns.levels.index(label))
  return onp.asarray(index, int)


def _laid_out(
  spec: specs.Spec, observations: inference.Observations, rows: Rows
) -> RegressionData:
  """Lays out the observations of each stratum."""
  groups = [
    onp.flatnonzero(rows.stratum == i)
    for i in range(int(onp.max(rows.stratum)) + 1)
  ]
  order = None
  if spec.strata is not None:
    order = onp.asarray(onp.argsort(onp.concatenate(groups)), onp.int32)
  parts = tuple(
    layouts.part_of(
      observations, group, rows.matrices, rows.offsets, spec.on_chains
    )
    for group in groups
  )
  return RegressionData(parts, order, observations.weights)


def rows_of(data: RegressionData) -> Rows:
  """Returns the numbers of the observed subjects in their order."""
  order = _order(data)
  parts = [layouts.rows(part) for part in data.parts]
  sizes = [len(part.place) for part in parts]
  return Rows(
    {
      name: onp.concatenate([part.designs[name] for part in parts])[order]
      for name in parts[0].designs
    },
    {
      name: onp.concatenate([part.offsets[name] for part in parts])[order]
      for name in parts[0].offsets
    },
    onp.repeat(onp.arange(len(sizes)), sizes)[order],
  )


def with_observations(
  spec: specs.Spec,
  data: RegressionData,
  observations: inference.Observations,
) -> RegressionData:
  """Returns the data of the same subjects with other times."""
  laid_out = _laid_out(spec, observations, rows_of(data))
  return laid_out._replace(weights=data.weights)


def _order(data: RegressionData) -> onp.ndarray | slice:
  """Returns where in the joined parts each observation is."""
  if data.order is None:
    return slice(None)
  return onp.asarray(static.concrete(data.order))


def observations(data: RegressionData) -> inference.Observations:
  """Returns the observed times in their order, without weights."""
  flat = [layouts.flat(part) for part in data.parts]
  order = _order(data)
  columns: dict[str, Any] = {}
  for name in ("lower", "upper", "entry", "cause"):
    arrays = [getattr(x, name) for x in flat]
    joined = None
    if arrays[0] is not None:
      hosts = [onp.asarray(static.concrete(x)) for x in arrays]
      joined = onp.concatenate(hosts)[order]
    columns |= {name: joined}
  return inference.Observations(**columns)
