"""Writes `from_msm.py` anew by R's package msm: `make references`."""

import csv
import pathlib
import subprocess
import tempfile

import numpy as np

from tests.oracle.panel import tables
from tests.oracle.regressions import figures

_FOLDER = pathlib.Path(__file__).parent
_HEAD = '''"""Figures of multi-state models by R's package msm.

Written by `make references`; do not edit. `Rscript msm_fits.R FOLDER` prints
them, here by {version}.
On Debian: apt-get install --no-install-recommends r-base-core r-cran-msm

LOG_LIKELIHOODS are those of `settings.SETTINGS`. All else is of `tables.clinic`
with exactly known deaths and the covariate treated, not centered. States are in
the order of `tables.STATES`, numbered from 1.

- CRUDE_INTENSITIES, CRUDE_CODES: what crudeinits.msm starts from, `[4, 4]`, of
  the states and of the codes.
- BASE, TIED: maxima. Rows are the log intensities, then the effects of treated
  on them, both in the order of `tables.TRANSITIONS`; columns the estimate and
  its standard error. TIED has two equal intensities, from well and from mild to
  dead, and three different effects: on getting worse, on deaths from whatever
  state, and on recovery. BASE_MAXIMUM, TIED_MAXIMUM: the log likelihood there;
  TIED_GIVEN: with `given.START` and `given.EFFECTS`, of which the first
  of equal ones counts.
- Answers at the maximum of BASE end in 0 for the untreated, in 1 for the
  treated. L and U are ends of 95 % intervals, by the delta method on the log.
  - INTENSITIES, NEXT_STATES: matrices, `[4, 4]`, with negative diagonals.
  - TRANSITION_PROBS: over five years, `[4, 4]`.
  - SOJOURNS: rows of well, mild, severe; columns mean, error, L and U.
  - STAYS: expected years in each state between 1 and 5 years from well;
    STAYS_FOREVER: in well, mild, severe without an end.
  - PASSAGES_TO_DEAD, PASSAGES_TO_SEVERE: mean years from each state.
- HAZARD_RATIOS: of treated, in the order of transitions; columns estimate, L
  and U.
- OBSERVED_START, OBSERVED_MIDPOINT: subjects in each state, and their sum, at
  `PREVALENCE_TIMES`; each visit counts until the next one, or up to the middle.
  EXPECTED_START, EXPECTED_MIDPOINT: expected for those subjects as treated as
  they are; EXPECTED_TREATED: as if all were treated.
- PERIODS_TRANSITION_PROBS: `[4, 4]`, from 1 to 6 years for the treated, with
  the parameters of the setting PERIODS.
- PEARSON: statistic, p; least degrees of freedom, p; most, p, of visits until
  the first severe state, with parameters PEARSON_ESTIMATES; of PEARSON_OBSERVED
  and PEARSON_EXPECTED. Rows are two groups of times, within two of intervals,
  within two of covariates; columns the transitions 1-1, 1-2, 1-3, 2-1, 2-2,
  2-3.
- SMOOTHED: probabilities of each state in the rows of the first 20 subjects,
  given all their rows, in the setting LABELS_AT_VISIT.
"""

from tests.oracle.regressions import figures

PREVALENCE_TIMES = (0.0, 1.0, 2.5, 4.0, 6.0)

LOG_LIKELIHOODS = {{
{log_likelihoods}
}}

'''


def _write_tables(folder: str) -> None:
  for table in (tables.clinic, tables.monitored):
    path = pathlib.Path(folder) / f"{table.__name__}.csv"
    columns = table()
    with path.open("w", encoding="utf-8", newline="") as file:
      writer = csv.writer(file)
      writer.writerow(columns)
      writer.writerows(zip(*map(np.ndarray.tolist, columns.values())))


def _read(lines: list[str]) -> tuple[str, dict[str, float], list[str]]:
  """Returns the version, log likelihoods of settings, and assignments."""
  version, values, sources = "", {}, []
  for line in lines:
    kind, name, *words = line.split()
    if kind == "version":
      version = line.removeprefix("version ").strip()
    elif kind == "log_likelihood":
      values[name] = float(words[0])
    elif kind == "step" and not float(words[0]) < 1e-9:
      raise ValueError(f"{name} is {words[0]} standard errors from its maximum")
    elif kind == "values":
      rows = np.array(words[1:], float).reshape(-1, int(words[0]))
      sources.append(
        f"{name} = {float(rows[0, 0])!r}\n"
        if rows.size == 1
        else figures.array_source(name, rows)
      )
  return version, values, sources


def main() -> None:
  """Writes the module."""
  with tempfile.TemporaryDirectory() as folder:
    _write_tables(folder)
    printed = subprocess.run(
      ["Rscript", "msm_fits.R", folder],
      cwd=_FOLDER,
      check=True,
      stdout=subprocess.PIPE,
      text=True,
    ).stdout
  version, values, sources = _read(printed.splitlines())
  lines = "\n".join(f'  "{name}": {x!r},' for name, x in values.items())
  head = _HEAD.format(version=version, log_likelihoods=lines)
  text = head + "\n".join(sources)
  (_FOLDER / "from_msm.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
  main()
