"""Writes the stored figures anew: `make references`.

    python -m tests.oracle.regressions.regenerate --lifelines=PYTHON

It writes `exact.py` by likelihoods of our own in 50 digits, `from_survreg.py`
by R, which must be on the path and have the package survival, and
`from_lifelines.py` by a Python that has lifelines.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import tempfile

import mpmath
import numpy as np

from tests.oracle.regressions import aft
from tests.oracle.regressions import figures
from tests.oracle.regressions import models
from tests.oracle.regressions import quantities
from tests.oracle.regressions import tables

_FOLDER = pathlib.Path(__file__).parent
_HEAD = '''"""{what}

Written by `make references`; do not edit.{how}
"""

from tests.oracle.regressions import figures

'''
_EXACT = (
  "Figures of regressions by Newton's method in 50 digits, rounded to doubles.",
  """

Names of fits are those of `models.MODELS`. Other figures are of ROSSI_WEIBULL,
those from PEOPLE on of LUNG_WEIBULL; `quantities.py` has the formulas. Errors
are those of the delta method.

- PROPORTIONAL: effects on the log cumulative hazard, and the log shape last;
  each row is (value, error).
- STANDARDIZED_0, STANDARDIZED_1: mean survival over all subjects with fin set
  to 0 or 1, and its error, at 13, 26, 39 and 52 weeks.
- STANDARDIZED_DIFFERENCES: the same for fin = 1 minus fin = 0.
- WALD_INTERVALS, PROFILE_INTERVALS: of the effects of fin and of prio, 95 %.
- EXPONENTIAL_RATE_INTERVAL: 95 % profile, of 10 events in a total time of 20.
- PEOPLE: (age, sex) of the patients in the rows of what follows.
- LOG_CUMULATIVE_HAZARDS: log(-log S) at 365 days, and its error.
- LOG_MEDIANS, LOG_MEANS: log of the median and of the mean, and its error.
- RESTRICTED_MEANS: of min(T, 365), and its error, in days.""",
)
_SURVREG = (
  "Figures of regressions by survreg of R's package survival.",
  """
`Rscript survreg_fits.R FOLDER` prints them, here by
{version}.
On Debian: apt-get install --no-install-recommends r-base-core r-cran-survival

Names of fits are those of `models.MODELS`. Robust errors have two corrections,
which `survreg_fits.R` names. QUANTILES, QUANTILE_ERRORS (both in days) and
LOG_QUANTILE_ERRORS (of the log) are of LUNG_WEIBULL: rows are `exact.PEOPLE`,
columns the levels 0.1, 0.5 and 0.9. SPLINE_BASIS has rows of `bs(age, df=4)`
for the ages 39, 50, 63 and 82. PROFILE_INTERVALS, STANDARDIZED_0 and
STANDARDIZED_1 (without errors) are as in `exact.py`.""",
)
_LIFELINES = (
  "Figures of regressions by lifelines.",
  """
