"""Refusals of regressions and of bad tables, penalties, and compiled calls."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from phasic import regression
from tests.helpers import test_case
from tests.oracle.regressions import models
from tests.oracle.regressions import tables

MODE = "numpy"
_TABLE = {
  "age": onp.asarray([50.0, 61.0, 48.0, 70.0]),
  "sex": onp.asarray(["f", "m", "m", "f"]),
  "dose": onp.asarray([1.0, 2.0, 3.0, 5.0]),
  "one": onp.ones(4),
  "twice": onp.asarray([2.0, 4.0, 6.0, 10.0]),
  "holes": onp.asarray([1.0, math.nan, 2.0, 3.0]),
}


def _data():
  return inference.Observations.right_censored(
    onp.asarray([1.0, 2.0, 3.0, 1.5]), [1, 1, 0, 1]
  )


def _erlang():
  return pd.Erlang(1, 1.0)


def _graph():
  def step(state):
    yield graphs.ABSORBED, {"death": 1.0}

  graph = graphs.Graph.from_transitions(step, initial=0, params=("death",))
  return pd.PhaseType.from_graph(graph, params={"death": 1.0})


class RefusalsTest(test_case.TestCase):
  """Tests messages, with the names of columns and rows."""

  @parameterized.named_parameters(
    ("nothing", {}, ValueError, "there is no effect"),
    (
      "no_name",
      {"params": {"rte": ["age"]}},
      ValueError,
      "no parameter of that",
    ),
    ("no_entry", {"params": {"rate[1]": ["age"]}}, ValueError, "no such entry"),
    ("one_phase", {"initial_probs": ["age"]}, ValueError, "no initial"),
    (
      "offset",
      {"time": ["age"], "offsets": {"no": "dose"}},
      ValueError,
      "offsets has 'no'",
    ),
    (
      "penalizer",
      {"time": ["age"], "penalizer": -1.0},
      ValueError,
      "penalizer is -1",
    ),
    (
      "text",
      {"time": ["age"], "penalizer": "1"},
      TypeError,
      "penalizer is '1'",
    ),
    ("params", {"params": ["age"]}, TypeError, "params is"),
  )
  def test_arguments(self, arguments, error, message):
    with self.assertRaisesRegex(error, message):
      regression.Regression(_erlang(), **arguments)

  def test_distributions(self):
    with self.assertRaisesRegex(TypeError, "distribution is 1"):
      regression.Regression(1, time=["age"])
    with self.assertRaisesRegex(ValueError, r"batch shape \(2,\)"):
      regression.Regression(pd.Erlang(1, [1.0, 2.0]), time=["age"])
    discrete = pd.DiscretePhaseType([1.0], [[0.5]])
    with self.assertRaisesRegex(ValueError, "cannot be rescaled"):
      regression.Regression(discrete, time=["age"])
    with self.assertRaisesRegex(ValueError, "only one phase may be the first"):
      regression.Regression(
        pd.PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]]),
        initial_probs=["age"],
      )

  @parameterized.named_parameters(
    ("unknown", ["weight"], "'weight'"),
    ("constant", ["age", "one"], "'one'|one"),
    ("collinear", ["dose", "age", "twice"], "dose.*twice|twice.*dose"),
    ("missing", ["holes"], r"'holes' is nan in row 1"),
  )
  def test_tables(self, effect, message):
    model = regression.Regression(_erlang(), time=effect)
    with self.assertRaisesRegex(ValueError, message):
      inference.fit_mle(model, _data(), covariates=_TABLE)

  def test_rows(self):
    model = regression.Regression(_erlang(), time=["age"])
    short = {"age": _TABLE["age"][:3]}
    with self.assertRaisesRegex(ValueError, "3 rows, and there are 4"):
      inference.fit_mle(model, _data(), covariates=short)
    with self.assertRaisesRegex(TypeError, "covariates is None"):
      inference.fit_mle(model, _data())
    with self.assertRaisesRegex(TypeError, "fit regression.Regression"):
      inference.fit_mle(_erlang(), _data(), covariates=_TABLE)
    with self.assertRaisesRegex(TypeError, "must be inference.Observations"):
      inference.fit_mle(model, onp.ones(4), covariates=_TABLE)
    for bad, message in (
      ({"time": [1.0, -2.0], "event": [1, 1]}, r"time\[1\] = -2"),
      ({"time": [1.0, 2.0], "event": [1, 3]}, r"event\[1\] = 3"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        inference.Observations.from_table(bad, time="time", event="event")
    late = {"t": [1.0, 2.0], "e": [0.5, 2.5]}
    with self.assertRaisesRegex(ValueError, r"\[1\]"):
      inference.Observations.from_table(late, time="t", entry="e")
    ends = {"a": [1.0, math.nan], "b": [2.0, math.nan]}
    with self.assertRaisesRegex(ValueError, "one of 'a' and 'b' must be known"):
      inference.Observations.from_table(ends, lower="a", upper="b")

  def test_predictions(self):
    if MODE != "numpy":
      self.skipTest("NumPy code, the same in all substrates")
    else:
      model = regression.Regression(
        _erlang(), time="age + C(sex)", strata=[1, 1, 2, 2]
      )
      fit = inference.fit_mle(model, _data(), covariates=_TABLE)
      with self.assertRaisesRegex(TypeError, "predictions need a table"):
        fit.predict()
      with self.assertRaisesRegex(ValueError, "covariates has no 'strata'"):
        fit.predict({"age": [1.0], "sex": ["f"]})
      with self.assertRaisesRegex(ValueError, "strata is 3 in row 0"):
        fit.predict({"age": [1.0], "sex": ["f"], "strata": [3]})
      with self.assertRaisesRegex(ValueError, "'x'"):
        fit.predict({"age": [1.0], "sex": ["x"], "strata": [1]})
      with self.assertRaisesRegex(ValueError, "column is 'no'"):
        regression.standardized(
          fit, "mean", covariates=_TABLE, column="no", levels=[1]
        )
      with self.assertRaisesRegex(TypeError, "must be the ModelFit"):
        regression.hazard_ratios(_erlang(), _TABLE, _TABLE, [1.0])
      with self.assertRaisesRegex(TypeError, "fit_mle fits it"):
        inference.fit_em(model, _data())


class CompiledTest(test_case.TestCase):
  """Tests penalties, and log likelihoods that are compiled and mapped."""

  def test_a_penalty(self):
    table = tables.rossi()
    data = inference.Observations.right_censored(table["week"], table["arrest"])
    effects = list(models.ROSSI_EFFECTS)
    model = regression.Regression(_erlang(), time=effects, penalizer=0.3)
    bound, laid_out = model.with_data(data, table)
    b = onp.linspace(-0.5, 0.7, 7)
    spreads = [onp.std(table[name], ddof=1) for name in effects]
    parameters = {"distribution": _erlang(), "time": np.asarray(b)}
    known = 0.15 * onp.sum((onp.asarray(spreads) * b) ** 2)
    self.assert_close(bound.penalty(parameters), known, 1e-12)
    if MODE == "numpy":
      fit = inference.fit_mle(model, data, covariates=table)
      plain = inference.fit_mle(
        regression.Regression(_erlang(), time=effects), data, covariates=table
      )
      self.assertLess(fit.log_likelihood, plain.log_likelihood)
      # The slopes of the mean log likelihood are those of the penalty.
      _, slopes = pm.value_and_gradient(
        lambda x: np.sum(
          bound.log_likelihood_terms({**fit.parameters, "time": x}, laid_out)
        ),
        fit.parameters["time"],
      )
      shrunk = 0.3 * onp.asarray(spreads) ** 2 * fit.parameters["time"]
      self.assert_close(slopes / 432.0, shrunk, 1e-6, 1e-9)

  def test_compiled_and_mapped(self):
    model = regression.Regression(
      _graph(), time=["age"], params={"death": ["dose"]}
    )
    bound, data = model.with_data(_data(), _TABLE)

    def log_likelihood(death, b):
      dist = _graph().copy(params={"death": death})
      parameters = {"distribution": dist, "time": b[:1], "log death": b[1:]}
      return np.sum(bound.log_likelihood_terms(parameters, data))

    deaths = np.asarray(onp.asarray([0.5, 1.0, 2.0]))
    effects = np.asarray(onp.asarray([[0.01, 0.2], [0.0, 0.0], [-0.02, 0.1]]))
    known = []
    for death, b in zip(self.host(deaths), self.host(effects), strict=True):
      rates = death * onp.exp(_TABLE["dose"] * b[1] - _TABLE["age"] * b[0])
      terms = onp.asarray([1, 1, 0, 1]) * onp.log(rates)
      known.append(onp.sum(terms - rates * onp.asarray([1.0, 2.0, 3.0, 1.5])))
    self.assert_close(
      [log_likelihood(deaths[i], effects[i]) for i in range(3)], known, 1e-12
    )
    if MODE == "jax":
      import jax

      mapped = jax.jit(jax.vmap(log_likelihood))
      self.assert_close(mapped(deaths, effects), known, 1e-12)
      slopes = jax.jit(jax.vmap(jax.grad(log_likelihood, argnums=1)))
      self.assertEqual(slopes(deaths, effects).shape, (3, 2))
    if MODE == "tf":
      import tensorflow as tf

      mapped = tf.function(
        lambda x, y: tf.map_fn(
          lambda pair: log_likelihood(*pair),
          (x, y),
          fn_output_signature=x.dtype,
        )
      )
      self.assert_close(mapped(deaths, effects), known, 1e-12)


if __name__ == "__main__":
  absltest.main()
