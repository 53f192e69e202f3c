"""Constrained and free parameters, and their derivatives."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.distributions.base import entries
from phasic.inference.data import likelihood_derivatives
from phasic.inference.parameters import coordinates
from phasic.math.calls import gradients
from tests.helpers import fit_data
from tests.helpers import test_case

MODE = "numpy"

_CENSORED = fit_data.censored()


def _coalescent():
  """Builds three lineages that merge or leave."""

  def transitions(n):
    yield (n - 1 if n > 2 else graphs.ABSORBED), {"merge": n * (n - 1) / 2}
    yield graphs.ABSORBED, {"leave": n}

  names = ("merge", "leave")
  graph = graphs.Graph.from_transitions(transitions, initial=3, params=names)
  return pd.PhaseType.from_graph(graph, {"merge": 1.0, "leave": 0.2})


# Of these the masses may lack something of one, if they do at the start.
_MASSES = (([0.25, 0.5], True), ([0.25, 0.75], False))

_LAWS = {
  "coxian": lambda: pd.Coxian([1.0, 1.2], [0.3, 0.2, 1.0]),
  "acyclic": lambda: pd.AcyclicPhaseType([0.3, 0.7], [1.0, 1.5]),
  "general": lambda: pd.PhaseType([0.25, 0.75], [[-2.0, 1.0], [0.0, -1.5]]),
  "hyper-erlang": lambda: pd.HyperErlang([0.5, 0.5], (1, 2), [1.0, 2.0]),
  "graph": _coalescent,
  "atom": lambda: pd.AcyclicPhaseType([0.3, 0.5], [1.0, 1.5], 0.2),
}
if MODE == "jax":  # Each is compiled for seconds.
  _LAWS = {name: _LAWS[name] for name in ("acyclic", "general")}


class CoordinatesTest(test_case.TestCase):
  @parameterized.parameters(*_LAWS)
  def test_round_trip(self, name):
    dist = _LAWS[name]()
    free, to_distribution = inference.unconstrained(dist)
    again = to_distribution(free)
    self.assert_close(
      again.log_prob(fit_data.TIMES),
      self.host(dist.log_prob(fit_data.TIMES)),
      rtol=1e-12,
    )
    where = coordinates.Coordinates(dist)
    moved = self.host(free) + onp.linspace(-1.0, 1.0, len(self.host(free)))
    self.assert_close(where.forward(moved), where.to_constrained(moved))
    self.assert_close(
      where.to_unconstrained(where.to_constrained(moved)),
      moved,
      rtol=0,
      atol=1e-13,
    )

  @parameterized.parameters("general", "atom", "hyper-erlang")
  def test_derivatives(self, name):
    if name not in _LAWS:
      self.skipTest("compiles for seconds")
    where = coordinates.Coordinates(_LAWS[name]())
    free = where.to_unconstrained(where.entries)
    weights = onp.linspace(1.0, 2.0, len(where.names))

    def value(*x):
      """Computes the sum of weights times squares of entries, with many digits."""
      parts = [mpmath.mpf(0)] * len(where.names)
      rest = iter(x)
      for i, last in enumerate(where.reference):
        parts[i] = mpmath.exp(0 if last else next(rest))
      total = mpmath.mpf(0)
      for i, part in enumerate(parts):
        g = where.groups[i]
        if g >= 0:
          own = [p for p, h in zip(parts, where.groups, strict=True) if h == g]
          below = mpmath.fsum(own) + (1 if where.substochastic[g] else 0)
          part = mpmath.mpf(float(where.totals[g])) * part / below
        total += mpmath.mpf(weights[i]) * part**2
      return total

    entries = where.to_constrained(free)
    slopes, second = 2 * weights * entries, onp.diag(2 * weights)
    d = len(free)
    with mpmath.workdps(40):
      one = [tuple(int(i == a) for i in range(d)) for a in range(d)]
      gradient = [float(mpmath.diff(value, tuple(free), n)) for n in one]
      hessian = [
        [
          float(mpmath.diff(value, tuple(free), tuple(onp.add(n, m))))
          for n in one
        ]
        for m in one
      ]
    self.assert_close(
      where.unconstrained_gradient(entries, slopes),
      gradient,
      rtol=1e-12,
      atol=1e-14,
    )
    self.assert_close(
      where.unconstrained_hessian(entries, slopes, second),
      hessian,
      rtol=1e-12,
      atol=1e-14,
    )

  def test_gradient_through_the_distribution(self):
    dist = _LAWS["general"]()
    free, to_distribution = inference.unconstrained(dist)
    value, gradient = gradients.value_and_gradient(
      lambda x: _CENSORED.log_likelihood(to_distribution(x)), free
    )
    where = coordinates.Coordinates(dist)
    own, slopes = likelihood_derivatives.value_and_gradient(
      where, where.entries, _CENSORED
    )
    self.assert_close(value, own)
    self.assert_close(
      gradient, where.unconstrained_gradient(where.entries, slopes), rtol=1e-9
    )

  @parameterized.parameters(*_LAWS)
  def test_scores_sum_up(self, name):
    where = coordinates.Coordinates(_LAWS[name]())
    value, gradient = likelihood_derivatives.value_and_gradient(
      where, where.entries, _CENSORED
    )
    self.assertAlmostEqual(
      value,
      float(self.host(_CENSORED.log_likelihood(_LAWS[name]()))),
      places=10,
    )
    scores = likelihood_derivatives.scores(where, where.entries, _CENSORED)
    self.assert_close(onp.sum(scores, axis=0), gradient, rtol=1e-9)

  def test_free_parameters_of_another_dtype(self):
    narrow = inference.unconstrained(
      pd.Hypoexponential(onp.asarray([1.0, 2.0], onp.float32))
    )
    wide = inference.unconstrained(pd.Hypoexponential(onp.asarray([1.0, 2.0])))
    third = onp.asarray([1.0, 1.0]) / 3.0
    with self.assertRaisesRegex(TypeError, "float32 and free is float64"):
      narrow.to_distribution(third)
    for found, x, dtype in (
      (narrow, [0.5, 0.5], "float32"),
      (narrow, onp.asarray([1, 2]), "float32"),
      (narrow, onp.asarray(third, onp.float32), "float32"),
      (wide, third, "float64"),
      (wide, [0.5, 0.5], "float64"),
    ):
      dist = found.to_distribution(x)
      self.assertEqual(dist.dtype, dtype)
      self.assert_close(dist.rates, onp.exp(x), 1e-6)
    self.assert_close(wide.to_distribution(third).rates, onp.exp(third), 1e-15)
    single = onp.asarray(third, onp.float32)
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "float64 and free is float32"):
        wide.to_distribution(single)
    else:
      dist = wide.to_distribution(single)
      self.assertEqual(dist.dtype, "float64")
      self.assert_close(dist.rates, onp.exp(single.astype(float)), 1e-15)

  @parameterized.parameters(*_MASSES)
  def test_masses_that_lack_something(self, masses, lacks):
    found = entries.masses(
      onp.asarray(masses), ("a", "b"), "start", True, 2e-16
    )
    self.assertEqual(found.substochastic, {"start": lacks})
    found = entries.masses(
      onp.asarray(masses), ("a", "b"), "start", False, 2e-16
    )
    self.assertEqual(found.substochastic, {"start": False})


if __name__ == "__main__":
  absltest.main()
