"""Random multi-state models and data against an independent likelihood."""

import dataclasses
import functools
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import math as ph_math
from phasic import multistate
from tests.helpers import test_case
from tests.oracle.panel import likelihood
from tests.oracle.panel import random_cases
from tests.oracle.panel import records

_KINDS = {records.VISIT: 0, records.ENTRY: 1, records.EXACT: 2}
_CASES = 40


@functools.cache
def _cases():
  rng = onp.random.default_rng(66)
  return [random_cases.random_case(rng) for _ in range(_CASES)]


def _state(i):
  return f"s{i}"


def _label(case, row):
  """Returns the text of a row's state or set of states."""
  states = row.labels or row.states or range(case.model.num_states)
  return "|".join(map(_state, states))


def _data(case):
  rows = [
    (k, row) for k, subject in enumerate(case.subjects) for row in subject
  ]
  labels = [_label(case, row) for _, row in rows]
  table = {
    "subject": [k for k, _ in rows],
    "time": [row.time for _, row in rows],
    "state": labels,
  }
  for i in range(len(rows[0][1].covariates)):
    table[f"x{i}"] = [row.covariates[i] for _, row in rows]
  outcomes = ["y"] if case.model.outcome is not None else []
  if outcomes:
    table["y"] = [(row.outcome or (math.nan,))[0] for _, row in rows]
  data = multistate.PanelData.from_table(
    table,
    subject="subject",
    time="time",
    state="state",
    censored={x: x.split("|") for x in sorted(set(labels)) if "|" in x},
    covariates=[name for name in table if name.startswith("x")],
    outcomes=outcomes,
  )
  kinds = [0 if not i else _KINDS[row.motion] for i, row in _numbered(case)]
  return dataclasses.replace(data, kinds=onp.asarray(kinds, onp.int64))


def _numbered(case):
  return [
    (i, row) for subject in case.subjects for i, row in enumerate(subject)
  ]


def _model(case):
  model, parameters = case.model, case.parameters
  targets = {_state(i): [] for i in range(model.num_states)}
  for i, j in model.transitions:
    targets[_state(i)].append(_state(j))
  options = {"cuts": model.cuts}
  if "effects" in parameters:
    count = parameters["effects"].shape[1]
    options["effects"] = [f"x{i}" for i in range(count)]
  if model.start is not None:
    probs = model.start_probs or [1.0 / len(model.start)] * len(model.start)
    names = map(_state, model.start)
    options["initial_probs"] = dict(zip(names, probs, strict=True))
    options["estimate_initial_probs"] = model.start_probs is None
  if model.mislabels:
    errors = {}
    for i, j in model.mislabels:
      errors.setdefault(_state(i), {})[_state(j)] = 0.1
    options["misclassification"] = errors
    if "effects" in parameters:
      options["misclassification_effects"] = options["effects"]
  if model.outcome is not None:
    leaving = sorted({i for i, _ in model.transitions})
    options["outcomes"] = {
      "y": {_state(i): multistate.normal(0.0, 1.0) for i in leaving}
    }
  return multistate.MultiState(targets, **options)


def _places(case):
  """Returns where parameters of the library lie among the oracle's, flattened.

  Pairs of places and of whether the parameter is the exponential.
  """
  places, first = {}, 0
  for name in sorted(case.parameters):
    shape = case.parameters[name].shape
    size = math.prod(shape)
    places[name] = onp.reshape(first + onp.arange(size), shape)
    first += size
  none = onp.zeros(0, onp.int64)

  def joined(*names):
    return onp.concatenate([none, *(places[x].T.ravel() for x in names)])

  effects = [x for x in ("effects",) if x in places]
  periods = [places[x].ravel() for x in ("period_effects",) if x in places]
  result = {
    "rates": (places["log_intensities"], True),
    "effects": (onp.concatenate([joined(*effects), *periods]), False),
  }
  for name, key in (
    ("initial_probs", "start_logits"),
    ("misclassification", "label_logits"),
    ("misclassification_effects", "label_effects"),
  ):
    if key in places:
      result[name] = (joined(key), False)
  if "means" in places:
    for i in range(case.model.num_states):
      result[f"y.{_state(i)}.mean"] = (places["means"][i], False)
      result[f"y.{_state(i)}.stddev"] = (places["log_sds"][i], True)
  return result


def _function(case):
  """Returns the log likelihood as a function of the oracle's parameters."""
  model, layout = _model(case).with_data(_data(case))
  places = {k: x for k, x in _places(case).items() if k in model.parameters}

  def function(flat):
    values = {}
    for name, (place, is_exp) in places.items():
      value = np.take(flat, place, axis=0)
      values[name] = np.exp(value) if is_exp else value
    return np.sum(model.log_likelihood_terms(values, layout))

  return function


class RandomCasesTest(test_case.TestCase):
  """Tests values and derivatives."""

  @parameterized.parameters(*range(_CASES))
  def test_derivatives(self, number):
    case = _cases()[number]
    value, gradient, hessian = likelihood.derivatives(
      case.parameters, case.model, case.subjects, random_cases.SIZES
    )
    names = sorted(case.parameters)
    flat = onp.concatenate([case.parameters[x].ravel() for x in names])
    function = _function(case)
    x = np.asarray(flat)
    computed, slopes = ph_math.value_and_gradient(function, x)
    onp.testing.assert_allclose(onp.asarray(computed), value, rtol=1e-10)
    scale = max(1.0, onp.max(onp.abs(gradient)))
    onp.testing.assert_allclose(
      onp.asarray(slopes), gradient, atol=1e-8 * scale
    )
    scale = max(1.0, onp.max(onp.abs(hessian)))
    directions = onp.random.default_rng(number).standard_normal((2, len(flat)))
    for direction in directions:
      product = ph_math.hessian_vector_product(
        function, (x,), (np.asarray(direction),)
      )
      onp.testing.assert_allclose(
        onp.asarray(product), hessian @ direction, atol=1e-8 * scale
      )


if __name__ == "__main__":
  absltest.main()
