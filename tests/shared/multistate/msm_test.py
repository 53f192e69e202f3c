"""Log likelihoods, maxima and errors are those of R's package msm."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import inference
from phasic import multistate
from tests.helpers import test_case
from tests.oracle.panel import from_msm
from tests.oracle.panel import given
from tests.oracle.panel import tables

_NAMES = [
  f"{tables.STATES[i]} -> {tables.STATES[j]}" for i, j in given.TRANSITIONS
]
_TARGETS = {
  "well": ["mild", "dead"],
  "mild": ["well", "severe", "dead"],
  "severe": ["dead"],
}
_CENSORED = {
  str(code): [tables.STATES[i - 1] for i in states]
  for code, states in tables.SETS.items()
}
_FIRST = dict(zip(tables.STATES, given.FIRST, strict=False))
_PHASES = ("well[1]", "well[2]", "mild[1]", "mild[2]", "severe", "dead")
_WRONG = [
  (tables.STATES[i], tables.STATES[label]) for i, label in given.MISLABELS
]
_MISCLASSIFICATION = {state: {} for state, _ in _WRONG}
for (_state, _label), _prob in zip(_WRONG, given.MISLABEL_PROBS, strict=True):
  _MISCLASSIFICATION[_state][_label] = float(_prob)


def _named(values, *labels):
  """Returns numbers by "effects[label, transition]", or without a label."""
  names = [", ".join([*labels, name]) for name in _NAMES]
  return dict(zip(names, onp.asarray(values), strict=True))


def _states(column):
  """Returns names of states, and codes as they are."""
  names = dict(enumerate(tables.STATES, start=1))
  return [names.get(int(x), str(int(x))) for x in column]


def _data(states, *, table=None, exact=("dead",), **options):
  table = tables.clinic() if table is None else table
  columns = dict(table)
  if states:
    columns["state"] = _states(table[states])
  for name in ("marker", "share", "count"):
    if name in columns:
      column = columns[name]
      columns[name] = onp.where(column == tables.DEAD_OUTCOME, math.nan, column)
  return multistate.PanelData.from_table(
    columns,
    subject="subject",
    time="time",
    state="state",
    exact=list(exact),
    covariates=[x for x in ("treated", "dose") if x in columns],
    **options,
  )


_TREATED = _named(given.EFFECTS, "treated")
_DOSE = _named(given.DOSE_EFFECTS, "dose")
_PERIODS = {
  **_named(given.PERIOD_EFFECTS[0], "time [2, 5)"),
  **_named(given.PERIOD_EFFECTS[1], "time [5, inf)"),
}


def _model(effects=("treated",), intensities=_TARGETS, **options):
  return multistate.MultiState(intensities, effects=list(effects), **options)


def _hidden(**options):
  return _model(initial_probs=_FIRST, **options)


def _labeled(**options):
  return _hidden(misclassification=_MISCLASSIFICATION, **options)


def _watched():
  table = tables.monitored()
  table["held"] = table["kind"] == 2
  return _data("state", table=table, exact_times="held")


def _coded_labels():
  table = tables.clinic()
  table["label"] = onp.where(table["code"] > 90, table["code"], table["label"])
  return _data("label", table=table, censored=_CENSORED)


def _later_codes():
  table = tables.clinic()
  is_first = table["time"] == 0.0
  table["code"] = onp.where(is_first, table["state"], table["code"])
  return _data("code", table=table, censored=_CENSORED)


def _measured(name):
  """Only the dead are known."""
  table = tables.clinic()
  table["state"] = onp.where(table["state"] == 4, 4, 97)
  alive = {"97": tables.STATES[:3]}
  return _data("state", table=table, outcomes=[name], censored=alive)


def _outcomes(name, outcome, *columns):
  values = zip(tables.STATES[:3], *columns, strict=False)
  return _hidden(outcomes={name: {k: outcome(*x) for k, *x in values}})


def _phase_names():
  """Names of rates: another state is entered, whatever its phase."""
  names = []
  for i, j in given.PHASE_RATES:
    source, target = _PHASES[i], _PHASES[j]
    state = target.split("[")[0]
    names.append(f"{source} -> {target if state in source else state}")
  return names


# By name of a setting: data, model, effects by name; rates are given.START.
_SETTINGS = {
  "START": lambda: (_data("state"), _model(), {}),
  "GIVEN": lambda: (_data("state"), _model(), _TREATED),
  "DEATH_AT_VISIT": lambda: (_data("state", exact=()), _model(), _TREATED),
  "DOSE": lambda: (
    _data("state"),
    _model(["treated", "dose"]),
    _TREATED | _DOSE,
  ),
  "CODES": lambda: (_later_codes(), _model(), _TREATED),
  "MONITORED": lambda: (_watched(), _model(), _TREATED),
  "PERIODS": lambda: (
    _data("state"),
    _model(cuts=given.CUTS),
    _TREATED | _PERIODS,
  ),
  "PERIODS_DOSE": lambda: (
    _data("state"),
    _model(["treated", "dose"], cuts=given.CUTS),
    _TREATED | _DOSE | _PERIODS,
  ),
  "PERIODS_MONITORED": lambda: (
    _watched(),
    _model(cuts=given.CUTS),
    _TREATED | _PERIODS,
  ),
  "PERIODS_CODES": lambda: (
    _later_codes(),
    _model(cuts=given.CUTS),
    _TREATED | _PERIODS,
  ),
  "LABELS": lambda: (_data("label"), _labeled(), _TREATED),
  "LABELS_TREATED": lambda: (
    _data("label"),
    _labeled(misclassification_effects=["treated"]),
    _TREATED,
  ),
  "LABELS_DOSE": lambda: (
    _data("label"),
    _labeled(misclassification_effects=["dose"]),
    _TREATED,
  ),
  "LABELS_AT_VISIT": lambda: (_data("label", exact=()), _labeled(), _TREATED),
  "LABELS_CODES": lambda: (_coded_labels(), _labeled(), _TREATED),
  "LABELS_PERIODS": lambda: (
    _data("label"),
    _labeled(cuts=given.CUTS),
    _TREATED | _PERIODS,
  ),
  "MARKER": lambda: (
    _measured("marker"),
    _outcomes("marker", multistate.normal, *given.MARKER.values()),
    _TREATED,
  ),
  "SHARE": lambda: (
    _measured("share"),
    _outcomes(
      "share",
      lambda *x: multistate.truncated_normal(*x, 0.0, math.inf),
      *given.SHARE.values(),
    ),
    _TREATED,
  ),
  "COUNT": lambda: (
    _measured("count"),
    _outcomes("count", multistate.poisson, given.COUNT_MEANS),
    _TREATED,
  ),
}


def _tied():
  """Two deaths have one rate; effects are of worse, of death, of recovery."""
  intensities = multistate.Intensities(
    {
      "well": {"mild": "well -> mild", "dead": "death"},
      "mild": {"well": "recovery", "severe": "mild -> severe", "dead": "death"},
      "severe": {"dead": "late death"},
    }
  )
  effects = {
    ("well -> mild", "mild -> severe"): "treated",
    ("death", "late death"): "treated",
    "recovery": "treated",
  }
  return multistate.MultiState(intensities, effects=effects)


def _log_likelihood(data, model, effects, rates):
  """Computes the log likelihood at rates and effects by name."""
  model, layout = model.with_data(data)
  parameters = dict(model.parameters)
  labels = model.labels
  values = {
    "rates": [rates[name] for name in labels["rates"]],
    "effects": [effects.get(name, 0.0) for name in labels.get("effects", ())],
    "misclassification_effects": given.LABEL_EFFECTS,
  }
  for name, value in values.items():
    if name in parameters:
      parameters[name] = onp.asarray(value, onp.float64)
  terms = model.log_likelihood_terms(parameters, layout)
  return float(onp.sum(onp.asarray(terms, onp.float64)))


class MsmTest(test_case.TestCase):
  """Tests likelihoods and fits."""

  @parameterized.parameters(*_SETTINGS)
  def test_log_likelihood(self, name):
    rates = dict(zip(_NAMES, given.START, strict=True))
    value = _log_likelihood(*_SETTINGS[name](), rates)
    expected = from_msm.LOG_LIKELIHOODS[name]
    onp.testing.assert_allclose(value, expected, rtol=1e-11)

  def test_phases(self):
    names = _phase_names()
    intensities = multistate.Intensities(
      _TARGETS, sojourns={"well": 2, "mild": 2}
    )
    effects = [f"treated, {name}" for name in names]
    value = _log_likelihood(
      _data("state"),
      _model(intensities=intensities),
      dict(zip(effects, given.PHASE_EFFECTS, strict=True)),
      dict(zip(names, given.PHASE_RATES.values(), strict=True)),
    )
    expected = from_msm.LOG_LIKELIHOODS["PHASES"]
    onp.testing.assert_allclose(value, expected, rtol=1e-11)

  @parameterized.parameters("BASE", "TIED")
  def test_maximum(self, name):
    model = _model() if name == "BASE" else _tied()
    fit = inference.fit_mle(model, _data("state"))
    expected = getattr(from_msm, f"{name}_MAXIMUM")
    onp.testing.assert_allclose(fit.log_likelihood, expected, rtol=1e-8)
    rates, effects = (
      onp.asarray(fit.parameters[x], onp.float64) for x in ("rates", "effects")
    )
    errors = {
      x: onp.asarray(fit.standard_errors[x], onp.float64)
      for x in ("rates", "effects")
    }
    estimates = onp.concatenate([onp.log(rates), effects])
    errors = onp.concatenate([errors["rates"] / rates, errors["effects"]])
    figures = getattr(from_msm, name)
    if name == "TIED":  # Equal ones are stored as often as they are used.
      figures = figures[[0, 1, 2, 3, 5, 6, 7, 8]]
    scaled = (estimates - figures[:, 0]) / figures[:, 1]
    onp.testing.assert_allclose(scaled, 0.0, atol=1e-4)
    onp.testing.assert_allclose(errors, figures[:, 1], rtol=1e-3)


if __name__ == "__main__":
  absltest.main()
