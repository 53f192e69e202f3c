"""Conformance: MultivariatePhaseType, whose values are vectors.

Its methods are others than those of a time, and so are its laws: where rewards
are earned one after the other they are sums of independent times, given where
the chain starts and ends, of which all is known.
"""

import copy
import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import distributions as pd
from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case

MODE = "numpy"
# Statistics from which others follow.
_DERIVATIVES = (
  *("log_prob", "laplace_transform", "mixed_moment", "mean 0", "mean 1"),
  *("covariance", "variance 1"),
)
# Two stages: the first one is left at rate a + b, with b for good.
_PARAMETERS = {"a": 1.5, "b": 0.5, "c": 0.75, "atom": 0.125, "unit": 2.0}
_VALUES = (0.5, 2.0)
_METHODS = (
  *("log_prob", "prob", "laplace_transform", "mixed_moment"),
  *("mean 0", "mean 1", "variance 0", "variance 1", "covariance", "stddev 1"),
)
_MODES = conformance.MODES
_IS_DEAR = False
if MODE != "numpy":
  # They take minutes in TensorFlow and JAX.
  _IS_DEAR = not conformance.FULL
  _MODES = conformance.MODES if conformance.FULL else conformance.MODES[:2]


def _dist(a, b, c, atom, unit, **options):
  """Builds rewards in both stages, in different units."""
  zero = np.zeros_like(a)
  matrix = np.stack(
    [np.stack([-a - b, a], axis=-1), np.stack([zero, -c], axis=-1)], axis=-2
  )
  one = np.ones_like(a)
  rewards = np.stack(
    [np.stack([one, zero], axis=-1), np.stack([zero, unit], axis=-1)], axis=-2
  )
  initial = np.stack([1 - atom, zero], axis=-1)
  return pd.MultivariatePhaseType(
    initial, matrix, rewards, prob_zero=atom, **options
  )


def _methods(parameters, value):
  """Evaluates methods at (value, value), and moments."""
  dist = _dist(**parameters)
  pair = np.stack([value, value], axis=-1)
  nothing = 0.0 * value
  found = {
    "log_prob": dist.log_prob(pair),
    "prob": dist.prob(pair),
    "laplace_transform": dist.laplace_transform(pair),
    "mixed_moment": dist.mixed_moment((1, 2)) + nothing,
    "covariance": dist.covariance()[..., 0, 1] + nothing,
    "stddev 1": dist.stddev()[..., 1] + nothing,
  }
  for r in range(2):
    found[f"mean {r}"] = dist.mean()[..., r] + nothing
    found[f"variance {r}"] = dist.variance()[..., r] + nothing
  return found


def _exact(value, a, b, c, atom, unit):
  """Computes exact values for an exponential time and a possible second one."""
  starts, on = 1 - atom, a / (a + b)
  rate, other = a + b, c / unit
  density = starts * a * mpmath.exp(-rate * value)
  density *= other * mpmath.exp(-other * value)
  second = other / (other + value)
  transform = rate / (rate + value) * (1 - on + on * second)
  means = (starts / rate, starts * on / other)
  squares = (2 * starts / rate**2, 2 * starts * on / other**2)
  variances = [x - m**2 for x, m in zip(squares, means, strict=True)]
  return {
    "log_prob": mpmath.log(density),
    "prob": density,
    "laplace_transform": atom + starts * transform,
    "mixed_moment": starts * on / rate * 2 / other**2,
    "covariance": starts * on / (rate * other) - means[0] * means[1],
    "stddev 1": mpmath.sqrt(variances[1]),
    "mean 0": means[0],
    "mean 1": means[1],
    "variance 0": variances[0],
    "variance 1": variances[1],
  }


def _slope(name, value):
  """Computes exact derivatives in a parameter, by differences in many digits."""
  exact = {k: mpmath.mpf(x) for k, x in _PARAMETERS.items()}
  step = mpmath.mpf(10) ** -40
  high, low = (
    _exact(value, **{**exact, name: exact[name] + sign * step})
    for sign in (1, -1)
  )
  return {k: float((high[k] - low[k]) / (2 * step)) for k in high}


