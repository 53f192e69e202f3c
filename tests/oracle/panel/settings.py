"""Models, parameters and rows of which msm_fits.R prints log likelihoods.

A key of `SETTINGS` is a name in `from_msm`; its value is a function without
arguments that returns a `Setting`.
"""

from collections.abc import Callable
import dataclasses
import functools

import jax.numpy as jnp
import jax.scipy.stats as stats
import numpy as np

from tests.oracle.panel import clinic_rows
from tests.oracle.panel import given
from tests.oracle.panel import records
from tests.oracle.panel import tables


@dataclasses.dataclass(frozen=True)
class Setting:
  """A model with parameters and observations of subjects."""

  parameters: dict
  model: records.Model
  subjects: list[list[records.Row]]


def _parameters(*effects, periods=False, **more) -> dict:
  parameters = {
    "log_intensities": np.log(given.START),
    "effects": np.stack(effects, axis=1),
    **more,
  }
  if periods:
    parameters["period_effects"] = given.PERIOD_EFFECTS
  return parameters


def _visible(
  row, *, effects=(given.EFFECTS,), periods=False, table=tables.clinic
):
  return Setting(
    _parameters(*effects, periods=periods),
    records.Model(4, given.TRANSITIONS, cuts=given.CUTS if periods else ()),
    clinic_rows.grouped(table(), row),
  )


def _phase_setting():
  return Setting(
    {
      "log_intensities": np.log(list(given.PHASE_RATES.values())),
      "effects": given.PHASE_EFFECTS[:, None],
    },
    records.Model(6, tuple(given.PHASE_RATES)),
    clinic_rows.grouped(tables.clinic(), clinic_rows.phases),
  )


def _hidden(
  row,
  *,
  effects=(given.EFFECTS,),
  periods=False,
  mislabels=(),
  outcome=None,
  **parameters,
):
  return Setting(
    _parameters(*effects, periods=periods, **parameters),
    records.Model(
      4,
      given.TRANSITIONS,
      cuts=given.CUTS if periods else (),
      start=(0, 1, 2),
      start_probs=given.FIRST,
      mislabels=mislabels,
      outcome=outcome,
    ),
    clinic_rows.grouped(tables.clinic(), row),
  )


def _labels(
  row=clinic_rows.labeled, effects=(given.EFFECTS,), periods=False, **more
):
  logits = np.log(given.MISLABEL_PROBS / given.RIGHT_PROBS)
  return _hidden(
    row,
    effects=effects,
    periods=periods,
    mislabels=given.MISLABELS,
    label_logits=logits,
    **more,
  )


def _labels_dose():
  zeros = 0.0 * given.LABEL_EFFECTS
  return _labels(
    clinic_rows.labeled_with_dose,
    effects=(given.EFFECTS, 0.0 * given.EFFECTS),
    label_effects=np.stack([zeros, given.LABEL_EFFECTS], axis=1),
  )


def _labels_from_well():
  setting = _labels()
  table = tables.clinic()
  well = table["state"][table["time"] == 0.0] == 1
  subjects = [
    x for x, start in zip(setting.subjects, well, strict=True) if start
  ]
  model = dataclasses.replace(setting.model, start=(0,), start_probs=(1.0,))
  return dataclasses.replace(setting, model=model, subjects=subjects)


def normal(parameters, outcome, covariates):
  """Log densities of normal outcomes."""
  means = parameters["means"] + parameters["mean_effects"] * covariates[1]
  return stats.norm.logpdf(outcome[0], means, parameters["sds"])


def truncated_normal(parameters, outcome, covariates):
  """Log densities of normal outcomes, given that they are above 0."""
  del covariates
  means, sds = parameters["means"], parameters["sds"]
  above = stats.norm.logcdf(means / sds)
  return stats.norm.logpdf(outcome[0], means, sds) - above


def poisson(parameters, outcome, covariates):
  """Log probabilities of Poisson outcomes."""
  means = parameters["means"] * jnp.exp(
    parameters["mean_effects"] * covariates[1]
  )
  return stats.poisson.logpmf(outcome[0], means)


def _measured(name: str, outcome: Callable, **parameters):
  parameters = {key: np.array(value) for key, value in parameters.items()}
  row = functools.partial(clinic_rows.measured, name)
  effects = (given.EFFECTS, 0.0 * given.EFFECTS)
  return _hidden(row, effects=effects, outcome=outcome, **parameters)


SETTINGS: dict[str, Callable[[], Setting]] = {
  "START": lambda: _visible(
    clinic_rows.treated, effects=(0.0 * given.EFFECTS,)
  ),
  "GIVEN": lambda: _visible(clinic_rows.treated),
  "DEATH_AT_VISIT": lambda: _visible(clinic_rows.at_visit),
  "DOSE": lambda: _visible(
    clinic_rows.with_dose, effects=(given.EFFECTS, given.DOSE_EFFECTS)
  ),
  "CODES": lambda: _visible(clinic_rows.coded_later),
  "CODES_FIRST": lambda: _visible(clinic_rows.coded),
  "MONITORED": lambda: _visible(clinic_rows.watched, table=tables.monitored),
  "PERIODS": lambda: _visible(clinic_rows.treated, periods=True),
  "PERIODS_DOSE": lambda: _visible(
    clinic_rows.with_dose,
    effects=(given.EFFECTS, given.DOSE_EFFECTS),
    periods=True,
  ),
  "PERIODS_MONITORED": lambda: _visible(
    clinic_rows.watched, periods=True, table=tables.monitored
  ),
  "PERIODS_CODES": lambda: _visible(clinic_rows.coded_later, periods=True),
  "LABELS": _labels,
  "LABELS_TREATED": lambda: _labels(label_effects=given.LABEL_EFFECTS[:, None]),
  "LABELS_DOSE": _labels_dose,
  "LABELS_AT_VISIT": lambda: _labels(clinic_rows.labeled_at_visit),
  "LABELS_FROM_WELL": _labels_from_well,
  "LABELS_KNOWN_FIRST": lambda: _labels(clinic_rows.known_first),
  "LABELS_CODES": lambda: _labels(clinic_rows.labels_or_codes),
  "LABELS_SETS": lambda: _labels(clinic_rows.labels_or_sets),
  "LABELS_PERIODS": lambda: _labels(periods=True),
  "MARKER": lambda: _measured(
    "marker", normal, **given.MARKER, mean_effects=0.0 * given.DOSE_MEAN_EFFECTS
  ),
  "MARKER_DOSE": lambda: _measured(
    "marker", normal, **given.MARKER, mean_effects=given.DOSE_MEAN_EFFECTS
  ),
  "SHARE": lambda: _measured("share", truncated_normal, **given.SHARE),
  "COUNT": lambda: _measured(
    "count",
    poisson,
    means=given.COUNT_MEANS,
    mean_effects=0.0 * given.DOSE_MEAN_EFFECTS,
  ),
  "COUNT_DOSE": lambda: _measured(
    "count",
    poisson,
    means=given.COUNT_MEANS,
    mean_effects=given.DOSE_MEAN_EFFECTS,
  ),
  "PHASES": _phase_setting,
}
