"""Derivatives through epochs against exact ones, in ball arithmetic.

In NumPy 40 random chains if all cases run (PHASIC_FULL_SWEEPS), else 5.
"""

import os
from typing import Any, NamedTuple

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import epoch_models
from tests.helpers import test_case
from tests.oracle.derivatives import duals
from tests.oracle.derivatives import epoch_duals

MODE = "numpy"

# Of the sum of the sizes of a derivative's terms.
_TOLERANCE = 1e-11
# Models in JAX and TensorFlow: three and two epochs, the last two with rates over
# eight decades.
_OTHERS = (3, 16, 17)
_FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"


class _Exact(NamedTuple):
  """Exact derivatives of an array: (D, ...) along D directions, and sizes."""

  slopes: onp.ndarray
  sizes: onp.ndarray


class GradientsTest(test_case.TestCase):
  """Tests random chains, rates over eight decades among them."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()  # The portable path is slow.

  @parameterized.parameters(*range(5))
  def test_random_chains(self, block):
    count = 8 if _FULL else 1
    seeds = range(8 * block, 8 * block + count)
    if MODE in ("jax", "tf"):
      # They differentiate what NumPy does, in the same code, and take minutes.
      seeds = _OTHERS[block : block + 1]
    for seed in seeds:
      with self.subTest(seed):
        self._check(seed)

  def _check(self, seed):
    case = _Case(seed)
    exact = case.exact()
    arrays = [np.asarray(x) for x in case.arrays]
    _, pullback = gradients.vjp(case.values, *arrays)
    state = onp.random.RandomState(seed)
    for d, direction in enumerate(case.directions):
      _, found = gradients.jvp(
        case.values, arrays, [np.asarray(x) for x in direction]
      )
      for name, truth in exact.items():
        error = onp.abs(self.host(found[name]) - truth.slopes[d])
        # Masses below about 1e-288 may count as zero.
        bound = _TOLERANCE * truth.sizes[d] + 1e-300
        self.assertTrue(onp.all(error <= bound), (name, d, error, bound))
    # In reverse mode with random weights of an array's entries, so that each
    # may be seen.
    none = {name: onp.zeros(x.slopes.shape[1:]) for name, x in exact.items()}
    for name, truth in exact.items():
      scale = onp.sum(truth.sizes, axis=0)
      weights = state.normal(size=scale.shape)
      known = scale > 1e-280
      weights = onp.where(known, weights / onp.where(known, scale, 1.0), 0.0)
      given = {key: np.asarray(x) for key, x in {**none, name: weights}.items()}
      cotangents = [self.host(x) for x in pullback(given)]
      for d, direction in enumerate(case.directions):
        pairs = zip(cotangents, direction, strict=True)
        found = sum(onp.sum(x * y) for x, y in pairs)
        error = abs(found - onp.sum(weights * truth.slopes[d]))
        bound = _TOLERANCE * onp.sum(onp.abs(weights) * truth.sizes[d])
        self.assertLessEqual(error, bound, (name, d))


class _Case:
  """A random model, what is differentiated, and along which directions.

  The directions are in the rates of all epochs, the initial probabilities, the
  boundaries and the rewards.
  """

  def __init__(self, seed: int):
    model = epoch_models.random_rewards(seed, free_starts=True)
    self._graphs, params, boundaries, rewards, self._maps = model
    self._count = len(self._graphs)
    self.arrays = [*params, boundaries, *rewards]
    state = onp.random.RandomState(1000 + seed)
    moves = [
      # Zeros move, too.
      onp.where(x == 0.0, 1.0, x) * state.normal(size=x.shape)
      for x in self.arrays
    ]
    starts = params[0].size - self._graphs[0].num_phases
    groups = [onp.ones(x.shape) for x in self.arrays]
    for k, group in enumerate(groups):
      group *= 0.0 if k < self._count else 2.0 if k == self._count else 3.0
    groups[0][starts:] = 1.0
    self.directions = [
      [onp.where(group == d, x, 0.0) for x, group in zip(moves, groups)]
      for d in range(4)
    ]
    self._oracle = epoch_duals.EpochDuals(
      *self._parts(self.arrays),
      self._maps,
      [epoch_duals.Direction(*self._parts(x)[1:]) for x in self.directions],
    )
    ends = [0.0, *boundaries]
    lengths = [*onp.diff(ends), 1.0]
    self._times = [a + 0.4 * b for a, b in zip(ends, lengths, strict=True)]
    moments = self._oracle.moments()[0]
    means = onp.asarray([epoch_models.middle(x.value[0, 0]) for x in moments])
    self._rates = onp.minimum(0.5 / (means + 1e-300), 1e6)
    self._all_vary = bool(onp.all(means > 0.0))

  def _parts(self, arrays):
    k = self._count
    return self._graphs, arrays[:k], arrays[k], arrays[k + 1 :]

  def values(self, *arrays: Any) -> dict[str, Any]:
    """Returns what is differentiated."""
    chains, params, boundaries, rewards = self._parts(list(arrays))
    epochs = pd.Epochs(chains, params, boundaries, self._maps)
    dist = pd.MultivariateEpochs(epochs, rewards)
    times = onp.asarray(self._times)
    one = [1] + [0] * (self._rates.size - 1)
    found = {
      "mean": dist.mean(),
      "covariance": dist.covariance(),
      "laplace_transform": dist.laplace_transform(self._rates),
      "mark_probs": np.reshape(dist.joint_mark_probs(one, self._rates), (2,)),
      "log_prob": epochs.log_prob(times),
      "log_survival": epochs.log_survival_function(times),
      "log_cdf": epochs.log_cdf(times),
      "occupancy": epochs.occupancy(times, by_epoch=True),
      "sojourns": epochs.expected_sojourn_times(times, by_epoch=True),
      "cause_probs": epochs.cause_probs(),
    }
    if self._all_vary:
      found["correlation"] = dist.correlation()
    return found

  def exact(self) -> dict[str, _Exact]:
    """Computes exact derivatives along the directions."""
    oracle = self._oracle
    means, seconds = oracle.moments()
    size = len(means)
    covariances = {}
    for a, b in onp.ndindex(size, size):
      product = duals.multiply(means[a], means[b])
      second = seconds[min(a, b), max(a, b)]
      covariances[a, b] = duals.subtract(second, product)
    by_time = [oracle.until(t) for t in self._times]
    sizes = [graph.num_phases for graph in self._graphs]
    occupancy, sojourns = [], []
    for k, found in enumerate(by_time):
      before, after = sum(sizes[:k]), sum(sizes[k + 1 :])
      occupancy.append(_array([found["occupancy"]], before, after))
      sojourns.append(_array(found["sojourns"], 0, after))
    logs = {
      f"log_{name}": _array([duals.logarithm(x[key]) for x in by_time])
      for name, key in (
        ("prob", "density"),
        ("survival", "survival"),
        ("cdf", "cdf"),
      )
    }
    shape = (len(self.directions), size, size)
    second = _array(list(covariances.values()))
    found = {
      "mean": _array(means),
      "covariance": _Exact(*(onp.reshape(x, shape) for x in second)),
      "laplace_transform": _Exact(
        *(x[:, 0] for x in _array([oracle.laplace_transform(self._rates)]))
      ),
      "mark_probs": _array(oracle.mark_probs(self._rates)),
      **logs,
      "occupancy": _Exact(*map(_stacked, zip(*occupancy))),
      "sojourns": _Exact(*map(_stacked, zip(*sojourns))),
      "cause_probs": _array(oracle.cause_probs()),
    }
    if self._all_vary:
      roots = [duals.square_root(covariances[a, a]) for a in range(size)]
      own = _array(
        [
          duals.quotient(duals.quotient(x, roots[a]), roots[b])
          for (a, b), x in covariances.items()
        ]
      )
      found["correlation"] = _Exact(*(onp.reshape(x, shape) for x in own))
    return found


def _array(parts: list[duals.Dual], before: int = 0, after: int = 0) -> _Exact:
  """Joins rows, between zeros."""

  def joined(matrices: Any) -> list[Any]:
    return [x for matrix in matrices for x in matrix.entries()]

  slopes = [joined(x) for x in zip(*(part.slopes for part in parts))]
  sizes = [joined(x) for x in zip(*(part.sizes for part in parts))]
  for row, scales in zip(slopes, sizes, strict=True):
    for x, size in zip(row, scales, strict=True):
      # The balls are so small that their middles are exact for these tests.
      assert x.rad() <= 1e-30 * size.mid(), (x, size)
      assert size.rad() <= 1e-30 * size.mid(), size
  return _Exact(*(_between(x, before, after) for x in (slopes, sizes)))


def _between(rows: list[list[Any]], before: int, after: int) -> onp.ndarray:
  """Returns the middles of rows of balls, between zeros."""
  found = [[epoch_models.middle(x) for x in row] for row in rows]
  return onp.pad(onp.asarray(found), ((0, 0), (before, after)))


def _stacked(arrays: Any) -> onp.ndarray:
  return onp.stack(arrays, axis=1)


if __name__ == "__main__":
  absltest.main()
