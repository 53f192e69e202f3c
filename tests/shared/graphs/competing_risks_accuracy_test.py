"""Causes of absorption against rational arithmetic."""

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from tests.helpers import test_case

_CAUSES = (None, "a", "b")
_RTOL = 1e-12


def _weights(seed, phases, rare):
  """Draws weights that are exact floats, between phases and to causes.

  With `rare` absorption is, so that a linear solve would lose its digits.
  """
  rng = onp.random.default_rng(seed)
  between = rng.integers(1, 64, (phases, phases)) / 2.0**12
  between *= rng.random((phases, phases)) < 0.5
  between += onp.eye(phases, k=1) / 64 + onp.eye(phases, k=1 - phases) / 64
  onp.fill_diagonal(between, 0.0)
  ends = rng.integers(1, 64, (phases, len(_CAUSES))) / 2.0**12
  ends *= rng.random(ends.shape) < 0.75
  ends[0] = 2.0**-8
  return between, ends * (2.0**-60 if rare else 1.0)


def _graph(between, ends, discrete):
  phases = len(between)

  def transitions(i):
    for j in range(phases):
      if between[i, j] > 0:
        yield j, float(between[i, j])
    for cause, weight in zip(_CAUSES, ends[i], strict=True):
      if weight > 0:
        to = pg.ABSORBED if cause is None else pg.ABSORBED(cause)
        yield to, float(weight)

  initial = {i: 1.0 / phases for i in range(phases)}
  return pg.Graph.from_transitions(transitions, initial, discrete=discrete)


def _exact(x):
  return flint.fmpq(*float(x).as_integer_ratio())


def _matrix(rows):
  return flint.fmpq_mat([[_exact(x) for x in row] for row in rows])


def _generator(between, ends):
  """Returns minus the subgenerator."""
  leaving = [
    sum((_exact(x) for x in (*row, *out)), flint.fmpq(0))
    for row, out in zip(between, ends, strict=True)
  ]
  matrix = -_matrix(between)
  for i, total in enumerate(leaving):
    matrix[i, i] = total
  return matrix


def _float(x):
  return int(x.p) / int(x.q)


class CausesTest(test_case.TestCase):
  """Tests random cyclic chains of eight phases."""

  @parameterized.product(
    seed=(1, 2), rare=(False, True), discrete=(False, True)
  )
  def test_cause_probs(self, seed, rare, discrete):
    between, ends = _weights(seed, 8, rare)
    kind = pd.DiscretePhaseType if discrete else pd.PhaseType
    dist = kind.from_graph(_graph(between, ends, discrete))
    found = self.host(dist.cause_probs())
    # Rates and probabilities of a step give the same result.
    exact = _generator(between, ends).solve(_matrix(ends))
    for number, cause in enumerate(dist.graph.causes):
      column = _CAUSES.index(cause)
      wanted = sum(exact[i, column] for i in range(8)) / 8
      self.assert_close(found[number], _float(wanted), _RTOL)

  @parameterized.parameters(1, 2)
  def test_steps(self, seed):
    between, ends = _weights(seed, 8, False)
    dist = pd.DiscretePhaseType.from_graph(_graph(between, ends, True))
    counts = (1, 2, 30)
    step = -_generator(between, ends)
    for i in range(8):
      step[i, i] = step[i, i] + 1
    exits = _matrix(ends)
    row = flint.fmpq_mat([[flint.fmpq(1, 8)] * 8])
    total = flint.fmpq_mat([[flint.fmpq(0)] * len(_CAUSES)])
    alive = flint.fmpq(1)
    for k in range(1, max(counts) + 1):
      mass = row * exits
      total = total + mass
      if k in counts:
        for column, cause in enumerate(_CAUSES):
          self.assert_close(
            dist.cause_prob(k, cause), _float(mass[0, column]), _RTOL
          )
          self.assert_close(
            dist.cumulative_incidence(k, cause),
            _float(total[0, column]),
            _RTOL,
          )
          self.assert_close(
            dist.cause_hazard(k, cause),
            _float(mass[0, column] / alive),
            _RTOL,
          )
      row = row * step
      alive = sum(row[0, i] for i in range(8))


if __name__ == "__main__":
  absltest.main()
