"""A kind for each count of a discrete chain, intervals too."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from tests.accuracy import discrete_calls as calls
from tests.accuracy import kernel_calls
from tests.accuracy import sweeps
from tests.oracle import discrete_oracle as oracle

_MODELS = {
  "derived": oracle.Operands(
    onp.asarray([0.5, 0.25, 0.0]),
    onp.asarray([[16, 8, 0], [4, 2, 40], [0, 30, 33]]) / 64,
  ),
  "given": oracle.Operands(
    onp.asarray([0.375, 0.5]),
    onp.asarray([[0.5, 0.25], [0.0, 0.875]]),
    onp.asarray([0.25, 0.125]),
    onp.asarray(0.125),
  ),
}
# Across blocks of sixteen, within one, from zero, up to the next count.
_KINDS = onp.asarray([0, 2, 6, 7, 4, 7, 6, 7, 6, 7, 0, 6, 7])
_COUNTS = onp.asarray([3, 18, 5, 40, 7, 2, 0, 3, 16, 17, 1, 20, 31])
_NAMES = {0: "log_density", 2: "log_survival", 4: "log_cdf"}


def _terms(model, directions=()):
  """The truth and its scale for each count."""
  result = []
  for i, (kind, count) in enumerate(zip(_KINDS, _COUNTS, strict=True)):
    if kind == 7:
      result.append((0.0, 0.0))
    elif kind == 6:
      pair = (int(count), int(_COUNTS[i + 1]))
      result.append(oracle.directional("log_interval", model, pair, directions))
    else:
      result.append(oracle.directional(_NAMES[kind], model, count, directions))
  return onp.asarray(result).T


def _direction(model, state):
  return oracle.Operands(
    *(None if x is None else state.normal(size=onp.shape(x)) for x in model)
  )


class DiscreteKindsTest(parameterized.TestCase):
  """Against rational and ball arithmetic."""

  def setUp(self):
    super().setUp()
    if not kernel_calls.available():
      self.skipTest(kernel_calls.UNAVAILABLE)

  @parameterized.parameters(*_MODELS)
  def test_values(self, name):
    model = _MODELS[name]
    values = calls.directional("cdf", model, _COUNTS, kinds=_KINDS)
    truth, _ = _terms(model)
    onp.testing.assert_allclose(values, truth, rtol=1e-15, atol=1e-14)

  @parameterized.parameters(
    *sweeps.quick_and(
      itertools.product(_MODELS, (1, 2)), itertools.product(_MODELS, (3,))
    )
  )
  def test_forward_derivatives(self, name, order):
    model, state = _MODELS[name], onp.random.RandomState(order)
    directions = tuple(_direction(model, state) for _ in range(order))
    values = calls.directional("cdf", model, _COUNTS, directions, _KINDS)
    truth, scale = _terms(model, directions)
    self.assertTrue(onp.all(abs(values - truth) <= 1e-13 * scale))

  @parameterized.parameters(
    *sweeps.quick_and(
      [("given", 1), ("given", 2)], [("derived", 1), ("derived", 2)]
    )
  )
  def test_gradients(self, name, order):
    model, state = _MODELS[name], onp.random.RandomState(order)
    directions = tuple(_direction(model, state) for _ in range(order - 1))
    weights = state.normal(size=len(_KINDS))
    bars = calls.gradient("cdf", model, _COUNTS, weights, directions, _KINDS)
    for operand, (bar, units) in enumerate(
      zip(bars[:4], oracle.basis(model), strict=True)
    ):
      for i, unit in enumerate(units or []):
        truth, scale = _terms(model, (*directions, unit))
        error = abs(bar[i] - weights @ truth)
        self.assertLessEqual(
          error, 1e-13 * (abs(weights) @ scale), (operand, i)
        )

  def test_counts_have_no_derivative_but_between(self):
    model = _MODELS["derived"]
    counts = [3.5, 7.25, 3, 7.25, 3.5, 7, 2, 2]
    kinds = [6, 7, 6, 7, 6, 7, 7, 7]
    values = calls.directional("cdf", model, counts, kinds=kinds)
    truth, _ = oracle.directional("log_interval", model, (3, 7))
    onp.testing.assert_allclose(values[[0, 2, 4]], truth, rtol=1e-14)
    bars = calls.gradient("cdf", model, counts, onp.ones(8), kinds=kinds)
    nan = onp.nan
    onp.testing.assert_array_equal(bars[4], [0, 0, nan, 0, 0, nan, 0, 0])

  @parameterized.parameters((100, 101), (100, 300), (0, 5000), (4000, 4001))
  def test_far_intervals(self, lower, upper):
    model = _MODELS["derived"]
    [value, _] = calls.directional("cdf", model, [lower, upper], kinds=[6, 7])
    with flint.ctx.workprec(600):
      survival = [
        oracle.far_directional("survival", model, k)[0] for k in (lower, upper)
      ]
      truth = float((survival[0] - survival[1]).log())
    bound = max(1e-13, 4 * onp.spacing(abs(truth)))
    self.assertLessEqual(abs(value - truth), bound)

  @parameterized.parameters(
    ([5, 3], [6, 7], "upper"),
    ([5, onp.inf], [6, 7], "upper"),
    ([-1, 3], [6, 7], "lower"),
    ([5, 6], [6, 0], "followed by 7"),
    ([5, 6], [7, 6], "followed by 7"),
    ([5, 6], [1, 7], "kinds"),
    ([5, onp.nan], [6, 7], "NaN"),
    ([5, 1e19], [6, 7], "steps"),
  )
  def test_refused(self, counts, kinds, message):
    model = _MODELS["derived"]
    values = calls.directional("cdf", model, counts, kinds=kinds)
    messages = calls.status("cdf", model, counts, kinds)
    wrong = 1 if kinds == [7, 6] else 0
    self.assertTrue(onp.isnan(values[wrong]))
    self.assertIn(message, messages[wrong])

  def test_no_mass(self):
    """Nothing between equal counts, nor where a period leaves none."""
    periodic = oracle.Operands(
      onp.asarray([1.0, 0.0]), onp.asarray([[0.0, 0.75], [1.0, 0.0]])
    )
    counts, kinds = [4, 4, 3, 4, 3, 5], [6, 7, 6, 7, 6, 7]
    values = calls.directional("cdf", periodic, counts, kinds=kinds)
    truth, _ = oracle.directional("log_interval", periodic, (3, 5))
    onp.testing.assert_allclose(values[[0, 2, 4]], [-onp.inf, -onp.inf, truth])
    for first in (0, 2):
      pair = counts[first : first + 2]
      bars = calls.gradient("cdf", periodic, pair, [1, 1], kinds=[6, 7])
      self.assertTrue(onp.all(onp.isnan(bars[0])))


if __name__ == "__main__":
  absltest.main()
