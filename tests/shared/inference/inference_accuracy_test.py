"""Log likelihoods and their derivatives against exact arithmetic."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case
from tests.oracle import discrete_oracle
from tests.oracle import family_oracle
from tests.oracle import interval_oracle
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

MODE = "numpy"

_INF = math.inf
# Exact, right-, left- and interval-censored, far out and narrow ones; entries.
_LOWER = onp.asarray([0.5, 3.0, -1.0, 1.0, 0.0, 40.0, 5.0, 2.0, 0.5, 9.0, 0.25])
_UPPER = onp.asarray(
  [0.5, _INF, 2.0, 2.5, 0.25, 40.0 + 1e-9, 5.0, _INF, 8.0, 9.0, 3.0]
)
_ENTRY = onp.asarray(
  [-1.0, 0.5, -1.0, 0.75, -1.0, -1.0, 1.5, 2.0, 1.0, 8.75, 0.5]
)
_WEIGHTS = onp.asarray([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.5, 1.0, 4.0, 2.0, 1.0])
_COUNTS = onp.asarray([3, 4, -1, 2, 0, 40, 7, 5, 1, 12, 3], onp.float64)
_UNTIL = onp.asarray([3, _INF, 6, 5, 2, 60, 7, _INF, 9, 12, 8], onp.float64)
_FROM = onp.asarray([-1, 2, -1, 1, -1, -1, 3, 5, 3, 11, 3], onp.float64)
_FIELDS = ("initial_probs", "subgenerator", "exit_rates", "prob_zero")
_CAUSES = onp.asarray([0, -1, 1, 1, 0, 1, -1, -1, -1, 1, 0])


def _factors(lower, upper, entry, weights=None):
  """Returns signed weights of log probabilities, and pairs of bounds."""
  weights = onp.ones(len(lower)) if weights is None else weights
  found = []
  for ends in zip(lower, upper, entry, weights, strict=True):
    low, high, start, weight = (float(x) for x in ends)
    if low < high and start >= 0:
      low = max(low, start)
    found.append((weight, low, high))
    if start >= 0:
      found.append((-weight, start, _INF))
  return found


def _kind(low, high):
  """Returns the oracle's kind and time of an observation."""
  if low == high:
    return "log_density", low
  if high == _INF:
    return "log_survival", low
  return ("log_cdf", high) if low < 0 else (None, low)


def _value(model, low, high):
  kind, time = _kind(low, high)
  model = model._replace(time=time)
  if kind is None:
    return interval_oracle.log_mass(model, high)[0]
  return oracle.directional(kind, model)[0]


def _gradient(model, low, high):
  kind, time = _kind(low, high)
  model = model._replace(time=time)
  if kind is None:
    return interval_oracle.gradient(model, high)
  return oracle.gradient(kind, model)


def _along(model, move, low, high):
  """Computes the derivative along a direction, and its scale."""
  kind, time = _kind(low, high)
  model = model._replace(time=time)
  if kind is None:
    return interval_oracle.log_mass(model, high, ((move, 0.0),))
  return oracle.directional(kind, model, (move,))


def _tolerance(x):
  return max(1e-12, 8.0 * onp.spacing(abs(x)))


_MODELS = {
  "cyclic": models.with_options(models.cyclic(), True, 0.25),
  "derived": models.with_options(models.cyclic(), False, None),
  "near_equal": models.with_options(models.near_equal(), True, None),
}


# JAX compiles each model for seconds.
_SOME = ["cyclic"]
if MODE != "jax":
  _SOME = list(_MODELS)


def _parameters(dist):
  """Returns the array parameters."""
  properties = dist.parameter_properties()
  return {
    name: np.asarray(x)
    for name, x in dist.parameters.items()
    if name in properties and x is not None
  }


