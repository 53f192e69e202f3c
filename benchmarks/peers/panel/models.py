"""The model of both of phasic's rows, by NumPy's or JAX's package."""

import numpy as np
import subjects

NAMES = [
  f"{subjects.STATES[i - 1]} -> {subjects.STATES[j - 1]}"
  for i, j in subjects.TRANSITIONS
]


def data(ph):
  """Returns the panel data."""
  table = subjects.table()
  states = [subjects.STATES[int(x) - 1] for x in table["state"]]
  return ph.multistate.PanelData.from_table(
    {**table, "state": states},
    subject="subject",
    time="time",
    state="state",
    exact=["dead"],
    covariates=["age"],
  )


def model(ph, with_age):
  """Returns the model, of which nothing is known of its data."""
  effects = ["age"] if with_age else None
  return ph.multistate.MultiState(subjects.TARGETS, effects=effects)


def given(with_age):
  """Returns log rates, and effects if there are any."""
  logs = np.log(np.array(subjects.RATES))
  return np.append(logs, subjects.EFFECTS) if with_age else logs


def terms(ph, exp, with_age, panel):
  """Returns the terms of the log likelihood as a function of `given`."""
  bound, layout = model(ph, with_age).with_data(panel)
  assert list(bound.labels["rates"]) == NAMES
  size = len(NAMES)

  def log_likelihood_terms(x):
    parameters = {"rates": exp(x[:size])}
    if with_age:
      parameters["effects"] = x[size:]
    return bound.log_likelihood_terms(parameters, layout)

  return log_likelihood_terms


def fit(ph, with_age):
  """Returns a call that fits, and its log likelihood."""
  panel = data(ph)

  def call():
    result = ph.inference.fit_mle(model(ph, with_age), panel)
    return result, result.standard_errors

  return call, lambda: call()[0].log_likelihood
