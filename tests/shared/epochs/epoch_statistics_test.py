"""Expected statistics of each epoch against ball arithmetic, and sums."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.internal import static
from tests.helpers import epoch_models
from tests.helpers import epoch_path_oracle
from tests.helpers import test_case

MODE = "numpy"

_INF = math.inf


def _kept_windows(boundaries):
  """Returns observations of all kinds, at boundaries among them."""
  first = boundaries[0] if len(boundaries) else 0.5
  last = boundaries[-1] if len(boundaries) else 0.75
  beyond = 1.5 * last + 0.1
  return [
    (0.5 * first, 0.5 * first),
    (first, first),
    (beyond, beyond),
    (0.25 * first, _INF),
    (beyond, _INF),
    (-1.0, 0.5 * first),
    (-1.0, beyond),
    (0.0, last),
    (0.5 * first, first),
    (0.5 * first, beyond),
    (first, beyond),
    (beyond, beyond + 1e-9),
  ]


class EpochStatisticsTest(test_case.TestCase):
  """Tests the E-step of chains whose rates change."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  @parameterized.parameters(*range(4))
  def test_random_chains(self, block):
    count = 1  # The others compute what NumPy computes, in the same code.
    if MODE == "numpy":
      count = 5
    for seed in range(5 * block, 5 * block + count):
      with self.subTest(seed):
        made, params, boundaries, _, maps = epoch_models.random_rewards(seed)
        self._check(made, params, boundaries, maps)

  def test_an_atom(self):
    patient = graphs.Graph.from_transitions(
      lambda state: [
        ("ill" if state == "well" else "well", {"turn": 1.0}),
        (graphs.ABSORBED, {"dies": 1.0 if state == "well" else 3.0}),
      ],
      {"well": 0.5, "ill": 0.25, graphs.ABSORBED: 0.25},
      ("turn", "dies"),
    )
    params = [[2.0, 0.125], [0.0625, 4.0], [0.5, 1.0]]
    self._check([patient] * 3, params, [0.5, 2.0], [None, None])
    dist = pd.Epochs(patient, params, [0.5, 2.0])
    given = dist.expected_statistics([0.0, 0.0, 1.0])
    self.assert_close(given[0].atom, 2.0)
    self.assert_close(given[1].atom, 0.0)
    self.assert_close(onp.sum(self.host(given[0].starts)), 1.0, 1e-14)

  def _check(self, made, params, boundaries, maps):
    dist = pd.Epochs(made, params, boundaries, maps)
    oracle = epoch_path_oracle.EpochPathOracle(made, params, boundaries, maps)
    windows = _kept_windows(boundaries)
    if MODE != "numpy":
      windows = windows[2::7]
    for lower, upper in windows:
      given = dist.expected_statistics(lower, upper=upper)
      exact = oracle.statistics(lower, upper)
      for k, (found, truth) in enumerate(zip(given, exact, strict=True)):
        graph, message = made[k], f"{(lower, upper)}, epoch {k}"
        p = graph.num_phases
        self._near(found.starts, truth.starts, message)
        self._near(found.sojourns, truth.sojourns, message)
        jumps = onp.zeros((p, p + 1))
        ends = onp.minimum(self.host(graph.targets), p)
        onp.add.at(jumps, (graph.sources, ends), self.host(found.jumps))
        self._near(jumps, truth.jumps, message)
        self._near(found.exits, truth.jumps[:, p], message)

  def _near(self, found, exact, message):
    found = self.host(found)
    # Relative errors, down to what a float of the order of one resolves.
    error = onp.abs(found - exact) - 3e-12 * onp.abs(exact)
    self.assertLessEqual(onp.max(error), 1e-100, f"{message}: {found}, {exact}")

  def test_equal_epochs_are_one_chain(self):
    graph, params = graphs.models.block_counting(4), [1.3]
    dist = pd.Epochs(graph, [params] * 3, [0.3, 0.9])
    one = pd.PhaseType.from_graph(graph, params)
    edges = graph.edge_weights(params)
    lower = onp.asarray([0.1, 0.3, 0.5, 2.0, -1.0, 0.2, 0.05, 0.0])
    upper = onp.asarray([0.1, 0.3, _INF, 2.0, 2.5, 0.7, 5.0, 0.3])
    weights = onp.arange(8.0)
    options = [dict(value=lower, upper=upper, weights=weights)]
    for kind in ("log_prob", "prob", "log_cdf", "cdf", "survival_function"):
      options.append(dict(value=onp.asarray([0.1, 0.4, 3.0]), kind=kind))
    for option in options:
      given = dist.expected_statistics(**option)
      whole = pm.phase_type.expected_statistics(
        option.pop("value"), one.initial_probs, edges, None, 0.0, **option
      )
      self.assert_close(given[0].starts, whole.starts, 1e-13, 1e-13)
      for name in ("sojourns", "jumps", "exits", "atom"):
        found = sum(self.host(getattr(epoch, name)) for epoch in given)
        self.assert_close(found, getattr(whole, name), 1e-13, 1e-13)

  def test_rare_paths(self):
    # The chain is seen in a phase that it hardly ever reaches.
    graph = graphs.Graph.from_edges(
      [(0, 1, [1.0, 0.0]), (1, graphs.ABSORBED, [0.0, 1.0])], 0, 2
    )
    dist = pd.Epochs(graph, [[1e-200, 0.0], [0.0, 1.0]], [1.0])
    given = dist.expected_statistics(1.5)
    self.assert_close(given[0].jumps, [1.0, 0.0], 1e-14)
    self.assert_close(given[0].sojourns, [0.5, 0.5], 1e-14)
    self.assert_close(given[1].starts, [0.0, 1.0], 1e-14)
    self.assert_close(given[1].jumps, [0.0, 1.0], 1e-14)

  def test_batches(self):
    graph = graphs.models.kingman(3)
    rates = onp.asarray([[[1.0], [2.0]], [[0.5], [4.0]]])
    dist = pd.Epochs(graph, rates, [0.5])
    times = onp.asarray([[0.25], [1.0], [2.0]])
    given = dist.expected_statistics(times)
    self.assertEqual(static.shape(given[1].jumps), (2, 2))
    for i in range(2):
      alone = dist[i].expected_statistics(times[:, 0])
      for found, exact in zip(given, alone, strict=True):
        for name in found._fields:
          own = self.host(getattr(found, name))[i]
          self.assert_close(own, getattr(exact, name), 1e-13)
    # A time for each of them.
    each = dist.expected_statistics(onp.asarray([0.25, 2.0]))
    self.assert_close(onp.sum(self.host(each[0].exits), axis=-1), [1.0, 0.0])

  def test_what_cannot_be(self):
    graph = graphs.models.kingman(3)
    dist = pd.Epochs(graph, [[1.0], [2.0]], [0.5])
    for option in (
      dict(value=-1.0),
      dict(value=_INF),
      dict(value=_INF, kind="log_cdf"),
      dict(value=2.0, upper=1.0),
      dict(value=math.nan),
    ):
      given = dist.expected_statistics(**option)
      self.assertTrue(onp.all(onp.isnan(self.host(given[0].sojourns))), option)
    ignored = dist.expected_statistics([-1.0, 1.0], weights=[0.0, 1.0])
    alone = dist.expected_statistics(1.0)
    for found, exact in zip(ignored, alone, strict=True):
      self.assert_close(found.jumps, exact.jumps)
    with self.assertRaisesRegex(ValueError, "kind is 'hazard'"):
      dist.expected_statistics(1.0, kind="hazard")
    with self.assertRaisesRegex(ValueError, "they must broadcast"):
      dist.expected_statistics([1.0, 2.0], weights=[1.0, 1.0, 1.0])
    strict = pd.Epochs(graph, [[1.0], [2.0]], [0.5], allow_nan_stats=False)
    with self.assertRaisesRegex(ValueError, "expected_statistics is NaN"):
      strict.expected_statistics(-1.0)

  def test_portable_path(self):
    self.require_kernel()
    dist = pd.Epochs(graphs.models.kingman(3), [[1.0], [2.0]], [0.5])
    expected = dist.expected_statistics(1.0)
    with config.use_path("portable"):
      found = dist.expected_statistics(1.0)
    for given, wanted in zip(found, expected, strict=True):
      for x, y in zip(given, wanted, strict=True):
        self.assert_close(x, self.host(y), 1e-11, 1e-14)


if __name__ == "__main__":
  absltest.main()
