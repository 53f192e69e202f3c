"""Prints figures of regressions by lifelines, in an environment of its own.

    python lifelines_fits.py FOLDER    where FOLDER has the tables as CSV files

Each line has the name of a fit, its log likelihood, and for each parameter the
estimate, its standard error and its robust one, or nan. The order of parameters
is that of survreg: effects on log time, then log scales. lifelines has the log
shape instead of the log scale, which is minus it.
"""

import pathlib
import sys

import lifelines
from lifelines import datasets
import numpy as np
import pandas as pd

# By default the search ends when the mean log likelihood moves by 1e-10, with
# errors of 1e-3 in some coefficients.
_OPTIONS = {"ftol": 1e-15, "maxiter": 1000}
_EFFECTS = ("fin", "age", "race", "wexp", "mar", "paro", "prio")
_TIMES, _SHAPES = ("lambda_", "alpha_"), ("rho_", "beta_")


def _show(name, fit, effects, robust_errors=None, strata=()):
  """Prints a line.

  Args:
    name: of the fit.
    fit: a fitter after its fit.
    effects: covariates in the order of survreg.
    robust_errors: in the order of lifelines, where there are some.
    strata: values of the covariate of the log shape, where it has one.
  """
  keys = list(fit.params_.index)

  def unit(parameters, effect):
    return np.array([float(p in parameters and e == effect) for p, e in keys])

  # Rows of the matrix from lifelines' parameters to those of survreg.
  rows = [unit(_TIMES, effect) for effect in ("Intercept", *effects)]
  shape = unit(_SHAPES, "Intercept")
  if strata:
    rows += [-shape - value * unit(_SHAPES, "sex") for value in strata]
  else:
    rows.append(-shape)
  rows = np.array(rows)
  estimates = rows @ fit.params_.values
  errors = np.sqrt(np.diag(rows @ fit.variance_matrix_.values @ rows.T))
  robust = np.full(len(rows), np.nan)
  if robust_errors is not None:
    robust = np.abs(rows) @ robust_errors.values
  numbers = [fit.log_likelihood_]
  numbers += np.stack([estimates, errors, robust], axis=1).ravel().tolist()
  print("fit", name, *(f"{x:.15g}" for x in numbers))


def main(folder: pathlib.Path) -> None:
  """Prints all lines, for tables in a folder."""
  tables = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
  rossi = tables["rossi"]
  assert rossi.equals(datasets.load_rossi().astype(float)[list(rossi)])
  patients = tables["lung"][["time", "status", "age", "sex", "weight"]]
  usual = patients.drop(columns="weight")
  weibull = lifelines.WeibullAFTFitter
  log_logistic = lifelines.LogLogisticAFTFitter

  def fitted(fitter, table, *columns, **options):
    return fitter().fit(table, *columns, fit_options=_OPTIONS, **options)

  def robust_errors(*arguments, **options):
    return fitted(*arguments, robust=True, **options).standard_errors_

  for name, fitter in (("WEIBULL", weibull), ("LOG_LOGISTIC", log_logistic)):
    arguments = (fitter, rossi, "week", "arrest")
    errors = robust_errors(*arguments)
    _show(f"ROSSI_{name}", fitted(*arguments), _EFFECTS, errors)
  # Its log likelihood has the penalty in it.
  penalized = weibull(penalizer=0.1)
  fit = penalized.fit(rossi, "week", "arrest", fit_options=_OPTIONS)
  _show("ROSSI_PENALIZED", fit, _EFFECTS)

  arguments = (weibull, usual, "time", "status")
  errors = robust_errors(*arguments)
  _show("LUNG_WEIBULL", fitted(*arguments), ("age", "sex"), errors)
  # Its robust errors would leave the weights out.
  fit = fitted(weibull, patients, "time", "status", weights_col="weight")
  _show("LUNG_WEIGHTS", fit, ("age", "sex"))
  fit = fitted(weibull, usual, "time", "status", formula="age", ancillary="sex")
  _show("LUNG_STRATA", fit, ("age",), strata=(1.0, 2.0))

  for name, fitter in (("WEIBULL", weibull), ("LOG_LOGISTIC", log_logistic)):
    arguments = (tables["intervals"], "lower", "upper")
    fit, robust = (
      fitter().fit_interval_censoring(
        *arguments, robust=robust, fit_options=_OPTIONS
      )
      for robust in (False, True)
    )
    errors = robust.standard_errors_
    _show(f"INTERVALS_{name}", fit, ("dose", "group"), errors)
    arguments = (fitter, tables["entries"], "time", "event")
    fit = fitted(*arguments, entry_col="entry")
    errors = robust_errors(*arguments, entry_col="entry")
    _show(f"ENTRIES_{name}", fit, ("dose",), errors)
  print("version lifelines", lifelines.__version__)


if __name__ == "__main__":
  main(pathlib.Path(sys.argv[1]))
