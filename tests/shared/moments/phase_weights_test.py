"""Tests the distribution of phases at a time, and its derivatives.

The truth is the exponential of S t and its Frechet derivatives, in doubles: all
cases are well conditioned.
"""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
import scipy.linalg

from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.moments import occupancy
from tests.helpers import test_case

MODE = "numpy"


def _chain(seed, p, batch):
  """Returns masses, sources, targets and rates of random chains."""
  rng = onp.random.RandomState(seed)
  pairs = [(i, j) for i in range(p) for j in range(p + 1) if i != j]
  kept = [x for x in pairs if x[1] == (x[0] + 1) % p or rng.uniform() < 0.5]
  sources, targets = onp.asarray(kept, dtype=onp.int32).T
  rates = rng.exponential(size=(*batch, len(kept)))
  masses = rng.exponential(size=(*batch, p)) * (onp.arange(p) % 3 != 1)
  return masses / onp.sum(masses, -1, keepdims=True), sources, targets, rates


def _edges(sources, targets, rates):
  ends = (onp.asarray(x, dtype=onp.int32) for x in (sources, targets))
  return pm.EdgeRates(*ends, np.asarray(rates))


def _matrix(sources, targets, rates, p):
  matrix = onp.zeros((p, p))
  for i, j, rate in zip(sources, targets, rates, strict=True):
    matrix[i, i] -= rate
    if j < p:
      matrix[i, j] += rate
  return matrix