class ChainTest(test_case.TestCase):
  """Tests `PhaseType`, with all kinds of observations in one call."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  @parameterized.parameters(_SOME)
  def test_value_and_gradient(self, name):
    model = _MODELS[name]
    dist = pd.PhaseType(*model[:4])
    value, bars = pm.value_and_gradient(
      lambda x: inference.Observations(
        _LOWER, _UPPER, _WEIGHTS, _ENTRY
      ).log_likelihood(pd.PhaseType(**x)),
      _parameters(dist),
    )
    self.assert_close(
      inference.Observations(_LOWER, _UPPER, _WEIGHTS, _ENTRY).log_likelihood(
        dist
      ),
      value,
      1e-15,
    )
    truth, bound, sums, scales = oracle.exact(0.0), 0.0, {}, {}
    for weight, low, high in _factors(_LOWER, _UPPER, _ENTRY, _WEIGHTS):
      term = _value(model, low, high)
      truth += oracle.exact(weight) * term
      bound += abs(weight) * _tolerance(float(term.mid()))
      slopes, sizes = _gradient(model, low, high)
      for field in _FIELDS:
        x, c = getattr(slopes, field), getattr(sizes, field)
        old = sums.get(field, [oracle.exact(0.0)] * len(x))
        sums[field] = [
          a + oracle.exact(weight) * b for a, b in zip(old, x, strict=True)
        ]
        old = scales.get(field, [0.0] * len(x))
        scales[field] = [
          a + abs(weight) * b for a, b in zip(old, c, strict=True)
        ]
    self.assertLessEqual(oracle.error(self.host(value), truth), bound)
    for field in _FIELDS:
      if not sums[field]:
        self.assertNotIn(field, bars)
        continue
      found = onp.ravel(self.host(bars[field]))
      for x, y, c in zip(found, sums[field], scales[field], strict=True):
        self.assertLessEqual(oracle.error(x, y), 1e-12 * c, field)

  def test_terms(self):
    model = _MODELS["cyclic"]
    data = inference.Observations(_LOWER, _UPPER, None, _ENTRY)
    terms = self.host(data.log_likelihood_terms(pd.PhaseType(*model[:4])))
    for i, x in enumerate(terms):
      cut = slice(i, i + 1)
      factors = _factors(_LOWER[cut], _UPPER[cut], _ENTRY[cut])
      parts = [(w, _value(model, *ends)) for w, *ends in factors]
      truth = sum(oracle.exact(w) * part for w, part in parts)
      bound = sum(_tolerance(float(part.mid())) for _, part in parts)
      self.assertLessEqual(oracle.error(x, truth), bound, i)

  def test_zeros(self):
    # Exact observations at zero belong to the atom, if there is one.
    for name, truth in (("cyclic", math.log(0.25)), ("near_equal", -_INF)):
      value = inference.Observations([0.0, 0.0]).log_likelihood(
        pd.PhaseType(*_MODELS[name][:4])
      )
      self.assert_close(value, 2 * truth, 1e-15)


class StepsTest(test_case.TestCase):
  """Tests `DiscretePhaseType`."""

  def test_value_and_gradient(self):
    self.require_kernel()
    model = discrete_oracle.Operands(
      onp.asarray([0.375, 0.5]),
      onp.asarray([[0.5, 0.25], [0.0, 0.875]]),
      onp.asarray([0.25, 0.125]),
      onp.asarray(0.125),
    )
    dist = pd.DiscretePhaseType(*model)
    value, bars = pm.value_and_gradient(
      lambda x: inference.Observations(
        _COUNTS, _UNTIL, _WEIGHTS, _FROM
      ).log_likelihood(pd.DiscretePhaseType(**x)),
      _parameters(dist),
    )
    factors = _factors(_COUNTS, _UNTIL, _FROM, _WEIGHTS)

    def terms(directions=()):
      total, scale = 0.0, 0.0
      for weight, low, high in factors:
        kind, count = _kind(low, high)
        if kind is None:
          kind, count = "log_interval", (int(low), int(high))
        else:
          count = int(count)
        found = discrete_oracle.directional(kind, model, count, directions)
        total += weight * found[0]
        scale += abs(weight) * (found[1] if directions else abs(found[0]))
      return total, scale

    truth, scale = terms()
    self.assertLessEqual(abs(self.host(value) - truth), 1e-14 * scale)
    units = discrete_oracle.basis(model)
    for field, name in (
      ("initial_probs", "initial_probs"),
      ("transitions", "subtransition"),
      ("exit_probs", "exit_probs"),
      ("prob_zero", "prob_zero"),
    ):
      found = onp.ravel(self.host(bars[name]))
      for x, unit in zip(found, getattr(units, field), strict=True):
        truth, scale = terms((unit,))
        self.assertLessEqual(abs(x - truth), 1e-13 * scale, field)


def _two_causes(state):
  on = {1: 2, 2: 3, 3: 1}[state]
  yield on, [1.0, 0.5]
  if state != 2:
    yield graphs.ABSORBED("failure"), [0.25, 0.0]
  if state != 1:
    yield graphs.ABSORBED("repair"), [0.0, 1.0]


class CausesTest(test_case.TestCase):
  """Tests graphs with observed causes."""

  def test_value_and_gradient(self):
    self.require_kernel()
    graph = graphs.Graph.from_transitions(_two_causes, 1, 2)
    theta = onp.asarray([1.25, 0.75])
    value, found = pm.value_and_gradient(
      lambda x: inference.Observations(
        _LOWER, _UPPER, _WEIGHTS, _ENTRY, _CAUSES
      ).log_likelihood(pd.PhaseType.from_graph(graph, x)),
      np.asarray(theta),
    )
    # All other causes lead to the last phase: P(X <= t, cause).
    between = onp.zeros((2, 3, 3))
    ends = onp.zeros((2, 3, 2))
    for state, on in ((0, 1), (1, 2), (2, 0)):
      between[:, state, on] = [1.0, 0.5]
    ends[0, [0, 2], 0] = 0.25
    ends[1, [1, 2], 1] = 1.0

    def law(cause, theta):
      rates = onp.zeros((4, 4))
      rates[:3, :3] = onp.tensordot(theta, between, 1)
      of_cause = onp.tensordot(theta, ends, 1)
      own = onp.zeros(4)
      own[:3] = onp.sum(of_cause, 1) if cause < 0 else of_cause[:, cause]
      rates[:3, 3] = 0.0 if cause < 0 else of_cause[:, 1 - cause]
      diagonal = onp.sum(rates, axis=1) + own
      start = onp.asarray([1.0, 0.0, 0.0, 0.0])
      return oracle.Operands(start, rates - onp.diag(diagonal), own, 0.0, 1.0)

    truth, bound = oracle.exact(0.0), 0.0
    slopes, scales = [oracle.exact(0.0)] * 2, [0.0] * 2
    for i, cause in enumerate(_CAUSES):
      cut = slice(i, i + 1)
      for weight, low, high in _factors(
        _LOWER[cut], _UPPER[cut], _ENTRY[cut], _WEIGHTS[cut]
      ):
        # The condition is about any cause.
        own = cause if weight > 0 else -1
        model = law(own, theta)
        term = _value(model, low, high)
        truth += oracle.exact(weight) * term
        bound += abs(weight) * _tolerance(float(term.mid()))
        for k in range(2):
          unit = law(own, onp.eye(2)[k])
          move = unit._replace(
            initial_probs=onp.zeros(4), prob_zero=0.0, time=0.0
          )
          slope, scale = _along(model, move, low, high)
          slopes[k] += oracle.exact(weight) * slope
          scales[k] += abs(weight) * scale
    self.assertLessEqual(oracle.error(self.host(value), truth), bound)
    for k, x in enumerate(self.host(found)):
      self.assertLessEqual(oracle.error(x, slopes[k]), 1e-12 * scales[k])


def _law_of(name, theta):
  """Returns distributions in mpmath, and far times."""
  rate, shape = theta
  base = family_oracle.erlang(3, rate)
  if name == "weibull":
    return family_oracle.transformed(base, lambda y: y**shape)
  if name == "pareto":
    return family_oracle.transformed(base, lambda y: mpmath.log1p(y / shape))
  if name == "truncated":
    return base, shape
  return base


def _dist_of(name, theta):
  base = pd.Erlang(3, theta[0])
  if name == "weibull":
    return pd.MatrixWeibull(base, theta[1])
  if name == "pareto":
    return pd.MatrixPareto(base, theta[1])
  if name == "truncated":
    return pd.TruncatedPhaseType(base, theta[1], 12.0)
  return base


class OtherLawsTest(test_case.TestCase):
  """Tests distributions that transform a chain's, against mpmath."""

  @parameterized.parameters("weibull", "pareto", "truncated", "erlang")
  def test_value_and_gradient(self, name):
    self.require_kernel()
    theta = onp.asarray([1.25, 0.375])
    # Values beyond the bounds are impossible.
    keep = (_LOWER < 12) & (theta[1] < _UPPER)
    lower, upper, entry = _LOWER[keep], _UPPER[keep], _ENTRY[keep]

    def exact(rate, shape):
      law = _law_of(name, (rate, shape))
      after, until = -1, _INF
      if name == "truncated":
        (law, after), until = law, 12

      def tail(t):
        return mpmath.mpf(1) if t < 0 else law.sf(t) if t < _INF else 0

      total = 0
      for low, high, start in zip(lower, upper, entry, strict=True):
        low, high, start = (float(x) for x in (low, high, start))
        given = max(start, after)
        if low == high:
          part = law.prob(mpmath.mpf(low))
        else:
          part = tail(max(low, given)) - tail(min(high, until))
        total += mpmath.log(part / (tail(given) - tail(until)))
      return total

    with mpmath.workdps(60):
      truth = exact(*theta)
      slopes = [mpmath.diff(exact, tuple(theta), n) for n in ((1, 0), (0, 1))]
    data = inference.Observations(lower, upper, None, entry)
    value = data.log_likelihood(_dist_of(name, theta))
    self.assert_close(value, float(truth), 1e-13)
    _, found = gradients.value_and_gradient(
      lambda x: data.log_likelihood(_dist_of(name, x)), np.asarray(theta)
    )
    self.assert_close(found, [float(x) for x in slopes], 1e-11, 1e-12)

  def test_epochs(self):
    # The rate is halved at a given time.
    dist = pd.Epochs(graphs.models.kingman(2), [[1.0], [0.5]], [1.0])
    late = onp.asarray([0.25, 1.5, 2.0, 0.5, -1.0, 3.0])
    until = onp.asarray([0.25, 1.5, _INF, 1.75, 1.25, 3.5])
    entry = onp.asarray([-1.0, 0.5, 1.25, -1.0, -1.0, 0.5])

    def log_tail(t):
      return -onp.minimum(t, 1.0) - 0.5 * onp.maximum(t - 1.0, 0.0)

    expected = onp.where(late < 1.0, 0.0, math.log(0.5)) + log_tail(late)
    low = onp.maximum(late, 0.0)
    mass = onp.exp(log_tail(low)) - onp.exp(log_tail(until))
    mass = onp.where(late == until, 1.0, mass)
    expected = onp.where(late == until, expected, onp.log(mass))
    expected = expected - onp.where(entry < 0, 0.0, log_tail(entry))
    data = inference.Observations(late, until, None, entry)
    self.assert_close(data.log_likelihood_terms(dist), expected, 1e-13)


if __name__ == "__main__":
  absltest.main()
