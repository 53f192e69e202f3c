"""Likelihoods of panel data against products of matrix exponentials."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp
import scipy.linalg
import scipy.stats

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from phasic import multistate
from tests.helpers import test_case

_STATES = ("well", "mild", "severe", "dead")
_ALLOWED = {
  "well": ["mild", "dead"],
  "mild": ["well", "severe", "dead"],
  "severe": ["mild", "dead"],
}
_PAIRS = [(0, 1), (0, 3), (1, 0), (1, 2), (1, 3), (2, 1), (2, 3)]
_RATES = onp.asarray([0.4, 0.1, 0.3, 0.5, 0.15, 0.2, 0.9])


def _matrix(rates):
  q = onp.zeros((4, 4))
  for (i, j), rate in zip(_PAIRS, rates, strict=True):
    q[i, j] = rate
  return q - onp.diag(onp.sum(q, axis=-1))


def _moved(q, time):
  return scipy.linalg.expm(q * time)


def _terms(model, table, parameters, **arguments):
  """Returns the log likelihoods of subjects, at given parameters."""
  data = multistate.PanelData.from_table(
    table, subject="id", time="t", state="s", **arguments
  )
  bound, layout = model.with_data(data)
  given = {**bound.parameters, **parameters}
  return onp.asarray(bound.log_likelihood_terms(given, layout))


class LikelihoodTest(test_case.TestCase):
  """Tests single kinds of observations."""

  def test_kinds_of_rows(self):
    """Visits, deaths, exact times, sets, and rows without a state."""
    q = _matrix(_RATES)
    out = -onp.diag(q)
    table = {
      "id": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
      "t": [0.0, 0.7, 2.0, 1.0, 1.5, 4.0, 0, 0.3, 0.9, 0, 1, 2.2, 0.0, 3.0],
      "s": ["well", "mild", "dead"]
      + ["mild", "severe", "mild"]
      + ["well", "alive", "severe"]
      + ["severe", "", "well"]
      + ["well", "alive"],
      "exact": [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    }
    terms = _terms(
      multistate.MultiState(_ALLOWED),
      table,
      {"rates": np.asarray(_RATES)},
      exact=["dead"],
      censored={"alive": ["well", "mild", "severe"]},
      exact_times="exact",
    )
    deaths = q[:, 3] * (onp.arange(4) < 3)
    alive = onp.asarray([1.0, 1.0, 1.0, 0.0])
    known = [
      _moved(q, 0.7)[0, 1] * (_moved(q, 1.3)[1] @ deaths),
      math.exp(-0.5 * out[1] - 2.5 * out[2]) * q[1, 2] * q[2, 1],
      _moved(q, 0.3)[0] * alive @ _moved(q, 0.6)[:, 2],
      _moved(q, 1.0)[2] * alive @ _moved(q, 1.2)[:, 0],
      _moved(q, 3.0)[0] @ alive,
    ]
    self.assert_close(terms, onp.log(known), 1e-12)

  def test_effects_that_change(self):
    """Covariates hold from a row to the next, cuts change all rates."""
    table = {
      "id": [0, 0, 0],
      "t": [0.0, 1.0, 3.0],
      "s": ["well", "mild", "severe"],
      "x": [1.0, -0.5, 9.0],
    }
    model = multistate.MultiState(
      _ALLOWED,
      effects={
        "well -> mild": ["x"],
        ("mild -> dead", "severe -> dead"): ["x"],
      },
      cuts=[2.0],
    )
    effects = onp.asarray([0.3, -0.7, *onp.linspace(-0.5, 0.5, 7)])
    terms = _terms(
      model,
      table,
      {"rates": np.asarray(_RATES), "effects": np.asarray(effects)},
      covariates=["x"],
    )

    def q(x, later):
      eta = onp.asarray([0.3 * x, 0, 0, 0, -0.7 * x, 0, -0.7 * x])
      eta = eta + later * effects[2:]
      return _matrix(_RATES * onp.exp(eta))

    known = math.log(_moved(q(1.0, 0), 1.0)[0, 1])
    late = _moved(q(-0.5, 0), 1.0) @ _moved(q(-0.5, 1), 1.0)
    known += math.log(late[1, 2])
    self.assert_close(terms, [known], 1e-12)

  def test_labels_with_errors(self):
    """Wrong labels, a set of labels, an exact death, a random start."""
    table = {
      "id": [0] * 4,
      "t": [0.0, 1.0, 1.5, 3.0],
      "s": ["mild", "well", "ill", "dead"],
      "x": [0.2, 1.0, -1.0, 0.0],
    }
    model = multistate.MultiState(
      _ALLOWED,
      initial_probs={"well": 0.6, "mild": 0.3, "severe": 0.1},
      estimate_initial_probs=True,
      misclassification={
        "well": {"mild": 0.1},
        "mild": {"well": 0.2, "severe": 0.1},
        "severe": {"mild": 0.3},
      },
      misclassification_effects={"mild | well": ["x"]},
    )
    terms = _terms(
      model,
      table,
      {
        "rates": np.asarray(_RATES),
        "misclassification_effects": np.asarray([0.8]),
      },
      exact=["dead"],
      censored={"ill": ["mild", "severe"]},
      covariates=["x"],
    )

    def errors(x):
      odds = 0.1 / 0.9 * math.exp(0.8 * x)
      first = [1 / (1 + odds), odds / (1 + odds), 0, 0]
      rest = [[0.2, 0.7, 0.1, 0.0], [0, 0.3, 0.7, 0], [0, 0, 0, 1]]
      return onp.asarray([first, *rest])

    q = _matrix(_RATES)
    state = onp.asarray([0.6, 0.3, 0.1, 0.0]) * errors(0.2)[:, 1]
    state = state @ _moved(q, 1.0) * errors(1.0)[:, 0]
    seen = errors(-1.0)
    state = state @ _moved(q, 0.5) * (seen[:, 1] + seen[:, 2])
    likelihood = (state @ _moved(q, 1.5))[:3] @ q[:3, 3]
    self.assert_close(terms, [math.log(likelihood)], 1e-12)

  def test_outcomes(self):
    """Two outcomes, of which one is missing at a row."""
    table = {
      "id": [0] * 4,
      "t": [0.0, 1.0, 2.0, 3.5],
      "s": [None, None, None, "dead"],
      "fev": [95.0, 70.0, math.nan, math.nan],
      "visits": [0, 3, 2, math.nan],
    }
    low, high = 0.0, math.inf
    model = multistate.MultiState(
      _ALLOWED,
      initial_probs={"well": 1.0},
      outcomes={
        "fev": {
          "well": multistate.normal(100.0, 10.0),
          "mild": multistate.truncated_normal(80.0, 20.0, low, high),
          "severe": lambda y: -0.5 * (y - 50.0) ** 2 / 100.0,
        },
        "visits": {
          "well": multistate.poisson(0.5),
          "mild": multistate.poisson(1.5),
          "severe": multistate.poisson(3.0),
        },
      },
    )
    terms = _terms(
      model,
      table,
      {"rates": np.asarray(_RATES)},
      exact=["dead"],
      outcomes=["fev", "visits"],
    )

    def fev(y):
      return onp.asarray(
        [
          scipy.stats.norm(100, 10).pdf(y),
          scipy.stats.truncnorm(-4.0, math.inf, 80, 20).pdf(y),
          math.exp(-0.5 * (y - 50.0) ** 2 / 100.0),
          0.0,
        ]
      )

    def visits(k):
      return onp.append(scipy.stats.poisson([0.5, 1.5, 3.0]).pmf(k), 0.0)

    q = _matrix(_RATES)
    state = onp.asarray([1.0, 0, 0, 0]) * fev(95.0) * visits(0)
    state = state @ _moved(q, 1.0) * fev(70.0) * visits(3)
    state = state @ _moved(q, 1.0) * visits(2)
    likelihood = (state @ _moved(q, 1.5))[:3] @ q[:3, 3]
    self.assert_close(terms, [math.log(likelihood)], 1e-12)

  def test_phases(self):
    """A state of three stages: visits, and exact times of transitions."""
    table = {
      "id": [0, 0, 0, 1, 1],
      "t": [0.0, 1.0, 2.5, 0.0, 1.3],
      "s": ["well", "ill", "dead", "ill", "dead"],
      "exact": [0, 0, 0, 0, 1],
    }
    model = multistate.MultiState(
      multistate.Intensities(
        {"well": ["ill", "dead"], "ill": ["dead"]},
        sojourns={"ill": pd.Erlang(3, 5.0)},
      )
    )
    terms = _terms(
      model,
      table,
      {"rates": np.asarray([0.4, 0.1, 0.7])},
      exact=["dead"],
      exact_times="exact",
    )
    q = onp.zeros((5, 5))
    q[0, 1], q[0, 4] = 0.4, 0.1
    q[1, 2] = q[2, 3] = q[3, 4] = 3 * 0.7
    q -= onp.diag(onp.sum(q, axis=-1))
    state = _moved(q, 1.0)[0] * [0, 1, 1, 1, 0]
    known = math.log((state @ _moved(q, 1.5))[3] * 2.1)
    erlang = scipy.stats.gamma(3, scale=1 / 2.1).logpdf(1.3)
    self.assert_close(terms, [known, erlang], 1e-12)

  def test_graph(self):
    graph = graphs.Graph.from_edges(
      [
        ("a", "b", {"on": 1.0}),
        ("b", "a", {"off": 2.0, 1: 0.5}),
        ("b", graphs.ABSORBED("dead"), {"on": 0.25}),
      ],
      "a",
      params=("on", "off"),
    )
    table = {"id": [0, 0], "t": [0.0, 2.0], "s": ["a", "b"]}
    terms = _terms(
      multistate.MultiState(graph), table, {"rates": np.asarray([0.8, 0.3])}
    )
    q = onp.asarray([[-0.8, 0.8, 0], [1.1, -1.3, 0.2], [0, 0, 0]])
    self.assert_close(terms, [math.log(_moved(q, 2.0)[0, 1])], 1e-12)

  def test_extreme_rates(self):
    """Far from the data nothing overflows, and nothing is lost."""
    model = multistate.MultiState({"a": ["b"], "b": ["a"]})
    times = onp.arange(201) * 0.01
    table = {"id": [0] * 201, "t": times, "s": ["a", "b"] * 100 + ["a"]}
    for rate in (1e-6, 1e6):
      terms = _terms(model, table, {"rates": np.asarray([rate, rate])})
      step = 0.5 * -math.expm1(-2.0 * rate * 0.01)
      # Differences of the times have rounding errors.
      self.assert_close(terms, [200 * math.log(step)], 1e-9)

  def test_slopes_of_paths(self):
    """Derivatives of hidden and plain intervals, by complex steps."""
    table = {
      "id": [0, 0, 0, 1, 1],
      "t": [0.0, 1.0, 2.5, 0.0, 1.3],
      "s": ["well", "alive", "dead", "mild", "severe"],
    }
    data = multistate.PanelData.from_table(
      table,
      subject="id",
      time="t",
      state="s",
      exact=["dead"],
      censored={"alive": ["well", "mild"]},
    )
    bound, layout = multistate.MultiState(_ALLOWED).with_data(data)

    def ours(rates):
      parameters = {**bound.parameters, "rates": rates}
      return np.sum(bound.log_likelihood_terms(parameters, layout))

    def oracle(rates):
      q = onp.zeros((4, 4), complex)
      for (i, j), rate in zip(_PAIRS, rates, strict=True):
        q[i, j] = rate
      q = q - onp.diag(onp.sum(q, axis=-1))
      state = _moved(q, 1.0)[0] * [1, 1, 0, 0]
      first = (state @ _moved(q, 1.5))[:3] @ q[:3, 3]
      return onp.log(first) + onp.log(_moved(q, 1.3)[1, 2])

    _, slopes = pm.value_and_gradient(ours, np.asarray(_RATES))
    steps = _RATES + 1e-30j * onp.eye(7)
    known = [onp.imag(oracle(x)) / 1e-30 for x in steps]
    self.assert_close(slopes, known, 1e-10)


class FitTest(test_case.TestCase):
  """Tests fits whose optimum is known."""

  def test_exact_times(self):
    """Events over time at risk."""
    table = {
      "id": [0, 0, 0, 1, 1, 2, 2],
      "t": [0.0, 1.0, 3.0, 0.0, 2.0, 0.0, 4.0],
      "s": ["a", "b", "c", "a", "c", "a", "a"],
    }
    data = multistate.PanelData.from_table(
      table, subject="id", time="t", state="s", exact_times=True
    )
    model = multistate.MultiState({"a": ["b", "c"], "b": ["c"]})
    fit = inference.fit_mle(model, data)
    self.assert_close(fit.parameters["rates"], [1 / 7, 1 / 7, 1 / 2], 1e-6)
    errors = fit.standard_errors["rates"]
    self.assert_close(errors, [1 / 7, 1 / 7, 1 / 2], 1e-6)

  def test_far_starts(self):
    """From rates of 1e-6 and 1e6, the same optimum."""
    table = {
      "id": [0] * 201,
      "t": onp.arange(201) * 0.5,
      "s": (["a", "a", "b", "b", "b"] * 41)[:201],
    }
    data = multistate.PanelData.from_table(
      table, subject="id", time="t", state="s"
    )
    # The matrix of counts is that of a chain of two states.
    counts = onp.asarray([[40.0, 40.0], [40.0, 80.0]])
    probs = counts / onp.sum(counts, axis=-1, keepdims=True)
    known = scipy.linalg.logm(probs) / 0.5
    for start in (1e-6, 1e6):
      rates = multistate.Intensities(
        {"a": ["b"], "b": ["a"]}, rates={"a -> b": start, "b -> a": 1.0 / start}
      )
      fit = inference.fit_mle(multistate.MultiState(rates), data)
      found = onp.asarray(fit.parameters["rates"])
      self.assert_close(found, [known[0, 1], known[1, 0]], 1e-5)

  def test_far_starts_with_deaths(self):
    """Two hundred visits of each subject, and exact deaths."""
    model = multistate.MultiState(_ALLOWED)
    names = multistate.Intensities(_ALLOWED).rates
    visits = {
      "id": onp.repeat(onp.arange(8), 200),
      "t": onp.tile(onp.arange(200) * 0.5, 8),
    }
    rates = [0.4, 0.01, 0.3, 0.5, 0.02, 0.6, 0.05]
    rows = multistate.simulate(
      model,
      visits,
      subject="id",
      time="t",
      start="well",
      exact=["dead"],
      parameters={"rates": dict(zip(names, rates, strict=True))},
      seed=3,
    )
    data = multistate.PanelData.from_table(
      rows, subject="id", time="t", state="state", exact=["dead"]
    )
    known = inference.fit_mle(model, data)
    for start in (1e-6, 1e6):
      far = multistate.Intensities(_ALLOWED, rates=dict.fromkeys(names, start))
      fit = inference.fit_mle(multistate.MultiState(far), data)
      self.assert_close(fit.log_likelihood, known.log_likelihood, 1e-9)


if __name__ == "__main__":
  absltest.main()
