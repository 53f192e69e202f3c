"""Sparse models: EdgeRates instead of a subgenerator."""

import functools
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from tests.helpers import derivatives
from tests.helpers import test_case

_TIMES = onp.asarray([1e-3, 0.4, 1.7, 9.0])
_KINDS = (
  "log_prob",
  "prob",
  "log_survival_function",
  "survival_function",
  "log_cdf",
  "cdf",
)
_PHASES = 13


def _erlang(rate, phases=4):
  """Builds an Erlang model with the rate as parameter."""
  return pm.EdgeRates(
    sources=onp.arange(phases),
    targets=onp.arange(phases) + 1,
    parameters=onp.asarray([rate]),
    coefficients=onp.ones((phases, 1)),
  )


def _random(seed=0, edges=40, parameters=3):
  """Draws unsorted edges, some parallel, with one loop."""
  rng = onp.random.default_rng(seed)
  sources = rng.integers(0, _PHASES, edges)
  targets = rng.integers(0, _PHASES + 1, edges)
  sources[0], targets[0] = 3, 3
  sources[1:3], targets[1:3] = (5, 5), (6, 6)
  sources[3], targets[3] = 6, _PHASES
  coefficients = rng.uniform(0.0, 1.0, (edges, parameters))
  constants = rng.uniform(0.0, 1.0, edges)
  theta = rng.uniform(0.5, 1.5, parameters)
  alpha = rng.dirichlet(onp.ones(_PHASES))
  return alpha, pm.EdgeRates(sources, targets, theta, coefficients, constants)


def _dense(edges):
  """Computes rates and exits, and their derivatives in theta."""
  rates = edges.constants + edges.coefficients @ edges.parameters
  dense = onp.zeros((_PHASES, _PHASES + 1))
  slopes = onp.zeros((_PHASES, _PHASES + 1, len(edges.parameters)))
  for e, (i, j) in enumerate(zip(edges.sources, edges.targets, strict=True)):
    if i != j:
      dense[i, j] += rates[e]
      slopes[i, j] += edges.coefficients[e]
  return dense[:, :-1], dense[:, -1], slopes


class ClosedFormTest(test_case.TestCase):
  """Tests models with known densities and derivatives."""

  def test_erlang(self):
    value = self.host(
      pm.phase_type.log_prob(_TIMES, onp.eye(4)[0], _erlang(1.3))
    )
    expected = 4 * math.log(1.3) + 3 * onp.log(_TIMES) - 1.3 * _TIMES
    self.assert_close(value, expected - math.log(6.0), 1e-13)

  def test_derivative_of_erlang(self):
    self.require_kernel()
    for i, t in enumerate(_TIMES):
      _, bars = derivatives.vjp(
        pm.phase_type.log_prob,
        _TIMES,
        onp.eye(4)[0],
        _erlang(1.3),
        cotangent=onp.eye(4)[i],
      )
      self.assert_close(self.host(bars[2]), [4 / 1.3 - t], 1e-13)

  def test_an_edge_of_rate_zero_has_a_derivative(self):
    # Phase 1 is reached only by the edge: d cdf / d rate at rate 0.
    self.require_kernel()
    edges = pm.EdgeRates([0, 0, 1], [1, 2, 2], onp.asarray([0.0, 1.0, 3.0]))
    _, bars = derivatives.vjp(
      pm.phase_type.survival_function,
      onp.asarray([0.8]),
      onp.asarray([1.0, 0.0]),
      edges,
      cotangent=[1.0],
    )
    by_jump = (math.exp(-0.8) - math.exp(-2.4)) / 2 - 0.8 * math.exp(-0.8)
    self.assert_close(self.host(bars[2])[0], by_jump, 1e-13)