class PhaseWeightsTest(test_case.TestCase):
  """Tests values, gradients, directional and second derivatives."""

  def setUp(self):
    super().setUp()
    if MODE == "numpy":
      self.require_kernel()

  @parameterized.parameters(
    (2, (), 0.7),
    (5, (3,), 2.0),
    (7, (16,), 0.3),
    (12, (2,), 4.0),
    (5, (), 30.0),
  )
  def test_derivatives(self, p, batch, time):
    masses, sources, targets, rates = _chain(p, p, batch)
    rng = onp.random.RandomState(1)
    for sign in ("mixed", "positive", "negative", "none"):
      c = rng.normal(size=(*batch, p))
      g = rng.normal(size=batch)
      if sign == "positive":
        c, g = onp.abs(c), onp.zeros(batch)
      elif sign == "negative":
        c, g = -onp.abs(c), onp.zeros(batch) - 30.0
      elif sign == "none":
        c, g = onp.zeros((*batch, p)), onp.zeros(batch)

      def total(alpha, x, t, c=c, g=g):
        edges = pm.EdgeRates(sources, targets, x)
        none = np.zeros(batch)
        found = occupancy.transient((alpha, edges, None, none), t, False)
        return np.sum(c * found.probs) + np.sum(g * found.log_mass)

      arguments = [np.asarray(x) for x in (masses, rates, time + 0.0 * g)]
      value, pullback = pm.vjp(total, *arguments)
      bars = pullback(np.ones_like(value))
      exact, truth = self._truth(masses, sources, targets, rates, time, c, g)
      self.assert_close(value, exact, 1e-12, 1e-12)
      for found, wanted in zip(bars, truth, strict=True):
        size = 1.0 + onp.max(onp.abs(wanted))
        self.assert_close(found, wanted, 1e-11, 1e-12 * size)
      tangents = [rng.normal(size=onp.shape(x)) for x in arguments]
      _, moved = pm.jvp(total, arguments, tangents)
      left = sum(onp.sum(t * w) for t, w in zip(tangents, truth, strict=True))
      self.assert_close(moved, left, 1e-11, 1e-10)

  def _truth(self, masses, sources, targets, rates, time, c, g):
    """Computes the value and the gradient by Frechet derivatives."""
    p, batch = masses.shape[-1], masses.shape[:-1]
    value = 0.0
    bars = [onp.zeros_like(x) for x in (masses, rates, g)]
    for index in onp.ndindex(*batch):
      matrix = _matrix(sources, targets, rates[index], p)
      moved = scipy.linalg.expm(matrix * time)
      v = masses[index] @ moved
      f = onp.sum(v)
      value += c[index] @ v / f + g[index] * onp.log(f)
      w = (c[index] - c[index] @ v / f + g[index]) / f
      bars[0][index] = moved @ w
      bars[2][index] = v @ matrix @ w
      for e, (i, j) in enumerate(zip(sources, targets, strict=True)):
        change = onp.zeros((p, p))
        change[i, i] -= time
        if j < p:
          change[i, j] += time
        moves = scipy.linalg.expm_frechet(
          matrix * time, change, compute_expm=False
        )
        bars[1][index + (e,)] = masses[index] @ moves @ w
    return value, bars

  def test_second_derivative_where_cotangents_vanish(self):
    # The Hessian of the sum of squared differences is 2 J^T J where they are
    # zero.
    masses, sources, targets, rates = _chain(3, 4, ())

    def probs(x):
      model = (masses, pm.EdgeRates(sources, targets, x), None, np.zeros(()))
      return occupancy.transient(model, np.asarray(0.8), False).probs

    aim = self.host(probs(np.asarray(rates)))

    def loss(x):
      return np.sum(np.square(probs(x) - aim))

    v = onp.random.RandomState(2).normal(size=rates.shape)
    _, slopes = pm.jvp(probs, (np.asarray(rates),), (v,))
    bars = pm.vjp(probs, np.asarray(rates))[1](slopes)
    found = pm.hessian_vector_product(loss, (np.asarray(rates),), (v,))
    self.assert_close(found, 2.0 * self.host(bars[0]), 1e-10, 1e-13)

  def test_late_times(self):
    # A slow phase and a fast one, which is left behind: e^-1000 of its mass.
    edges = _edges([0, 1], [2, 2], [1.0, 1001.0])
    model = (np.asarray([0.5, 0.5]), edges, None, np.zeros(()))
    found = occupancy.transient(model, np.asarray([0.1, 1.0, 800.0]), False)
    self.assert_close(found.probs[:, 0], [1.0, 1.0, 1.0], 1e-14)
    tail = self.host(found.probs)[:, 1]
    self.assert_close(tail[0], onp.exp(-100.0), 1e-12)
    self.assertEqual(tail[1], 0.0)
    self.assert_close(
      found.log_mass, onp.log(0.5) - onp.asarray([0.1, 1.0, 800.0]), 1e-13
    )
    lost = self.host(found.log_lost)
    self.assertEqual(lost[0], -onp.inf)
    self.assertLess(lost[1], -590.0)
    self.assertGreater(lost[1], -1000.0)

  def test_no_mass(self):
    edges = _edges([0], [1], [2.0])
    model = (np.asarray([0.0]), edges, None, np.zeros(()))
    found = occupancy.transient(model, np.asarray(1.0), False)
    self.assertEqual(self.host(found.log_mass), -onp.inf)

    def probs(alpha):
      return pm.phase_type.occupancy(1.5, alpha, edges, prob_zero=1.0)

    value, pullback = pm.vjp(probs, np.asarray([0.0]))
    bars = pullback(np.ones_like(value))
    self.assert_close(value, [0.0])
    self.assert_close(bars[0], [onp.exp(-3.0)], 1e-14)

  @parameterized.parameters("survival", "log_cdf")
  def test_other_functions_are_refused(self, kind):
    self.require_kernel()
    edges = _edges([0], [1], [2.0])
    operands = [
      np.asarray(x) for x in ([1.0], edges.parameters, [1.0], [0.0], [0.5])
    ]
    arrays = [
      np.asarray([[0], [1]], dtype="int32"),
      np.zeros((0,)),
      np.zeros((1, 0)),
    ]
    with self.assertRaisesRegex(Exception, "which only densities have"):
      self.host(kernel_ops.forward(kind, [operands], None, arrays, False))


if __name__ == "__main__":
  absltest.main()
