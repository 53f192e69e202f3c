"""Whether the columns of a design, and a constant, are independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as onp

# Columns of length one that are closer than this count as dependent.
_TOLERANCE = 1e-10
# Coefficients of a dependence that are smaller than this, relative to the
# largest, count as zero.
_NO_SHARE = 1e-6


def check(names: Sequence[str], matrix: onp.ndarray) -> None:
  """Raises ValueError if columns are constant or collinear.

  Columns are collinear if they are so together with a constant, in whose place
  a distribution has parameters.

  Args:
    names: of the k columns.
    matrix: (n, k), finite.
  """
  peaks = onp.max(abs(matrix), axis=0)
  scaled = matrix / onp.where(peaks > 0, peaks, 1.0)
  spreads = onp.max(scaled, axis=0) - onp.min(scaled, axis=0)
  for name, values, spread in zip(names, matrix.T, spreads, strict=True):
    if spread <= _TOLERANCE:
      raise constant(name, float(values[0]))
  # Twice, since the first mean has the rounding errors of values that are large
  # against their spread.
  for _ in range(2):
    scaled = scaled - onp.mean(scaled, axis=0)
  dependent = _dependent(scaled / onp.linalg.norm(scaled, axis=0))
  if dependent:
    listed = [names[i] for i in dependent]
    advice = "leave out one of them"
    if any(name.startswith(("cr(", "cc(")) for name in listed):
      advice = (
        'center the spline, as in cr(age, df=3, constraints="center"), since its '
        "columns sum to one"
      )
    raise ValueError(
      f"columns {listed} are collinear: none may follow from others and a "
      f"constant, which stands for the distribution's own parameters; {advice}"
    )


def constant(name: str, value: object) -> ValueError:
  """Returns the error about a column that has one value."""
  return ValueError(
    f"column {name!r} is {value!r} in all rows: it must vary; leave it out, as the "
    "distribution's own parameters take the place of an intercept"
  )


def _dependent(unit: onp.ndarray) -> list[int]:
  """Returns a smallest set of dependent columns; [] if there is none.

  The first column that depends on those before it does so in one way, since
  those are independent: with the columns that take part it is such a set.

  Args:
    unit: (n, k), columns of length one and mean zero.
  """
  triangle = onp.asarray(onp.linalg.qr(unit, mode="r"))
  # Lengths of the columns without their projections on those before.
  lengths = abs(onp.diagonal(triangle))
  (small,) = onp.nonzero(lengths < _TOLERANCE)
  if len(small) == 0:
    return []
  last = int(small[0])
  shares = abs(onp.linalg.solve(triangle[:last, :last], triangle[:last, last]))
  (parts,) = onp.nonzero(shares > _NO_SHARE * onp.max(shares))
  return [*parts.tolist(), last]
