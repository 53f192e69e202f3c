"""Summaries of fits: tables of parameters with errors and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import html
import math

import numpy as onp

from phasic.inference.data import observations as observations_lib
from phasic.inference.results import confidence
from phasic.inference.results import quantities
from phasic.inference.results import records
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import frameworks
from phasic.internal.frameworks import Foreign

_HEADS = (
  *("estimate", "exp(estimate)", "standard error", "z", "p", "low", "high"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
  """The table of a fit, which prints itself, in notebooks as HTML.

  Attributes:
    rows: by name of the parameter, numbers by name of the column: "estimate",
      "exp(estimate)", "standard error", "z", "p", "low" and "high". Those that
      are not defined for a parameter are NaN.
    statuses: by name of the parameter, see `Fit.statuses`.
    facts: log likelihood, AIC, BIC, counts of observations by kind.
    notes: how errors were computed, and how the fit ended.
    confidence_level: of the intervals.

  Example:

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
    >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
    >>> print(f"{fit.summary().rows['rate']['standard error']:.4f}")
    0.2500
  """

  rows: Mapping[str, Mapping[str, float]]
  statuses: Mapping[str, str]
  facts: Mapping[str, float]
  notes: Sequence[str]
  confidence_level: float

  def to_dict(self) -> dict[str, object]:
    """Returns all of it as nested dictionaries of numbers and strings."""
    return {
      "rows": {name: dict(row) for name, row in self.rows.items()},
      "statuses": dict(self.statuses),
      "facts": dict(self.facts),
      "notes": list(self.notes),
      "confidence_level": self.confidence_level,
    }

  def to_dataframe(self) -> Foreign:
    """Returns the rows as a DataFrame of pandas, one for each parameter.

    Raises:
      ImportError: pandas is missing.
    """
    with frameworks.needed_by("a summary as a DataFrame"):
      import pandas

    return pandas.DataFrame.from_dict(
      {
        name: {**row, "status": self.statuses[name]}
        for name, row in self.rows.items()
      },
      orient="index",
      columns=[*_HEADS, "status"],
    )

  def __str__(self) -> str:
    heads, lines = self._text()
    widths = [
      max(map(len, column)) for column in zip(heads, *lines, strict=True)
    ]
    rows = [
      "  ".join(
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
      ).rstrip()
      for line in (heads, *lines)
    ]
    return "\n".join([*rows, "", *self._footer()])

  def _repr_html_(self) -> str:
    heads, lines = self._text()
    head = "".join(f"<th>{html.escape(x)}</th>" for x in heads)
    body = "".join(
      "<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in line) + "</tr>"
      for line in lines
    )
    foot = "<br>".join(map(html.escape, self._footer()))
    return (
      f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
      f"<p>{foot}</p>"
    )

  def _text(self) -> tuple[list[str], list[list[str]]]:
    """Returns the heads of the columns that are not empty, and their cells."""
    used = [
      head
      for head in _HEADS
      if any(not math.isnan(row[head]) for row in self.rows.values())
    ]
    percent = f"{100.0 * self.confidence_level:g} %"
    names = {"low": f"{percent} low", "high": f"{percent} high"}
    lost = any(x != uncertainty_lib.IDENTIFIED for x in self.statuses.values())
    lines = []
    for name, row in self.rows.items():
      cells = [_shown(row[head], head) for head in used]
      status = self.statuses[name]
      is_plain = status == uncertainty_lib.IDENTIFIED
      lines.append(
        [name, *cells, *([("" if is_plain else status)] if lost else [])]
      )
    heads = ["", *(names.get(head, head) for head in used)]
    return [*heads, *(["status"] if lost else [])], lines

  def _footer(self) -> list[str]:
    facts = [f"{name} {_shown(x, name)}" for name, x in self.facts.items()]
    return [", ".join(facts), *self.notes]


def summarize(
  uncertainty: uncertainty_lib.Uncertainty,
  level: float,
  facts: Mapping[str, float],
  record: records.Record,
  is_robust: bool,
) -> Summary:
  """Returns the summary of a fit, see `Fit.summary`."""
  statuses = uncertainty.statuses
  rows = {name: _row(uncertainty, name, level) for name in statuses}
  notes = ["robust standard errors"] if is_robust else []
  end = "converged" if record.converged else "did not converge"
  return Summary(
    rows, dict(statuses), dict(facts), (*notes, f"{record.method} {end}"), level
  )


def _row(
  uncertainty: uncertainty_lib.Uncertainty, name: str, level: float
) -> dict[str, float]:
  """Returns the numbers of one parameter."""
  quantity = quantities.quantity_of(uncertainty, name)
  interval = confidence.interval_of(uncertainty, quantity, level, "wald")
  value = float(interval.estimate)
  error = float(uncertainty.known.standard_errors(quantity.slopes))
  z = p = ratio = math.nan
  if math.isinf(quantity.low) and math.isinf(quantity.high):
    with onp.errstate(all="ignore"):
      z = float(onp.divide(value, error))
    p = math.erfc(abs(z) / math.sqrt(2.0))
    ratio = math.exp(min(value, 709.0))
  low, high = float(interval.low), float(interval.high)
  numbers = (value, ratio, error, z, p, low, high)
  return dict(zip(_HEADS, numbers, strict=True))


def counts(
  observations: observations_lib.Observations | None, total: float
) -> dict[str, float]:
  """Returns how many observations there are of each kind, by weight."""
  if observations is None:
    return {"observations": total}
  lower, upper, weights = observations_lib.host_arrays(observations)
  kinds = {
    "events": lower == upper,
    "right-censored": upper == onp.inf,
    "left-censored": (lower < 0) & (upper < onp.inf) & (lower != upper),
  }
  others = onp.logical_not(onp.any(list(kinds.values()), axis=0))
  kinds["interval-censored"] = others
  sums = {name: float(onp.sum(weights[x])) for name, x in kinds.items()}
  return {"observations": total} | {k: x for k, x in sums.items() if x}


def _shown(x: float, name: str) -> str:
  """Returns a number as tables show it; nothing for NaN."""
  if math.isnan(x):
    return ""
  if name == "p":
    return "< 0.0001" if x < 1e-4 else f"{x:.4f}"
  if name == "z":
    return f"{x:.3f}"
  if float(x).is_integer() and abs(x) < 1e15:
    return f"{x:.0f}"
  return f"{x:.6g}"