class RewardsTest(test_case.TestCase):
  """Tests values, derivatives, samples and structure."""

  @parameterized.parameters(*_MODES)
  def test_values(self, mode):
    rows = [dict(_PARAMETERS)] * 2
    if mode == conformance.VECTORIZED:
      rows[1] = {k: x * 0.9375 for k, x in _PARAMETERS.items()}
    found = conformance_modes.evaluate(_methods, mode, rows, _VALUES)
    for i, (row, value) in enumerate(zip(rows, _VALUES, strict=True)):
      with mpmath.workdps(60):
        exact = _exact(
          mpmath.mpf(value), **{k: mpmath.mpf(x) for k, x in row.items()}
        )
      for name in _METHODS:
        with self.subTest(f"{name} {i}"):
          self.assert_close(found[name][i], float(exact[name]), 1e-12)

  def test_float32(self):
    rows = [dict(_PARAMETERS)] * 2
    mode = conformance.EAGER
    found = conformance_modes.evaluate(_methods, mode, rows, _VALUES, "float32")
    for i, value in enumerate(_VALUES):
      exact = _exact(value, **_PARAMETERS)
      for name in _METHODS:
        self.assertEqual(found[name].dtype, onp.float32)
        self.assert_close(
          found[name][i], onp.float32(float(exact[name])), 1e-5, 1e-6
        )

  def test_derivatives(self):
    if _IS_DEAR:
      self.skipTest("takes most of a minute: the full sweep has it")
    value = np.asarray(onp.asarray(_VALUES[0]))

    def methods(parameters):
      found = _methods(parameters, value)
      return np.stack([found[name] for name in _DERIVATIVES])

    arrays = conformance.arrays(_PARAMETERS)
    parts = conformance_modes.jacobians(methods, conformance.EAGER, arrays)
    for name in _PARAMETERS:
      with mpmath.workdps(120):
        exact = _slope(name, mpmath.mpf(_VALUES[0]))
      expected = onp.asarray([exact[method] for method in _DERIVATIVES])
      for found, way in zip(parts, ("backward", "forward"), strict=True):
        with self.subTest(f"{name}, {way}"):
          self.assert_close(found[name], expected, 1e-9, 1e-11)

  def test_samples(self):
    dist = _dist(**conformance.arrays(_PARAMETERS))
    x = self.host(dist.sample(4000, seed=5))
    self.assert_close(dist.sample(4000, seed=5), x, 0.0)
    exact = _exact(1.0, **_PARAMETERS)
    for r in range(2):
      error = abs(onp.mean(x[:, r]) - float(exact[f"mean {r}"]))
      self.assertLess(error, 4.5 * math.sqrt(exact[f"variance {r}"] / 4000))
    # The first total has an atom, and is else exponential.
    t = onp.sort(x[:, 0])
    rate, starts = 2.0, 1 - _PARAMETERS["atom"]
    exact = 1 - starts * onp.exp(-rate * t)
    below = onp.searchsorted(t, t, side="right") / 4000
    self.assertLess(onp.max(onp.abs(below - exact)), 2.23 / math.sqrt(4000))

  def test_structure(self):
    arrays = conformance.arrays(_PARAMETERS)
    batch = {k: onp.stack([x, 0.9375 * x]) for k, x in arrays.items()}
    dist, one = _dist(**batch), _dist(**arrays)
    self.assertEqual((dist.batch_shape, dist.event_shape), ((2,), (2,)))
    self.assertEqual(self.host(dist.event_shape_tensor()).tolist(), [2])
    self.assertEqual((dist.dtype, dist.name), ("float64", type(dist).__name__))
    pair = onp.asarray([0.5, 2.0])
    exact = self.host(one.log_prob(pair))
    again = type(one)._unflatten(one._parts())
    for x in (dist[0], one.copy(), copy.deepcopy(one), again):
      self.assert_close(x.log_prob(pair), exact, 1e-14)
    found = dist.log_prob(onp.stack([pair, pair, pair])[:, None])
    self.assertEqual(onp.shape(self.host(found)), (3, 2))

  @test_case.of_bad_values
  def test_checks(self):
    checked = _dist(**conformance.arrays(_PARAMETERS), validate_args=True)
    with self.assertRaisesRegex(ValueError, "must be >= 0"):
      checked.log_prob([-1.0, 1.0])
    bad = {**conformance.arrays(_PARAMETERS), "a": onp.asarray(math.nan)}
    found = _methods(bad, np.asarray(onp.asarray(0.5)))
    for name, x in found.items():
      self.assertTrue(onp.isnan(self.host(x)), name)


if __name__ == "__main__":
  absltest.main()
