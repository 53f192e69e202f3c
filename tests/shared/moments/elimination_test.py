"""Elimination without subtraction against rational numbers."""

import fractions
import resource

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.internal import elimination_ops
from phasic.math.portable import elimination
from tests.helpers import models
from tests.helpers import test_case

MODE = "numpy"


def _solve(matrix, b):
  """Solves by Gauss-Jordan in rational numbers."""
  n = len(b)
  rows = [[*row, rhs] for row, rhs in zip(matrix, b, strict=True)]
  for k in range(n):
    pivot = next(i for i in range(k, n) if rows[i][k])
    rows[k], rows[pivot] = rows[pivot], rows[k]
    rows[k] = [x / rows[k][k] for x in rows[k]]
    for i in range(n):
      if i != k and rows[i][k]:
        factor = rows[i][k]
        rows[i] = [
          x - factor * y for x, y in zip(rows[i], rows[k], strict=True)
        ]
  return [row[-1] for row in rows]


def _exact(off, exits):
  """Computes (-S)^-1 1 and (-S)^-2 1 in rational numbers."""
  p = len(exits)
  off = [[fractions.Fraction(float(x)) for x in row] for row in off]
  matrix = [
    [
      sum(off[i]) - off[i][i] + fractions.Fraction(float(exits[i]))
      if i == j
      else -off[i][j]
      for j in range(p)
    ]
    for i in range(p)
  ]
  first = _solve(matrix, [fractions.Fraction(1)] * p)
  return first, _solve(matrix, first)


def _edges(off, exits):
  """Returns indices and weights of the edges."""
  sources, targets = onp.nonzero(off)
  (leaving,) = onp.nonzero(exits)
  p = len(exits)
  indices = [[*sources, *leaving], [*targets, *onp.full(len(leaving), p)]]
  weights = onp.concatenate([off[sources, targets], exits[leaving]])
  return onp.asarray(indices, onp.int32), weights


def _solution(indices, weights, b, **arguments):
  return elimination_ops.eliminate(
    elimination.eliminate,
    np.asarray(indices, dtype="int32"),
    np.asarray(weights),
    np.asarray(b),
    **arguments,
  )


class EliminationTest(test_case.TestCase):
  """Tests entrywise relative errors."""

  @parameterized.parameters(1, 2, 5, 9)
  def test_random(self, p):
    model = models.random_model(p, onp.random.RandomState(p))
    off = model.subgenerator * (1 - onp.eye(p))
    exact, second = _exact(off, model.exit_rates)
    indices, weights = _edges(off, model.exit_rates)
    for path in self.paths():
      with config.use_path(path):
        x = _solution(indices, weights, onp.ones((p, 1)))
        self.assert_close(x[:, 0], [float(v) for v in exact], 1e-14)
        y = _solution(indices, weights, self.host(x))
        self.assert_close(y[:, 0], [float(v) for v in second], 1e-14)

  def test_nearly_singular(self):
    # The queue drifts up: its mean is above 1e40, and linear solves fail.
    p = 61
    off = onp.diag(onp.full(p - 1, 5.0), 1) + onp.diag(onp.ones(p - 1), -1)
    exits = onp.zeros(p)
    exits[0] = 1.0
    exact, _ = _exact(off, exits)
    alpha = onp.eye(p)[0]
    mean = pm.phase_type.mean(alpha, off, exits)
    self.assertGreater(float(exact[0]), 1e40)
    self.assert_close(mean, float(exact[0]), 1e-13)

  def test_batch(self):
    model = models.cyclic()
    factors = onp.asarray([1.0, 2.0, 8.0])
    matrix = model.subgenerator * factors[:, None, None]
    mean = self.host(pm.phase_type.mean(model.initial_probs, matrix))
    self.assert_close(mean * factors, onp.full(3, mean[0]), 1e-14)

  def test_moments_of_erlang(self):
    model = models.erlang(20, 4.0)
    self.assert_close(pm.phase_type.mean(*model[:2]), 5.0)
    self.assert_close(pm.phase_type.second_moment(*model[:2]), 25 + 1.25)
    self.assert_close(pm.phase_type.variance(*model[:2]), 1.25, 1e-12)

  def test_without_memory(self):
    self.require_kernel()
    indices = [[0, 1], [1, 2]]
    b = onp.ones((2, 4_000_000))
    _solution(indices, [1.0, 2.0], b[:, :2])  # It runs the tasks that it can.
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
      used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, limits[1]))
    try:
      with self.assertRaisesRegex(Exception, "memory does not suff") as raised:
        self.host(_solution(indices, [1.0, 2.0], b))
    finally:
      resource.setrlimit(resource.RLIMIT_AS, limits)
    if MODE == "numpy":
      self.assertIsInstance(raised.exception, MemoryError)
    elif MODE == "jax":
      self.assertIn("RESOURCE_EXHAUSTED", str(raised.exception))
    else:
      name = type(raised.exception).__name__
      self.assertEqual(name, "ResourceExhaustedError")


if __name__ == "__main__":
  absltest.main()
