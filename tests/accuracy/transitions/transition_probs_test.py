"""Transition probabilities at all times and sizes, against ball arithmetic.

Models have cycles or none, traps, exits or none, and rates over six decades;
times are from 1e-8 to 1e8 jumps.
"""

from typing import NamedTuple

from absl.testing import absltest
import flint
import numpy as onp

from phasic.substrates.numpy import math as pm
from tests.accuracy import sweeps
from tests.accuracy.transitions import exponentials
from tests.oracle import phase_type_oracle as oracle

_STRUCTURES = ("ladder", "progressive", "cycles", "traps", "closed")
_COUNT = 200 if sweeps.FULL else 25
_TIMES = 3
_LEAST = 1e-290


class _Model(NamedTuple):
  """Rates between phases (p, p), exits (p,) and times."""

  rates: onp.ndarray
  exits: onp.ndarray
  times: onp.ndarray


def _model(seed: int) -> _Model:
  """Returns a random model; structures and numbers of phases take turns."""
  rng = onp.random.default_rng(seed)
  structure = _STRUCTURES[seed % len(_STRUCTURES)]
  p = 2 + seed // len(_STRUCTURES) % 7
  rates = 10.0 ** rng.uniform(-3, 3, (p, p))
  exits = 10.0 ** rng.uniform(-3, 3, p) * (rng.uniform(size=p) < 0.5)
  if structure == "ladder":
    rates *= onp.eye(p, k=1)
    exits *= 0.0
    exits[-1] = rng.uniform()
  elif structure == "progressive":
    rates *= onp.triu(onp.ones((p, p)), 1) * (rng.uniform(size=(p, p)) < 0.7)
  else:
    rates *= (1 - onp.eye(p)) * (rng.uniform(size=(p, p)) < 0.6)
  if structure == "traps":
    rates[-1] = 0.0
    exits[-1] = 0.0
  elif structure == "closed":
    exits *= 0.0
  # Sums of few bits are exact: the matrix says what the rates say.
  rates, exits = (_few_bits(x) for x in (rates, exits))
  leaving = onp.sum(rates, axis=1) + exits
  mean = onp.mean(leaving) if onp.any(leaving > 0) else 1.0
  return _Model(rates, exits, 10.0 ** rng.uniform(-8, 8, _TIMES) / mean)


def _few_bits(x: onp.ndarray) -> onp.ndarray:
  mantissa, exponent = onp.frexp(x)
  return onp.ldexp(onp.round(mantissa * 256) / 256, exponent)


def _edges(model: _Model) -> pm.EdgeRates:
  """Returns the edges of positive rates; the targets show the phases."""
  p = len(model.exits)
  full = onp.concatenate([model.rates, model.exits[:, None]], axis=1)
  sources, targets = onp.nonzero(full)
  return pm.EdgeRates(sources, targets, full[sources, targets]), p


def _matrix(model: _Model) -> onp.ndarray:
  leaving = onp.sum(model.rates, axis=1) + model.exits
  return model.rates - onp.diag(leaving)


class TransitionProbsTest(absltest.TestCase):
  """Every entry by itself."""

  def check_prob(self, actual: float, truth: flint.arb, case: object) -> None:
    if truth == 0:
      self.assertEqual(actual, 0.0, case)
    elif truth > _LEAST:
      bound = 1e-12 * float(truth)
      self.assertLessEqual(oracle.error(actual, truth), bound, (case, truth))

  def check_log(self, actual: float, truth: flint.arb, case: object) -> None:
    if truth == 0:
      self.assertEqual(actual, -onp.inf, case)
      return
    with flint.ctx.workprec(512):
      log = truth.log()
    bound = max(1e-12, 8 * onp.spacing(abs(float(log))))
    self.assertLessEqual(oracle.error(actual, log), bound, (case, log))

  def test_all_entries(self):
    for seed in range(_COUNT):
      model = _model(seed)
      edges, p = _edges(model)
      given = [
        {"subgenerator": edges, "num_phases": p},
        {"subgenerator": _matrix(model), "exit_rates": model.exits},
      ][seed % 2]
      probs = pm.phase_type.transition_probs(model.times, **given)
      logs = pm.phase_type.log_transition_probs(model.times, **given)
      ends = pm.phase_type.absorption_probs(model.times, **given)
      log_ends = pm.phase_type.log_absorption_probs(model.times, **given)
      # Absorption is a phase that is never left.
      rates = onp.zeros((p + 1, p + 1))
      rates[:p, :p], rates[:p, p] = model.rates, model.exits
      for k, t in enumerate(model.times):
        exact = exponentials.exponential(rates, onp.zeros(p + 1), t)
        for i, j in onp.ndindex(p, p):
          case = (seed, float(t), i, j)
          self.check_prob(probs[k, i, j], exact[i, j], case)
          self.check_log(logs[k, i, j], exact[i, j], case)
        for i in range(p):
          case = (seed, float(t), i)
          self.check_prob(ends[k, i], exact[i, p], case)
          self.check_log(log_ends[k, i], exact[i, p], case)

  def test_vectors(self):
    for seed in range(_COUNT):
      model = _model(seed)
      edges, p = _edges(model)
      v = onp.random.default_rng(seed).normal(size=p)
      v[seed % p] = 0.0
      products = [
        pm.phase_type.expm_multiply(v, model.times, edges, transposed=x)
        for x in (False, True)
      ]
      for k, t in enumerate(model.times):
        exact = exponentials.exponential(model.rates, model.exits, t)
        for transposed, product in enumerate(products):
          for i in range(p):
            with flint.ctx.workprec(512):
              terms = [
                (exact[j, i] if transposed else exact[i, j]) * oracle.exact(x)
                for j, x in enumerate(v)
              ]
              truth = sum(terms, flint.arb(0))
              size = sum((abs(x) for x in terms), flint.arb(0))
            bound = 1e-12 * float(size) + _LEAST
            case = (seed, float(t), transposed, i)
            self.assertLessEqual(
              oracle.error(product[k, i], truth), bound, (case, truth, size)
            )


if __name__ == "__main__":
  absltest.main()
