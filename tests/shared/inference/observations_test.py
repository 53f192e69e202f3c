"""Exact and censored observations in one call."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.math.calls import gradients
from phasic.math.likelihood import observations
from tests.helpers import derivatives
from tests.helpers import test_case

_ALPHA = onp.asarray([0.5, 0.25, 0.0])
_MATRIX = onp.asarray([[-3.0, 1.0, 0.5], [0.25, -2.0, 0.75], [0.0, 0.5, -1.0]])
_ATOM = 0.25
# Exact, right-, left- and interval-censored; one with the atom, one without.
_LOWER = onp.asarray([0.5, 0.0, 2.0, -1.0, -1.0, 1.0, 0.0, 0.25, -1.0, 40.0])
_UPPER = onp.asarray(
  [0.5, 0.0, math.inf, 1.0, 0.0, 2.0, 0.5, 0.375, math.inf, 41.0]
)
_EXACT, _RIGHT, _LEFT, _BETWEEN = [0, 1], [2, 8], [3, 4], [5, 6, 7, 9]
_COTANGENT = onp.asarray([1.0, 0.5, 2.0, -1.0, 1.5, 0.75, 1.0, 3.0, 2.0, 0.25])
# Observations with all derivatives: no exact time at the atom.
_SMOOTH = [0, 2, 3, 5, 6, 7, 8, 9]


def _terms(lower, upper):
  return observations.log_likelihood_terms(_ALPHA, _MATRIX, lower, upper)


class ValuesTest(test_case.TestCase):
  def test_each_kind_is_the_function_of_that_name(self):
    for path in self.paths():
      with config.use_path(path):
        value = self.host(_terms(_LOWER, _UPPER))
        for places, function, times in (
          (_EXACT, pm.phase_type.log_prob, _LOWER),
          (_RIGHT, pm.phase_type.log_survival_function, _LOWER),
          (_LEFT, pm.phase_type.log_cdf, _UPPER),
        ):
          alone = function(times[places], _ALPHA, _MATRIX)
          if path == "kernel":
            onp.testing.assert_array_equal(value[places], self.host(alone))
          else:
            self.assert_close(value[places], alone, 1e-13, 1e-13)
        mass = self.host(
          pm.phase_type.survival_function(_LOWER[_BETWEEN], _ALPHA, _MATRIX)
        )
        mass = mass - self.host(
          pm.phase_type.survival_function(_UPPER[_BETWEEN], _ALPHA, _MATRIX)
        )
        self.assert_close(onp.exp(value[_BETWEEN]), mass, 1e-12, 0.0)

  @parameterized.parameters(0.5, 1.0, 1e3)
  def test_exponential(self, rate):
    lower = onp.asarray([0.0, 1e-12, 0.3, 5.0, 600.0, -1.0, 3.0, 2.0]) / rate
    width = (
      onp.asarray([1e-9, 1e-6, 0.4, 100.0, 1.0, 3.0, math.inf, 0.0]) / rate
    )
    upper = lower + width
    mass = -onp.expm1(-rate * (upper - lower))
    mass = onp.log(onp.where(lower == upper, 1.0, mass)) - rate * lower
    expected = onp.where(lower == upper, math.log(rate) - rate * lower, mass)
    expected[5] = onp.log(-onp.expm1(-rate * upper[5]))
    for path in self.paths():
      with config.use_path(path):
        value = observations.log_likelihood_terms(
          [1.0], [[-rate]], lower, upper
        )
        # The portable path is accurate in the left tail, as F(l) is small.
        self.assert_close(value, expected, 1e-12, 1e-9)
        if path == "kernel":
          self.assert_close(value, expected, 1e-15, 1e-12)

  def test_the_portable_path_loses_what_it_says(self):
    lower = onp.asarray([0.25, 1.0, 2.0, 20.0])
    for digits in (2, 5, 8):
      upper = lower * (1.0 + 10.0**-digits)
      with config.use_path("portable"):
        value = self.host(
          observations.log_likelihood_terms([1.0], [[-2.0]], lower, upper)
        )
      mass = -onp.expm1(-2.0 * (upper - lower)) * onp.exp(-2.0 * lower)
      minuend = onp.minimum(onp.exp(-2 * lower), -onp.expm1(-2 * upper))
      bound = 1e-14 * minuend / mass
      self.assertTrue(onp.all(abs(value - onp.log(mass)) <= bound + 1e-13))

  def test_no_upper_ends_are_exact_observations(self):
    value = observations.log_likelihood_terms(_ALPHA, _MATRIX, _LOWER)
    expected = self.host(pm.phase_type.log_prob(_LOWER, _ALPHA, _MATRIX))
    onp.testing.assert_array_equal(self.host(value), expected)

  def test_the_same_bits_alone_and_in_any_order(self):
    self.require_kernel()
    value = self.host(_terms(_LOWER, _UPPER))
    order = onp.random.default_rng(0).permutation(len(_LOWER))
    moved = self.host(_terms(_LOWER[order], _UPPER[order]))
    onp.testing.assert_array_equal(moved, value[order])
    for i, x in enumerate(value):
      alone = self.host(_terms(_LOWER[i], _UPPER[i]))
      self.assertEqual(float(alone), x)

  def test_many_observations(self):
    # More than one block, so that intervals cross the borders of blocks.
    self.require_kernel()
    lower, upper = onp.tile(_LOWER[5:8], 500), onp.tile(_UPPER[5:8], 500)
    value = self.host(_terms(lower, upper))
    expected = onp.tile(self.host(_terms(_LOWER[5:8], _UPPER[5:8])), 500)
    onp.testing.assert_array_equal(value, expected)

  @test_case.of_bad_values
  def test_what_is_not_in_order_is_nan(self):
    for path in self.paths():
      with config.use_path(path):
        value = _terms(
          onp.asarray([2.0, -1.0, math.nan, 1.0, math.nan, math.inf]),
          onp.asarray([1.0, -2.0, 1.0, math.nan, math.nan, 1.0]),
        )
        self.assertTrue(onp.all(onp.isnan(self.host(value))), path)

  def test_impossible_observations(self):
    for path in self.paths():
      with config.use_path(path):
        value = _terms(
          onp.asarray([-2.0, -1.0, math.inf]),
          onp.asarray([-1.0, -1.0, math.inf]),
        )
        self.assert_close(value, [-math.inf] * 3)

  def test_edges(self):
    exits = -onp.sum(_MATRIX, axis=1)
    rates = onp.concatenate([_MATRIX, exits[:, None]], axis=1)
    sources, targets = onp.nonzero(rates > 0)
    edges = pm.EdgeRates(sources, targets, rates[sources, targets])
    for path in self.paths():
      with config.use_path(path):
        value = observations.log_likelihood_terms(_ALPHA, edges, _LOWER, _UPPER)
        self.assert_close(value, _terms(_LOWER, _UPPER), 1e-13, 1e-13)

  def test_float32(self):
    value = observations.log_likelihood_terms(
      *(onp.asarray(x, onp.float32) for x in (_ALPHA, _MATRIX, _LOWER, _UPPER))
    )
    self.assertEqual(self.host(value).dtype, onp.float32)
    self.assert_close(value, _terms(_LOWER, _UPPER), 1e-5, 1e-5)


class ShapesTest(test_case.TestCase):
  @test_case.of_bad_values
  def test_ends_broadcast_with_the_models(self):
    scales = onp.asarray([1.0, 0.75, 0.5])
    alpha = scales[:, None] * _ALPHA
    for path in self.paths():
      with config.use_path(path):
        value = self.host(
          observations.log_likelihood_terms(
            alpha, _MATRIX, _LOWER[:, None, None], _UPPER[:, None]
          )
        )
        self.assertEqual(value.shape, (10, 10, 3))
    self.require_kernel()
    for j in range(3):
      alone = observations.log_likelihood_terms(
        alpha[j], _MATRIX, _LOWER[:, None], _UPPER
      )
      onp.testing.assert_array_equal(value[..., j], self.host(alone))

  def test_one_observation_for_each_model(self):
    alpha = onp.asarray([1.0, 0.75])[:, None] * _ALPHA
    value = observations.log_likelihood_terms(
      alpha, _MATRIX, onp.asarray([1.0, 2.0]), onp.asarray([1.5, math.inf])
    )
    for i, (lower, upper) in enumerate(((1.0, 1.5), (2.0, math.inf))):
      alone = observations.log_likelihood_terms(alpha[i], _MATRIX, lower, upper)
      self.assert_close(value[i], alone, 1e-15)

  def test_wrong_arguments(self):
    with self.assertRaisesRegex(ValueError, "lower has shape"):
      _terms(onp.ones(3), onp.ones(2))
    with self.assertRaisesRegex(ValueError, "upper has shape|upper"):
      _terms(onp.ones(3), onp.ones((0,)))
    with self.assertRaisesRegex(TypeError, "upper has dtype bool"):
      _terms(onp.ones(3), onp.ones(3, bool))

  def test_validate_args(self):
    for lower, upper in ((2.0, 1.0), (math.nan, 1.0), (1.0, math.nan)):
      with self.assertRaisesRegex(ValueError, "upper.* = .*: it must be"):
        observations.log_likelihood_terms(
          _ALPHA, _MATRIX, lower, upper, validate_args=True
        )
    with self.assertRaisesRegex(ValueError, "upper.*: it must be"):
      observations.log_likelihood_terms(
        _ALPHA, _MATRIX, math.nan, validate_args=True
      )
    value = observations.log_likelihood_terms(
      _ALPHA, _MATRIX, _LOWER, _UPPER, validate_args=True
    )
    self.assert_close(value, _terms(_LOWER, _UPPER), 0.0)


class DerivativesTest(test_case.TestCase):
  def _vjp(self, lower, upper, cotangent):
    value, bars = derivatives.vjp(
      observations.log_likelihood_terms,
      _ALPHA,
      _MATRIX,
      lower,
      upper,
      prob_zero=_ATOM,
      cotangent=cotangent,
    )
    self.assertIsNone(bars[4])
    return self.host(value), [self.host(bars[i]) for i in (0, 1, 2, 3, 5)]

  def test_cotangents_are_the_sums_of_those_alone(self):
    self.require_kernel()
    _, bars = self._vjp(_LOWER[_SMOOTH], _UPPER[_SMOOTH], _COTANGENT[_SMOOTH])
    totals = [onp.zeros_like(bar) for bar in bars]
    sizes = [onp.zeros_like(bar) for bar in bars]
    for k, i in enumerate(_SMOOTH):
      _, alone = self._vjp(_LOWER[i], _UPPER[i], _COTANGENT[i])
      for part in (0, 1, 4):
        totals[part] += alone[part]
        sizes[part] += abs(alone[part])
      totals[2][k], totals[3][k] = alone[2], alone[3]
      sizes[2][k], sizes[3][k] = abs(alone[2]), abs(alone[3])
    for bar, total, size in zip(bars, totals, sizes, strict=True):
      self.assertTrue(onp.all(abs(bar - total) <= 1e-12 * size))

  def test_hessian_of_a_mixture(self):
    self.require_kernel()
    alpha, rates = onp.asarray([0.25, 0.75]), onp.asarray([0.5, 2.0])
    lower = onp.asarray([0.5, 2.0, -1.0, 1.0])
    upper = onp.asarray([0.5, math.inf, 1.5, 2.0])
    weights, along = onp.asarray([1.0, 2.0, 0.5, 3.0]), onp.asarray([1.0, -0.5])

    def survival(t):
      """Computes survival of each phase, and two derivatives in the rate."""
      alive = alpha * onp.exp(-rates * t)
      return onp.stack([alive, -t * alive, t * t * alive])

    density = alpha * onp.exp(-rates * 0.5)
    slopes = 1.0 - 0.5 * rates, -1.0 + 0.25 * rates
    parts = [
      onp.stack([rates * density, slopes[0] * density, slopes[1] * density]),
      survival(2.0),
      survival(0.0) - survival(1.5),
      survival(1.0) - survival(2.0),
    ]
    expected = onp.zeros(2)
    for weight, (value, slope, bend) in zip(weights, parts, strict=True):
      total = onp.sum(value)
      outer = onp.sum(slope * along) * slope / total**2
      expected = expected + weight * (bend * along / total - outer)
    off = onp.zeros((2, 2))

    def total(exit_rates):
      terms = observations.log_likelihood_terms(
        alpha, off, lower, upper, exit_rates=exit_rates
      )
      return np.sum(np.asarray(weights) * terms)

    moved = pm.hessian_vector_product(total, (rates,), (along,))
    self.assert_close(moved, expected, 1e-12)

  def test_cotangents_are_those_of_the_neighbors(self):
    self.require_kernel()
    for i, function, time in (
      (0, pm.phase_type.log_prob, 2),
      (2, pm.phase_type.log_survival_function, 2),
      (3, pm.phase_type.log_cdf, 3),
    ):
      end = _UPPER[i] if time == 3 else _LOWER[i]
      _, bars = derivatives.vjp(
        function, end, _ALPHA, _MATRIX, None, _ATOM, cotangent=1.0
      )
      _, found = self._vjp(_LOWER[i], _UPPER[i], 1.0)
      for k, bar in ((0, bars[1]), (1, bars[2]), (time, bars[0]), (4, bars[4])):
        onp.testing.assert_array_equal(found[k], self.host(bar))
      self.assertEqual(found[5 - time], 0.0)

  def test_ends_of_an_interval(self):
    # d log P / dl = -f(l) / P, d log P / du = f(u) / P.
    self.require_kernel()
    lower, upper = _LOWER[_BETWEEN], _UPPER[_BETWEEN]
    value, bars = self._vjp(lower, upper, onp.ones(4))
    model = (_ALPHA, _MATRIX)
    # The density at zero is the atom; its limit from the right is alpha . s.
    mass = 1.0 - _ATOM
    alpha = onp.asarray(_ALPHA) / mass
    f = mass * self.host(pm.phase_type.prob(lower, alpha, _MATRIX, None, 0.0))
    self.assert_close(bars[2], -f / onp.exp(value), 1e-12)
    f = self.host(pm.phase_type.prob(upper, *model))
    self.assert_close(bars[3], f / onp.exp(value), 1e-12)

  def test_cotangents_of_ends_that_broadcast(self):
    self.require_kernel()
    lower, upper = onp.full((2, 1), 0.5), onp.asarray([1.0, math.inf, 0.5])
    cotangent = onp.arange(6.0).reshape(2, 3)
    _, bars = self._vjp(lower, upper, cotangent)
    full = onp.broadcast_to(lower, (2, 3)), onp.broadcast_to(upper, (2, 3))
    _, expected = self._vjp(*full, cotangent)
    self.assert_close(bars[2], onp.sum(expected[2], 1, keepdims=True), 1e-14)
    self.assert_close(bars[3], onp.sum(expected[3], 0), 1e-14)

  def test_forward_mode_is_reverse_mode(self):
    self.require_kernel()
    rng = onp.random.default_rng(2)
    arguments = (_ALPHA, _MATRIX, _LOWER[_SMOOTH], _UPPER[_SMOOTH], None, _ATOM)
    tangents = [
      None if x is None else rng.standard_normal(onp.shape(x))
      for x in arguments
    ]
    _, moved = derivatives.jvp(
      observations.log_likelihood_terms,
      *arguments[:4],
      prob_zero=_ATOM,
      tangents=tangents,
    )
    _, bars = self._vjp(*arguments[2:4], _COTANGENT[_SMOOTH])
    parts = [
      onp.sum(bar * tangents[i])
      for i, bar in zip((0, 1, 2, 3, 5), bars, strict=True)
    ]
    total = onp.sum(self.host(moved) * _COTANGENT[_SMOOTH])
    bound = 1e-12 * sum(abs(part) for part in parts)
    self.assertLessEqual(abs(total - sum(parts)), bound)

  def test_no_upper_ends(self):
    self.require_kernel()
    _, bars = derivatives.vjp(
      observations.log_likelihood_terms,
      _ALPHA,
      _MATRIX,
      _UPPER[5:8],
      cotangent=onp.ones(3),
    )
    self.assertLen(bars, 6)
    self.assertIsNone(bars[3])
    _, expected = derivatives.vjp(
      pm.phase_type.log_prob,
      _UPPER[5:8],
      _ALPHA,
      _MATRIX,
      cotangent=onp.ones(3),
    )
    onp.testing.assert_array_equal(self.host(bars[2]), self.host(expected[0]))
    _, moved = derivatives.jvp(
      observations.log_likelihood_terms,
      _ALPHA,
      _MATRIX,
      _UPPER[5:8],
      tangents=(None, None, onp.ones(3), None, None, None),
    )
    self.assert_close(moved, expected[0], 1e-12)

  @parameterized.parameters(0.0, _ATOM)
  def test_autodiff(self, atom):
    self.require_kernel()
    arguments = tuple(
      np.asarray(x) for x in (_ALPHA, _MATRIX, _LOWER[_SMOOTH], _UPPER[_SMOOTH])
    )
    cotangent = np.asarray(_COTANGENT[_SMOOTH])
    _, bars = derivatives.vjp(
      observations.log_likelihood_terms,
      *arguments,
      prob_zero=atom,
      cotangent=cotangent,
    )
    paths = [("kernel", 0.0)]
    if atom == 0.0:
      paths.append(("portable", 1e-9))  # The compilation is slow.
    for path, tolerance in paths:
      with config.use_path(path):
        _, pullback = gradients.vjp(
          lambda *x: observations.log_likelihood_terms(*x, prob_zero=atom),
          *arguments,
        )
        found = pullback(cotangent)
      for x, y in zip(found, bars, strict=False):
        self.assert_close(x, y, tolerance, tolerance)


if __name__ == "__main__":
  absltest.main()