class AgainstDenseTest(test_case.TestCase):
  """Compares with a subgenerator and given exits."""

  @parameterized.parameters(*_KINDS)
  def test_values(self, kind):
    alpha, edges = _random()
    rates, exits, _ = _dense(edges)
    function = getattr(pm.phase_type, kind)
    self.assert_close(
      self.host(function(_TIMES, alpha, edges)),
      self.host(function(_TIMES, alpha, rates, exits)),
      1e-13,
    )

  @parameterized.parameters(*_KINDS)
  def test_portable_path(self, kind):
    alpha, edges = _random()
    rates, exits, _ = _dense(edges)
    function = getattr(pm.phase_type, kind)
    with config.use_path("portable"):
      value = self.host(function(_TIMES, alpha, edges))
      expected = self.host(function(_TIMES, alpha, rates, exits))
    self.assert_close(value, expected, 1e-13)

  @parameterized.parameters(*_KINDS)
  def test_derivatives(self, kind):
    self.require_kernel()
    alpha, edges = _random(1)
    rates, exits, slopes = _dense(edges)
    vjp = functools.partial(derivatives.vjp, getattr(pm.phase_type, kind))
    seed = onp.asarray([0.3, -1.0, 2.0, 0.7])
    _, bars = vjp(_TIMES, alpha, edges, cotangent=seed)
    _, dense = vjp(_TIMES, alpha, rates, exits, cotangent=seed)
    expected = onp.einsum("ij,ijd->d", self.host(dense[2]), slopes[:, :-1])
    expected += onp.einsum("i,id->d", self.host(dense[3]), slopes[:, -1])
    self.assert_close(self.host(bars[2]), expected, 1e-11)
    self.assert_close(self.host(bars[0]), self.host(dense[0]), 1e-12)
    self.assert_close(self.host(bars[1]), self.host(dense[1]), 1e-12)

  def test_forward_and_reverse_mode_agree(self):
    self.require_kernel()
    alpha, edges = _random(2)
    along = onp.asarray([0.2, -1.0, 0.5])
    seed = onp.asarray([0.3, -1.0, 2.0, 0.7])
    _, bars = derivatives.vjp(
      pm.phase_type.log_cdf, _TIMES, alpha, edges, cotangent=seed
    )
    _, tangent = derivatives.jvp(
      pm.phase_type.log_cdf,
      _TIMES,
      alpha,
      edges,
      tangents=(None, None, along, None, None),
    )
    self.assert_close(
      onp.sum(self.host(tangent) * seed),
      onp.sum(self.host(bars[2]) * along),
      1e-12,
    )

  def test_rates_are_parameters_without_coefficients(self):
    alpha, edges = _random()
    rates = edges.constants + edges.coefficients @ edges.parameters
    plain = pm.EdgeRates(edges.sources, edges.targets, rates)
    self.assert_close(
      self.host(pm.phase_type.log_prob(_TIMES, alpha, plain)),
      self.host(pm.phase_type.log_prob(_TIMES, alpha, edges)),
      1e-13,
    )

  def test_batch_of_parameters(self):
    alpha, edges = _random()
    theta = onp.stack([edges.parameters, 2.0 * edges.parameters])
    both = self.host(
      pm.phase_type.log_prob(
        _TIMES, alpha, edges._replace(parameters=theta[:, None, :])
      )
    )
    self.assertEqual(both.shape, (2, 4))
    for value, parameters in zip(both, theta, strict=True):
      alone = pm.phase_type.log_prob(
        _TIMES, alpha, edges._replace(parameters=parameters)
      )
      onp.testing.assert_array_equal(value, self.host(alone))

  def test_many_phases(self):
    # More phases than tiles are wide, and not a multiple of their width.
    phases = 134
    alpha = onp.full(phases, 1.0 / phases)
    edges = pm.EdgeRates(
      sources=onp.arange(phases),
      targets=onp.arange(phases) + 1,
      parameters=onp.ones(phases),
    )
    self.require_kernel()
    for _ in range(2):  # Results must not depend on earlier calls.
      _, bars = derivatives.vjp(
        pm.phase_type.log_prob,
        _TIMES,
        alpha,
        edges,
        cotangent=onp.ones(4),
        prob_zero=0.0,
      )
      # log f is homogeneous of degree one in alpha.
      self.assert_close(onp.sum(self.host(bars[1]) * alpha), 4.0, 1e-12)