`python lifelines_fits.py FOLDER` prints them, here by {version}, in the
environment of requirements/*/lifelines.txt.

Names of fits are those of `models.MODELS`. lifelines ends its search near the
maximum: trust 1e-6 of the estimates. It leaves weights out of robust errors,
which are NaN here for weighted fits.""",
)
_PEOPLE = ((50.0, 1.0), (63.0, 2.0), (74.0, 1.0))
_DAYS = 365.0
# Columns of what survreg_fits.R prints; by default one for each quantile.
_WIDTHS = {
  "PROFILE_INTERVALS": 2,
  "SPLINE_BASIS": 4,
  "STANDARDIZED_0": 1,
  "STANDARDIZED_1": 1,
}
_WEEKS = (13.0, 26.0, 39.0, 52.0)


def _write(name: str, texts: tuple[str, str], sources: list[str]) -> None:
  head = _HEAD.format(what=texts[0], how=texts[1])
  (_FOLDER / name).write_text(head + "\n".join(sources), encoding="utf-8")


def _exact_sources() -> list[str]:
  """Returns the assignments of `exact.py`."""
  fits = {name: model().fit() for name, model in models.MODELS.items()}
  sources = [figures.fit_source(name, fit) for name, fit in fits.items()]

  def add(name, rows):
    sources.append(figures.array_source(name, np.array(rows, float)))

  with mpmath.workdps(aft.DIGITS):
    model = models.rossi()
    maximum = model.maximum()
    fin, prio = (1 + models.ROSSI_EFFECTS.index(x) for x in ("fin", "prio"))
    standardized = [
      quantities.standardized_survival(maximum, model.data, fin, weeks)
      for weeks in _WEEKS
    ]
    wald = [quantities.wald_interval(maximum, j) for j in (fin, prio)]
    profile = [
      quantities.profile_interval(model, maximum, j) for j in (fin, prio)
    ]
    rate = quantities.exponential_rate_interval(10, 20.0)
    add("PROPORTIONAL", quantities.proportional_intensities(maximum))
    add("STANDARDIZED_0", [row[:2] for row in standardized])
    add("STANDARDIZED_1", [row[2:4] for row in standardized])
    add("STANDARDIZED_DIFFERENCES", [row[4:] for row in standardized])
    add("WALD_INTERVALS", wald)
    add("PROFILE_INTERVALS", profile)
    add("EXPONENTIAL_RATE_INTERVAL", [rate])
    maximum = models.lung().maximum()
    people = [(1.0, *person) for person in _PEOPLE]
    add("PEOPLE", _PEOPLE)
    add(
      "LOG_CUMULATIVE_HAZARDS",
      [quantities.log_cumulative_hazard(maximum, x, _DAYS) for x in people],
    )
    add(
      "LOG_MEDIANS", [quantities.log_quantile(maximum, x, 0.5) for x in people]
    )
    add("LOG_MEANS", [quantities.log_mean(maximum, x) for x in people])
    add(
      "RESTRICTED_MEANS",
      [quantities.restricted_mean(maximum, x, _DAYS) for x in people],
    )
  return sources


def _printed_sources(lines: list[str]) -> tuple[str, list[str]]:
  """Returns the version, and assignments of what a program has printed."""
  version, sources = "", []
  for line in lines:
    kind, name, *words = line.split()
    if kind == "version":
      version = " ".join([name, *words])
      continue
    numbers = [float(word) for word in words]
    if kind == "fit":
      rows = np.reshape(numbers[1:], (-1, 3))
      fit = figures.Fit(numbers[0], models.MODELS[name]().names, *rows.T)
      sources.append(figures.fit_source(name, fit))
    else:
      rows = np.reshape(numbers, (-1, _WIDTHS.get(name, 3)))
      sources.append(figures.array_source(name, rows))
  return version, sources


def _write_tables(folder: str) -> None:
  for table in (tables.rossi, tables.lung, tables.intervals, tables.entries):
    path = pathlib.Path(folder) / f"{table.__name__}.csv"
    columns = table()
    with path.open("w", encoding="utf-8", newline="") as file:
      writer = csv.writer(file)
      writer.writerow(columns)
      for row in zip(*columns.values(), strict=True):
        writer.writerow(["NA" if math.isnan(x) else float(x) for x in row])


def main() -> None:
  """Writes the three modules."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--lifelines", required=True, metavar="PYTHON")
  arguments = parser.parse_args()
  programs = (
    ("from_survreg.py", _SURVREG, ["Rscript", "survreg_fits.R"]),
    (
      "from_lifelines.py",
      _LIFELINES,
      [arguments.lifelines, "-P", "lifelines_fits.py"],
    ),
  )
  with tempfile.TemporaryDirectory() as folder:
    _write_tables(folder)
    for name, (what, how), command in programs:
      printed = subprocess.run(
        [*command, folder],
        cwd=_FOLDER,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
      ).stdout
      version, sources = _printed_sources(printed.splitlines())
      _write(name, (what, how.format(version=version)), sources)
  _write("exact.py", _EXACT, _exact_sources())


if __name__ == "__main__":
  main()
