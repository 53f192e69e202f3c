"""The EM algorithm for chains whose rates change at known times."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.internal import static
from tests.helpers import test_case

MODE = "numpy"

_INF = math.inf
# Exact, right-, left- and interval-censored, at boundaries among them.
_LOWER = [0.1, 0.3, 0.35, 0.6, 0.9, 1.2, 1.9, 0.2, 1.5, -1.0, -1.0, 0.25, 0.5]
_UPPER = [0.1, 0.3, 0.35, 0.6, 0.9, 1.2, 1.9, _INF, _INF, 0.25, 1.5, 0.5, 2.0]
_COUNTS = [2.0, 1.0, 3.0, 2.0, 1.0, 2.0, 3.0, 0.5, 2.0, 1.0, 1.0, 2.0, 1.0]
_ENTRIES = [-1.0, 0.1, 0.3, -1, 0.35, 0.9, 0.2, 0.1, 0.5, -1, -1, 0.3, 0.2]


def _data(entry=False, cause=None):
  return inference.Observations(
    _LOWER,
    _UPPER,
    _COUNTS,
    entry=_ENTRIES if entry else None,
    cause=cause,
  )


def _history():
  graph = graphs.models.kingman(4)
  return pd.Epochs(graph, [[1.0], [1.0], [1.0]], [0.3, 0.9])


class EpochEmTest(test_case.TestCase):
  """Tests fits by EM."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _check(self, start, data, rtol=1e-6, one_optimum=True):
    """Checks that EM never loses, and ends where `fit_mle` ends.

    Where there are several optima `fit_mle` starts where EM ends.
    """
    by_em = inference.fit_em(
      start, data, second_order=False, tolerance=1e-14, max_steps=3000
    )
    values = onp.asarray(by_em.record.log_likelihoods)
    self.assertGreater(len(values), 2)
    self.assertTrue(onp.all(onp.diff(values) >= 0.0))
    self.assertTrue(by_em.record.converged, by_em.record.message)
    self.assert_close(values[0], data.log_likelihood(start), 1e-9)
    first = start if one_optimum else by_em.distribution
    fitted = inference.fit_mle(first, data, tolerance=1e-13)
    self.assert_close(by_em.log_likelihood, fitted.log_likelihood, 1e-9)
    for own, other in zip(
      self._flat(by_em.distribution),
      self._flat(fitted.distribution),
      strict=True,
    ):
      self.assert_close(own, other, rtol, 1e-9)
    if MODE == "numpy":
      both = inference.fit_em(start, data)
      self.assert_close(both.log_likelihood, fitted.log_likelihood, 1e-9)
      self.assertEqual(both.num_parameters, fitted.num_parameters)
    return by_em

  def _check_steps(self, start, data):
    """Checks that a few steps gain."""
    values, dist = [], start
    for _ in range(4):
      step = inference.em_step(dist, data)
      values.append(float(self.host(step.log_likelihood)))
      dist = step.distribution
    self.assert_close(values[0], data.log_likelihood(start), 1e-12)
    self.assertTrue(onp.all(onp.diff(values) > 0.0), values)

  def _flat(self, dist):
    found = []
    for x in (*dist.params, *dist.edge_values):
      if isinstance(x, dict):
        found += [self.host(y) for y in x.values()]
      elif x is not None:
        found.append(self.host(x))
    return found

  def test_data_of_all_kinds(self):
    fit = self._check(_history(), _data())
    self.assert_close(fit.distribution.boundaries, [0.3, 0.9], 0.0)

  def test_delayed_entry(self):
    if MODE == "numpy":  # The others compute the same, in the same code.
      self._check(_history(), _data(entry=True))
    self._check_steps(_history(), _data(entry=True))

  def test_one_phase_takes_one_step(self):
    # Rates are events over exposure.
    pair = graphs.models.kingman(2)
    start = pd.Epochs(pair, [[3.0], [0.2]], [1.0])
    times = onp.asarray([0.1, 0.4, 1.0, 1.25, 0.7, 3.0])
    ends = onp.append(times[:4], [_INF, _INF])
    step = inference.em_step(start, inference.Observations(times, ends))
    exposures = [
      onp.sum(onp.minimum(times, 1.0)),
      onp.sum(onp.maximum(times - 1.0, 0.0)),
    ]
    for k in range(2):
      found = step.distribution.params[k]
      self.assert_close(found, [2.0 / exposures[k]], 1e-14)

  def test_graphs_that_differ(self):
    recent, ancestral, merge = graphs.models.isolation_with_migration([2, 1])
    start = pd.Epochs(
      [recent, ancestral],
      [onp.asarray([1.0, 1.0, 0.5, 0.5]), onp.asarray([1.0])],
      [0.75],
      [merge],
    )
    self._check_steps(start, _data())

  def test_causes(self):
    ends = [
      (graphs.ABSORBED("failure"), {"failure": 1.0}),
      (graphs.ABSORBED("sale"), {"sale": 1.0}),
    ]
    machine = graphs.Graph.from_transitions(
      lambda state: (
        [("old", {"age": 1.0}), *ends[1:]] if state == "new" else ends
      ),
      "new",
      ("age", "failure", "sale"),
    )
    start = pd.Epochs(
      machine,
      [
        dict(age=1.0, failure=1.0, sale=1.0),
        dict(age=2.0, failure=1, sale=0.5),
      ],
      [0.75],
    )
    cause = [0, 1, 0, 0, 1, 0, 0, -1, -1, -1, 0, 1, 1]
    data = _data(entry=True, cause=cause)
    if MODE == "numpy":  # The others compute the same, in the same code.
      self._check(start, data, 1e-6, False)
    self._check_steps(start, data)

  def test_starts_and_edge_values(self):
    # A parameter of the initial masses is fitted in the first epoch.
    graph = graphs.Graph.from_transitions(
      lambda state: [
        (graphs.ABSORBED, {"fast": 1.0} if state == "a" else {"slow": 1.0})
      ],
      {"a": {"q": 1.0}, "b": {1: 1.0, "q": -1.0}},
      ("fast", "slow", "q"),
    )
    first = [2.0, 0.5, 0.5]
    start = pd.Epochs(
      graph, [first, None], [0.5], edge_values=[None, onp.asarray([1.0, 0.4])]
    )
    step = inference.em_step(start, _data())
    given = start.expected_statistics(_LOWER, upper=_UPPER, weights=_COUNTS)
    masses = self.host(given[0].starts)
    rates = [self.host(x.jumps) / self.host(x.sojourns) for x in given]
    found = step.distribution
    share = masses[0] / onp.sum(masses)
    self.assert_close(found.params[0], [*rates[0], share], 1e-7)
    self.assert_close(found.edge_values[1], rates[1], 1e-13)
    self.assertIsNone(found.params[1])
    value = self.host(_data().log_likelihood(found))
    self.assertGreater(float(value), float(self.host(step.log_likelihood)))
    # Parameters that only later starts would have are kept.
    later = pd.Epochs(graph, [first, first], [0.5])
    step = inference.em_step(later, _data())
    self.assert_close(step.distribution.params[1][2], 0.5, 1e-15)
    self.assertNotAlmostEqual(float(step.distribution.params[0][2]), 0.5)

  def test_batches(self):
    graph = graphs.models.kingman(3)
    rates = onp.asarray([[[1.0], [2.0]], [[0.5], [4.0]]])
    dist = pd.Epochs(graph, rates, [0.5])
    data = _data(entry=True)
    step = inference.em_step(dist, data)
    self.assertEqual(static.shape(step.log_likelihood), (2,))
    for i in range(2):
      alone = inference.em_step(dist[i], data)
      self.assert_close(step.log_likelihood[i], alone.log_likelihood, 1e-13)
      for k in range(2):
        own = self.host(step.distribution.params[k])[i]
        self.assert_close(own, alone.distribution.params[k], 1e-13)

  def test_what_is_impossible(self):
    dist = pd.Epochs(graphs.models.kingman(2), [[0.0], [1.0]], [0.5])
    step = inference.em_step(dist, inference.Observations([0.25, 1.0]))
    self.assertEqual(float(self.host(step.log_likelihood)), -_INF)
    self.assertTrue(onp.isnan(self.host(step.distribution.params[1])[0]))
    possible = inference.em_step(dist, inference.Observations([0.75, 1.0]))
    self.assert_close(possible.distribution.params[0], [0.0])
    self.assert_close(possible.distribution.params[1], [2.0 / 0.75], 1e-14)


if __name__ == "__main__":
  absltest.main()