class BadInputTest(test_case.TestCase):
  """Tests that structure errors raise, and bad values give NaN."""

  @parameterized.parameters("kernel", "portable")
  def test_index_out_of_range(self, path):
    if path == "kernel":
      self.require_kernel()
    with config.use_path(path):
      for sources, targets, name in (
        ([-1, 1], [1, 2], "sources"),
        ([0, 2], [1, 2], "sources"),
        ([0, 1], [1, 3], "targets"),
      ):
        edges = pm.EdgeRates(sources, targets, onp.asarray([1.0, 1.0]))
        with self.assertRaisesRegex(ValueError, name):
          pm.phase_type.prob(_TIMES, onp.asarray([1.0, 0.0]), edges)

  @parameterized.parameters("kernel", "portable")
  @test_case.of_bad_values
  def test_negative_rate(self, path):
    if path == "kernel":
      self.require_kernel()
    with config.use_path(path):
      edges = pm.EdgeRates([0, 0, 1], [1, 1, 2], onp.asarray([2.0, -1.0, 1.0]))
      value = pm.phase_type.prob(_TIMES, onp.asarray([1.0, 0.0]), edges)
      self.assertTrue(onp.all(onp.isnan(self.host(value))))

  def test_shapes(self):
    alpha = onp.asarray([1.0, 0.0])
    one = onp.asarray([1.0])
    with self.assertRaisesRegex(ValueError, "sources have shape"):
      pm.phase_type.prob(_TIMES, alpha, pm.EdgeRates([0], [1, 2], one))
    with self.assertRaisesRegex(
      ValueError, r"shape \(1, 1\) .* must be \(m,\)"
    ):
      pm.phase_type.prob(_TIMES, alpha, pm.EdgeRates([[0]], [[1]], one))
    with self.assertRaisesRegex(ValueError, "parameters have shape"):
      pm.phase_type.prob(_TIMES, alpha, pm.EdgeRates([0, 1], [1, 2], one))
    with self.assertRaisesRegex(ValueError, "coefficients have shape"):
      pm.phase_type.prob(_TIMES, alpha, pm.EdgeRates([0, 1], [1, 2], one, one))
    with self.assertRaisesRegex(ValueError, "constants have shape"):
      pm.phase_type.prob(
        _TIMES,
        alpha,
        pm.EdgeRates([0, 1], [1, 2], one, onp.ones((2, 1)), one),
      )

  def test_indices_are_integers(self):
    edges = pm.EdgeRates([0.0], [1], onp.asarray([1.0]))
    with self.assertRaisesRegex(TypeError, "sources"):
      pm.phase_type.prob(_TIMES, onp.asarray([1.0]), edges)
    edges = pm.EdgeRates([2**40], [1], onp.asarray([1.0]))
    with self.assertRaisesRegex(ValueError, "sources"):
      pm.phase_type.prob(_TIMES, onp.asarray([1.0]), edges)

  def test_exit_rates_are_refused(self):
    with self.assertRaisesRegex(
      ValueError, "exit_rates is given: it must be None"
    ):
      pm.phase_type.prob(_TIMES, onp.eye(4)[0], _erlang(1.0), onp.ones(4))

  def test_dtypes_must_agree(self):
    edges = _erlang(1.0)
    edges = edges._replace(coefficients=onp.ones((4, 1), onp.float32))
    with self.assertRaisesRegex(TypeError, "one dtype"):
      pm.phase_type.prob(_TIMES, np.asarray(onp.eye(4)[0]), edges)


if __name__ == "__main__":
  absltest.main()
