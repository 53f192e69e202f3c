"""Derivatives of functions of discrete phase-type distributions.

More are in tests/accuracy.
"""

import functools
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import math as pm
from phasic.internal import kernel_ops
from tests.helpers import derivatives
from tests.helpers import test_case
from tests.helpers import trials


def _function(name):
  return getattr(pm.discrete_phase_type, name)


class DerivativeTest(test_case.TestCase):
  """Tests derivatives by closed forms, and by the other path."""

  def _model(self):
    # 1/4 and 1/2 of the mass start in a geometric phase each.
    return onp.asarray([0.25, 0.5]), onp.asarray([[0.5, 0.0], [0.0, 0.75]])

  def test_derived_exits(self):
    self.require_kernel()
    alpha, matrix = self._model()
    k = 4.0
    _, bars = derivatives.vjp(
      pm.discrete_phase_type.prob, k, alpha, matrix, cotangent=1.0
    )
    # d/dT_ii of alpha_i T_ii^(k-1) (1 - T_ii - ..).
    stay, exit = onp.diag(matrix), 1 - onp.diag(matrix)
    diagonal = alpha * ((k - 1) * stay ** (k - 2) * exit - stay ** (k - 1))
    self.assert_close(onp.diag(self.host(bars[2])), diagonal)
    self.assert_close(bars[1], stay ** (k - 1) * exit)
    self.assertTrue(onp.isnan(self.host(bars[0])))
    # T_01 moves paths from phase 0 to phase 1 instead of absorption.
    jump = sum(stay[0] ** i * stay[1] ** (2 - i) for i in range(3))
    self.assert_close(
      self.host(bars[2])[0, 1],
      alpha[0] * (jump * exit[1] - stay[0] ** (k - 1)),
    )

  def test_given_exits(self):
    self.require_kernel()
    alpha, matrix = self._model()
    stay, exit = onp.diag(matrix), 1 - onp.diag(matrix)
    _, bars = derivatives.vjp(
      pm.discrete_phase_type.prob, 4, alpha, matrix, exit, cotangent=1.0
    )
    self.assert_close(onp.diag(self.host(bars[2])), alpha * 3 * stay**2 * exit)
    self.assert_close(bars[3], alpha * stay**3)

  def test_edges(self):
    # Negative binomial: d log P / d prob = p / prob - (k - p) / (1 - prob).
    self.require_kernel()
    counts = onp.asarray([3, 5, 40])
    for loops in (False, True):
      for i, k in enumerate(counts):
        _, bars = derivatives.vjp(
          pm.discrete_phase_type.log_prob,
          counts,
          onp.eye(3)[0],
          trials.edges(3, 0.25, loops),
          cotangent=onp.eye(3)[i],
        )
        self.assert_close(bars[2], [3 / 0.25 - (k - 3) / 0.75], 1e-12)

  def test_forward_mode(self):
    self.require_kernel()
    value, tangent = derivatives.jvp(
      pm.discrete_phase_type.log_survival_function,
      [0, 4],
      [1.0],
      [[0.5]],
      tangents=(None, None, [[1.0]], None, None),
    )
    self.assert_close(value, [0.0, 4 * math.log(0.5)])
    self.assert_close(tangent, [0.0, 8.0])

  def test_between_counts_the_derivative_is_zero(self):
    self.require_kernel()
    for kind in ("prob", "survival_function", "cdf"):
      _, bars = derivatives.vjp(
        _function(kind),
        [-1.0, 0.5, 2.5, 2.0],
        [1.0],
        [[0.5]],
        cotangent=onp.ones(4),
      )
      self.assert_close(bars[0], [0.0, 0.0, 0.0, math.nan])
      _, tangent = derivatives.jvp(
        _function(kind),
        [2.5, 2.0],
        [1.0],
        [[0.5]],
        tangents=(onp.ones(2), None, None, None, None),
      )
      self.assert_close(tangent, [0.0, math.nan])

  @parameterized.parameters(("prob", 0), ("prob", 1), ("cdf", 2))
  def test_paths_agree(self, kind, form):
    self.require_kernel()
    alpha = onp.asarray([0.5, 0.25, 0.125])
    matrix = onp.asarray([[8, 4, 2], [0, 15.75, 0.25], [1, 4, 3]]) / 16
    exits = 1 - onp.sum(matrix, axis=1)
    counts = onp.asarray([0, 1, 2, 7, 40, 300])
    weights = onp.asarray([1.0, -1.0, 2.0, 0.5, 3.0, 1.0])
    rates: object = matrix
    if form == 2:
      sources, targets = onp.divmod(onp.arange(12), 4)
      theta = onp.reshape(onp.append(matrix, exits[:, None], axis=1), (-1,))
      rates = pm.EdgeProbs(sources, targets, theta)
    model = (counts, alpha, rates, exits if form == 1 else None)
    vjp = functools.partial(derivatives.vjp, _function(kind))
    with kernel_ops.use_path("kernel"):
      value, bars = vjp(*model, cotangent=weights)
    with kernel_ops.use_path("portable"):
      other, portable_bars = vjp(*model, cotangent=weights)
    self.assert_close(value, other, 1e-13)
    for x, y in zip(bars, portable_bars, strict=True):
      if x is not None:
        self.assert_close(y, self.host(x), 1e-11, 1e-14)


if __name__ == "__main__":
  absltest.main()
