"""Probabilities through epochs against simulated paths.

A million paths in NumPy if all cases run (PHASIC_FULL_SWEEPS), else 20,000.
"""

import os
from typing import Any

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax

_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
_PART = 20_000
_PARTS = 1
if MODE == "numpy":
  _PARTS = 50 if _FULL else 1
_JUMPS = 60
_BOUNDARIES = (0.7, 1.9)
_TIMES = (0.3, 0.7, 1.2, 1.9, 3.0)
_MARK_RATES = (0.6, 0.35)
_MOST = (3, 2)
# In standard errors. 40 numbers are compared: with good paths one of these is
# larger by chance for one of 400 seeds.
_LIMIT = 4.0


def _history() -> tuple[pd.Epochs, list[onp.ndarray], list[list[str]]]:
  """Returns epochs, their rewards, and the cause to which each phase leads.

  A phase leads to one cause only, so that its name is known of a path.
  """
  x, y = (graphs.ABSORBED(cause) for cause in "xy")
  first = graphs.Graph.from_edges(
    [
      ("a", "b", [1.0, 0.0]),
      ("b", "a", [0.0, 1.0]),
      ("a", x, [0.6, 0.0]),
      ("b", y, [0.0, 0.5]),
    ],
    {"a": 0.6, "b": 0.4},
    2,
  )
  second = graphs.Graph.from_edges(
    [
      ("a", "c", [1.0, 0.0]),
      ("c", "b", [1.0, 0.0]),
      ("b", "a", [0.0, 1.0]),
      ("a", y, [0.1, 0.0]),
      ("c", x, [0.0, 0.5]),
      ("b", x, [0.0, 0.4]),
    ],
    "a",
    2,
  )
  epochs = pd.Epochs(
    [first, second, first],
    [[1.2, 0.8], [0.9, 1.7], [2.0, 0.6]],
    onp.asarray(_BOUNDARIES),
    [lambda s: "c" if s == "b" else s, lambda s: "b" if s == "c" else s],
  )
  ways = [{"a": "x", "b": "y"}, {"a": "y", "c": "x", "b": "x"}]
  causes = [
    [ways[k % 2][s] for s in g.states] for k, g in enumerate(epochs.graphs)
  ]
  worth = {"a": [1.0, 0.0], "b": [0.5, 2.0], "c": [0.0, 1.0]}
  rewards = [
    onp.asarray([worth[s] for s in graph.states]) * (k + 1.0)
    for k, graph in enumerate(epochs.graphs)
  ]
  return epochs, rewards, causes


class _Simulation:
  """Counts of what simulated paths do."""

  def __init__(self, sizes: list[int], causes: list[list[str]]):
    self._starts = onp.concatenate([[0], onp.cumsum(sizes)])
    self._sizes = onp.asarray(sizes)
    self._causes = onp.asarray([c for own in causes for c in own])
    self.paths = 0
    self.occupied = onp.zeros((len(_TIMES), sum(sizes)))
    self.absorbed = {c: onp.zeros(len(_TIMES) + 1) for c in "xy"}
    self.marks = onp.zeros([m + 1 for m in _MOST])
    self.gains: list[onp.ndarray] = []

  def add(
    self,
    phases: onp.ndarray,
    times: onp.ndarray,
    epochs: onp.ndarray,
    rewards: onp.ndarray,
    state: onp.random.Generator,
  ) -> None:
    """Adds paths (n, k + 1), all of which are absorbed at their end."""
    alive = phases < self._sizes[epochs]
    assert not onp.any(alive[:, -1])
    places = onp.where(alive, self._starts[epochs] + phases, 0)
    self.paths += len(phases)
    steps = onp.sum(alive, axis=-1)
    each = onp.arange(len(phases))
    ends = times[each, steps]
    cause = self._causes[places[each, steps - 1]]
    for j, time in enumerate(_TIMES):
      last = onp.sum(times <= time, axis=-1) - 1
      here = places[each, last][alive[each, last]]
      self.occupied[j] += onp.bincount(here, minlength=self._starts[-1])
    for c, counts in self.absorbed.items():
      until = onp.asarray([*_TIMES, onp.inf])
      counts += onp.sum(
        (cause == c)[:, None] & (ends[:, None] <= until), axis=0
      )
    # Marks in each stay, at the rates of its phase.
    stays = onp.where(alive[:, :-1], onp.diff(times, axis=-1), 0.0)
    gains = stays[..., None] * rewards[places[:, :-1]]
    marks = state.poisson(gains * onp.asarray(_MARK_RATES)).sum(axis=1)
    few = marks[onp.all(marks <= onp.asarray(_MOST), axis=-1)]
    onp.add.at(self.marks, tuple(few.T), 1)
    self.gains.append(gains.sum(axis=1))


class SimulationTest(test_case.TestCase):
  """Tests what paths do at given times, how they end, and their marks."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # The portable path is slow.
    self._scores: list[float] = []

  def test_simulated_paths(self):
    epochs, rewards, causes = _history()
    found = _Simulation([g.num_phases for g in epochs.graphs], causes)
    state = onp.random.default_rng(20)
    for part in range(_PARTS):
      seed: Any = part
      if MODE == "jax":
        seed = jax.random.key(part)
      paths = epochs.sample_paths(_JUMPS, _PART, seed=seed)
      arrays = [self.host(x) for x in paths]
      found.add(*arrays, onp.concatenate(rewards), state)
    n = found.paths
    self._compare(found.occupied, epochs.occupancy(_TIMES, by_epoch=True), n)
    for cause, counts in found.absorbed.items():
      until = onp.asarray([*_TIMES, onp.inf])
      self._compare(counts, epochs.cumulative_incidence(until, cause), n)
    dist = pd.MultivariateEpochs(epochs, rewards)
    exact = dist.joint_mark_probs(_MOST, onp.asarray(_MARK_RATES))
    self._compare(found.marks, exact, n)
    gains = onp.concatenate(found.gains)
    errors = onp.std(gains, axis=0) / onp.sqrt(n)
    self._scores += list((gains.mean(axis=0) - self.host(dist.mean())) / errors)
    products = gains[:, :, None] * gains[:, None, :]
    means = self.host(dist.mean())
    seconds = self.host(dist.covariance()) + means[:, None] * means
    errors = onp.std(products, axis=0) / onp.sqrt(n)
    gaps = (products.mean(axis=0) - seconds) / errors
    self._scores += [gaps[0, 0], gaps[0, 1], gaps[1, 1]]
    worst = onp.max(onp.abs(self._scores))
    print(f"{n} paths, {len(self._scores)} numbers, largest z {worst:.2f}")
    self.assertLess(worst, _LIMIT)

  def _compare(self, counts, probs, n):
    """Keeps the errors of counts in standard errors of their probabilities."""
    probs = self.host(probs)
    self.assertEqual(counts.shape, probs.shape)
    possible = probs > 0.0
    self.assertFalse(onp.any(counts[~possible]))
    p = probs[possible]
    # A normal distribution is near where a number is expected many times.
    self.assertGreater(n * onp.min(p), 25.0)
    errors = onp.sqrt(p * (1.0 - p) / n)
    self._scores += list((counts[possible] / n - p) / errors)


if __name__ == "__main__":
  absltest.main()
