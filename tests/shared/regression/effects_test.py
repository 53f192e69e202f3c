"""Effects against likelihoods by matrix exponentials, with exact derivatives."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp
import scipy.linalg

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from phasic import regression
from tests.helpers import test_case

_RANDOM = onp.random.RandomState(65)
_X = onp.round(_RANDOM.standard_normal((12, 2)), 2)
# Some subjects have the same covariates, and share a chain.
_X[7:10] = _X[6]
_LOWER = onp.round(_RANDOM.exponential(1.5, 12) + 0.05, 2)
_SEEN = onp.asarray([1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1])
_ENTRY = onp.where(onp.arange(12) % 3 == 0, 0.4 * _LOWER, -1.0)
_S = onp.asarray([[-2.0, 0.7, 0.3], [0.2, -1.1, 0.5], [0.0, 0.4, -0.6]])
_ALPHA = onp.asarray([0.5, 0.3, 0.2])


def _data(entry=None):
  return inference.Observations.right_censored(_LOWER, _SEEN, entry=entry)


def _slopes(f, arrays, step=1e-30):
  """Computes exact slopes of an analytic function, by complex steps."""
  slopes = {}
  for name, x in arrays.items():
    slope = onp.zeros(onp.shape(x))
    for place in onp.ndindex(*onp.shape(x)):
      moved = onp.array(x, complex)
      moved[place] += 1j * step
      slope[place] = onp.imag(f({**arrays, name: moved})) / step
    slopes[name] = slope
  return slopes


def _log_term(alpha, matrix, time, seen):
  """Computes the log density or log survival function at a time."""
  exits = -onp.sum(matrix, axis=-1)
  last = exits if seen else onp.ones(len(matrix))
  return onp.log(alpha @ scipy.linalg.expm(matrix * time) @ last)


class EffectsTest(test_case.TestCase):
  """Tests log likelihoods and their slopes in all parameters."""

  def _check(self, model, entry, parameters_at, oracle, arrays):
    """Compares value and slopes of a model with those of an oracle.

    Args:
      model: the regression.
      entry: times of entry, or None.
      parameters_at: makes the parameters of the model from arrays by name.
      oracle: computes the log likelihood from such arrays on the host.
      arrays: where to compare.
    """
    bound, data = model.with_data(_data(entry), {"a": _X[:, 0], "b": _X[:, 1]})

    def log_likelihood(given):
      terms = bound.log_likelihood_terms(parameters_at(given), data)
      return np.sum(terms)

    value, slopes = pm.value_and_gradient(log_likelihood, arrays)
    self.assert_close(value, oracle(arrays), 1e-12)
    known = _slopes(oracle, arrays)
    for name, slope in known.items():
      scale = onp.max(onp.abs(slope))
      self.assert_close(slopes[name], slope, 1e-8, 1e-12 * scale)
    return bound, data

  def test_mixture_of_experts(self):
    arrays = {
      "alpha": _ALPHA,
      "matrix": _S,
      "initial_probs": onp.asarray([[0.3, -0.8], [0.5, 0.1]]),
      "time": onp.asarray([0.4, -0.2]),
    }

    def parameters_at(given):
      dist = pd.PhaseType(given["alpha"], given["matrix"], prob_zero=None)
      return {
        "distribution": dist,
        "initial_probs": given["initial_probs"],
        "time": given["time"],
      }

    def oracle(given):
      total = 0.0
      for x, time, seen, entry in zip(_X, _LOWER, _SEEN, _ENTRY, strict=True):
        odds = onp.concatenate([[0.0], x @ given["initial_probs"]])
        alpha = given["alpha"] * onp.exp(odds)
        alpha = alpha / onp.sum(alpha)
        eta = x @ given["time"]
        total += _log_term(alpha, given["matrix"], time * onp.exp(-eta), seen)
        total -= eta if seen else 0.0
        if entry > 0:
          late = entry * onp.exp(-eta)
          total -= _log_term(alpha, given["matrix"], late, False)
      return total

    model = regression.Regression(
      pd.PhaseType(_ALPHA, _S), initial_probs=["a", "b"], time=["a", "b"]
    )
    bound, _ = self._check(model, _ENTRY, parameters_at, oracle, arrays)
    # Predictions are the distributions of the subjects.
    dists = bound.predict(
      parameters_at({k: np.asarray(x) for k, x in arrays.items()}),
      {"a": _X[:2, 0], "b": _X[:2, 1]},
    )
    probs = arrays["alpha"] * onp.exp(
      onp.concatenate(
        [onp.zeros((2, 1)), _X[:2] @ arrays["initial_probs"]], axis=-1
      )
    )
    probs = probs / onp.sum(probs, axis=-1, keepdims=True)
    known = [
      math.exp(_log_term(p, _S * math.exp(-x @ arrays["time"]), 1.5, False))
      for p, x in zip(probs, _X[:2], strict=True)
    ]
    self.assert_close(dists.survival_function(1.5), known, 1e-11)
    later = regression.given(dists, survived=0.5)
    before = self.host(dists.survival_function(0.5))
    self.assert_close(later.survival_function(1.5), known / before, 1e-11)
    self.assert_close(later.survival_function(0.2), onp.ones(2))
    self.assert_close(later.survival_function(later.median()), [0.5, 0.5], 1e-9)
    self.assert_close(
      later.mean(), 0.5 + self.host(dists.mean_residual_life(0.5)), 1e-12
    )

  def test_proportional_intensities(self):
    arrays = {
      "concentration": onp.asarray(1.7),
      "matrix": _S,
      "intensity": onp.asarray([0.5, -0.3]),
    }

    def parameters_at(given):
      inner = pd.PhaseType(_ALPHA, given["matrix"])
      return {
        "distribution": pd.MatrixWeibull(inner, given["concentration"]),
        "intensity": given["intensity"],
      }

    def oracle(given):
      total, k = 0.0, given["concentration"]
      for x, time, seen in zip(_X, _LOWER, _SEEN, strict=True):
        matrix = given["matrix"] * onp.exp(x @ given["intensity"])
        total += _log_term(_ALPHA, matrix, time**k, seen)
        if seen:
          total += onp.log(k) + (k - 1.0) * onp.log(time)
      return total

    model = regression.Regression(
      pd.MatrixWeibull(pd.PhaseType(_ALPHA, _S), 1.7), intensity=["a", "b"]
    )
    _, data = self._check(model, None, parameters_at, oracle, arrays)
    rows = self.host(data.parts[0].observations.lower).shape[0]
    self.assertLessEqual(rows, 12)

  def test_parameters_of_a_graph(self):
    def illness(state):
      if state == "well":
        yield "ill", {"illness": 1.0}
        yield graphs.ABSORBED, {"death": 1.0}
      else:
        yield "well", {"recovery": 1.0}
        yield graphs.ABSORBED, {"death": 3.0}

    names = ("illness", "recovery", "death")
    graph = graphs.Graph.from_transitions(illness, initial="well", params=names)
    arrays = {
      **{name: onp.asarray(x) for name, x in zip(names, (0.8, 0.5, 0.3))},
      "on_illness": onp.asarray([0.6, -0.4]),
      "on_death": onp.asarray([0.2]),
    }

    def parameters_at(given):
      dist = pd.PhaseType.from_graph(
        graph, params={name: given[name] for name in names}
      )
      return {
        "distribution": dist,
        "log illness": given["on_illness"],
        "log death": given["on_death"],
      }

    def oracle(given):
      total = 0.0
      for x, time, seen in zip(_X, _LOWER, _SEEN, strict=True):
        ill = given["illness"] * onp.exp(x @ given["on_illness"])
        death = given["death"] * onp.exp(x[:1] @ given["on_death"])
        back = given["recovery"]
        matrix = onp.asarray([[-ill - death, ill], [back, -back - 3 * death]])
        total += _log_term(onp.asarray([1.0, 0.0]), matrix, time, seen)
      return total

    dist = pd.PhaseType.from_graph(
      graph, params=dict(zip(names, (0.8, 0.5, 0.3), strict=True))
    )
    model = regression.Regression(
      dist, params={"illness": ["a", "b"], "death": ["a"]}
    )
    self._check(model, None, parameters_at, oracle, arrays)

  def test_parameters_of_families(self):
    arrays = {
      "rates": onp.asarray([2.0, 0.5]),
      "prob_zero": onp.asarray(0.2),
      "on_rate": onp.asarray([0.3, 0.1]),
      "on_prob": onp.asarray([-0.5]),
    }

    def parameters_at(given):
      inner = pd.Hypoexponential(given["rates"])
      return {
        "distribution": pd.ZeroInflated(inner, given["prob_zero"]),
        "log rates[1]": given["on_rate"],
        "logit prob_zero": given["on_prob"],
      }

    def oracle(given):
      total = 0.0
      first, second = given["rates"]
      for x, time, seen in zip(_X, _LOWER, _SEEN, strict=True):
        rate = second * onp.exp(x @ given["on_rate"])
        odds = given["prob_zero"] / (1.0 - given["prob_zero"])
        odds = odds * onp.exp(x[1:] @ given["on_prob"])
        matrix = onp.asarray([[-first, first], [0.0, -rate]])
        term = _log_term(onp.asarray([1.0, 0.0]), matrix, time, seen)
        total += term - onp.log1p(odds)
      return total

    model = regression.Regression(
      pd.ZeroInflated(pd.Hypoexponential([2.0, 0.5]), 0.2),
      params={"rates[1]": ["a", "b"], "prob_zero": ["b"]},
    )
    self._check(model, None, parameters_at, oracle, arrays)


if __name__ == "__main__":
  absltest.main()
