"""Hazards, near zero and far in the tail."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import graphs as pg
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import models
from tests.helpers import test_case


def _hazard(model, time):
  """Computes f / S with 60 digits."""
  with mpmath.workdps(60):
    matrix = mpmath.matrix(model.subgenerator.tolist())
    alpha = mpmath.matrix([model.initial_probs.tolist()])
    ones = mpmath.ones(matrix.rows, 1)
    squarings = max(0, int(math.log2(time * 64)) if time > 0 else 0)
    power = mpmath.expm(matrix * mpmath.mpf(time) / 2**squarings)
    for _ in range(squarings):
      power = power * power
    row = alpha * power
    return float(-(row * matrix * ones)[0] / (row * ones)[0])


def _erlang_hazard(stages, rate, time):
  """Computes rate / sum_j (n - 1) ... (n - j) / (rate t)^j, j < n."""
  total, term = 0.0, 1.0
  for j in range(stages):
    total, term = total + term, term * (stages - 1 - j) / (rate * time)
  return rate / total


def _line(rates):
  """Builds a graph of one phase with several causes."""
  edges = [
    (0, pg.ABSORBED(f"cause{k}"), {f"rate{k}": 1.0}) for k in range(rates)
  ]
  return pg.Graph.from_edges(
    edges, 0, params=tuple(f"rate{k}" for k in range(rates))
  )


class ContinuousTest(test_case.TestCase):
  """Tests f(t) / P(X > t)."""

  @parameterized.parameters("cyclic", "hyperexponential", "hypoexponential")
  def test_oracle(self, name):
    model = models.ALL[name]
    times = onp.asarray([1e-3, 1.0, 30.0, 1e4])
    expected = onp.asarray([_hazard(model, t) for t in times])
    dist = pd.PhaseType(*model)
    self.assert_close(dist.hazard_function(times), expected, 1e-12)
    self.assert_close(
      dist.log_hazard_function(times), onp.log(expected), 1e-12, 1e-12
    )

  @test_case.of_bad_values
  def test_of_no_model(self):
    for rate in (-1.0, math.inf, math.nan):
      found = pd.Erlang(2, rate).hazard_function([-1.0, 1.0])
      self.assert_close(found, onp.full(2, math.nan))
    self.assert_close(pd.Erlang(2, 1.0).hazard_function(-1.0), 0.0)

  def test_far_in_the_tail(self):
    # The hazard is the smallest rate; survival is exp(-1e9).
    dist = pd.PhaseType(*models.hyperexponential([0.25, 0.75], [1.0, 3.0]))
    times = [1e3, 1e6, 1e9]
    self.assert_close(dist.hazard_function(times), onp.ones(3), 1e-14)
    self.assert_close(dist.log_hazard_function(times), onp.zeros(3), 0.0, 1e-14)

  def test_far_in_the_tail_of_erlang(self):
    times = onp.asarray([1e3, 1.2e5, 2e5, 1e6])
    for stages, rate in ((2, 2.0), (20, 1.0)):
      dist = pd.Erlang(stages, rate)
      expected = onp.asarray([_erlang_hazard(stages, rate, t) for t in times])
      self.assert_close(dist.hazard_function(times), expected, 1e-8)
      self.assert_close(
        dist.log_hazard_function(times), onp.log(expected), 0.0, 1e-8
      )
    # A quotient without digits is NaN.
    found = self.host(pd.Erlang(20, 1.0).hazard_function(1e13))
    self.assertTrue(onp.isnan(found) or abs(found - 1.0) < 1e-6)

  def test_single_precision_far_in_the_tail(self):
    def single(x):
      return onp.asarray(x, onp.float32)

    times = single([2.5, 1e3, 1e5, 1e6])
    base = pd.PhaseType(single([1.0]), single([[-2.0]]))
    history = pd.Epochs(_line(1), single([[1.0], [2.0]]), single([1.0]))
    twos = onp.full(4, 2.0)
    for dist in (
      history,
      pd.TruncatedPhaseType(base, single(1.0)),
      pd.TruncatedPhaseType(base, single(1.0), single(1e7)),
    ):
      found = dist.hazard_function(times)
      self.assertEqual(static.dtype_name(found), "float32")
      self.assert_close(found, twos, 1e-6)
      self.assert_close(dist.log_hazard_function(times), onp.log(twos), 1e-6)
    ends = pd.TruncatedPhaseType(base, single(1.0), single(1e5))
    # 2 / (1 - exp(-2 (b - t))).
    self.assert_close(
      ends.hazard_function(single(1e5 - 0.5)), -2.0 / math.expm1(-1.0), 1e-6
    )
    both = pd.PhaseType.from_graph(_line(2), single([0.5, 1.5]))
    self.assert_close(
      both.cause_hazard(times[:3], "cause1"), onp.full(3, 1.5), 1e-6
    )

  def test_at_zero_an_atom_does_not_count(self):
    base = pd.PhaseType([0.75], [[-2.0]])
    dist = pd.TruncatedPhaseType(base, 0.0, 1.0)
    self.assert_close(dist.hazard_function(0.0), -2.0 / math.expm1(-2.0))
    edges = [(0, pg.ABSORBED, {"a": 1.0})]
    graph = pg.Graph.from_edges(
      edges, {0: 0.75, pg.ABSORBED: 0.25}, params=("a",)
    )
    history = pd.Epochs(graph, [[2.0], [3.0]], [1.0])
    self.assert_close(history.hazard_function([0.0, 0.5, 1.0]), [2.0, 2.0, 3.0])

  def test_early(self):
    # The hazard t^29 3^30 / 29! underflows; its logarithm does not.
    dist = pd.PhaseType(*models.erlang(30, 3.0))
    expected = 29 * math.log(1e-20) + 30 * math.log(3) - math.lgamma(30)
    self.assert_close(dist.log_hazard_function(1e-20), expected)
    self.assert_close(dist.hazard_function(1e-20), 0.0)

  @test_case.of_bad_values
  def test_rules(self):
    model = models.cyclic()  # With an atom of 0.1.
    dist = pd.PhaseType(*model)
    values = [-1.0, 0.0, math.inf, math.nan]
    first = model.initial_probs @ -onp.sum(model.subgenerator, axis=-1) / 0.9
    for path in self.paths():
      with config.use_path(path):
        self.assert_close(
          dist.hazard_function(values), [0.0, first, math.nan, math.nan]
        )
        self.assert_close(
          dist.log_hazard_function(values),
          [-math.inf, math.log(first), math.nan, math.nan],
        )
    self.assert_close(
      dist.cumulative_hazard(values),
      [0.0, -math.log(0.9), math.inf, math.nan],
    )
    bad = dist.copy(initial_probs=[0.5, 0.6, 0.0])
    self.assert_close(bad.hazard_function(1.0), math.nan)
    self.assert_close(bad.log_hazard_function(1.0), math.nan)

  def test_paths_agree(self):
    dist = pd.PhaseType(*models.cyclic())
    times = onp.asarray([0.0, 0.5, 20.0])
    expected = self.host(dist.log_hazard_function(times))
    for path in self.paths():
      with config.use_path(path):
        self.assert_close(dist.log_hazard_function(times), expected, 1e-11)

  @parameterized.parameters(1e-300, 1e-9, 1e-6, 1e-3, 0.7, 1.7, 40.0, 1e6)
  def test_cumulative_early_and_late(self, time):
    with mpmath.workdps(1000):  # The logarithm of three stages takes 900.
      t = mpmath.mpf(time)
      erlang = [
        float(t - mpmath.log(sum(t**k / mpmath.factorial(k) for k in range(n))))
        for n in (1, 2, 3)
      ]
      mixed = (mpmath.exp(-t) + 3 * mpmath.exp(-4 * t)) / 4
      mixed = float(-mpmath.log(mixed))
      root, rest = float(mpmath.sqrt(t)), float(t - mpmath.log(0.75))
    one = pd.Erlang(1, 1.0)
    steps = pd.Epochs(pg.models.kingman(2), [[1.0], [3.0]], [1.0])
    for dist, truth in (
      (one, erlang[0]),
      (pd.Erlang(2, 1.0), erlang[1]),
      (pd.Erlang(3, 1.0), erlang[2]),
      (pd.Hyperexponential([0.25, 0.75], [1.0, 4.0]), mixed),
      (pd.MatrixWeibull(one, 0.5), root),
      (pd.ResidualLife(one, 2.0), erlang[0]),
      (pd.ZeroInflated(one, 0.25), rest),
      (pd.minimum([one, pd.Erlang(1, 2.0)]), 3 * time),
      (steps, time if time < 1.0 else 3 * time - 2.0),
    ):
      self.assert_close(dist.cumulative_hazard(time), truth, 1e-13)

  def test_slopes_of_the_cumulative_hazard(self):
    dist = pd.Erlang(2, 1.0)

    def total(times):
      return np.sum(dist.cumulative_hazard(times))

    # The hazard, t / (1 + t).
    times = onp.asarray([0.0, 1e-9, 0.5, 1.5, 2.5, 100.0])
    _, slopes = gradients.value_and_gradient(total, np.asarray(times))
    self.assert_close(slopes, times / (1 + times), 1e-13)

  def test_integral(self):
    dist = pd.PhaseType(*models.cyclic())
    nodes, weights = onp.polynomial.legendre.leggauss(30)
    times = 2.5 * (nodes + 1)
    hazards = self.host(dist.hazard_function(times))
    change = self.host(dist.cumulative_hazard([0.0, 5.0]))
    self.assert_close(
      2.5 * onp.sum(weights * hazards), change[1] - change[0], 1e-12
    )

  def test_batch_and_dtype(self):
    rates = onp.asarray([1.0, 2.0, 4.0], onp.float32)
    dist = pd.PhaseType(onp.ones(1, "f"), -rates[:, None, None])
    found = dist.hazard_function(onp.ones((2, 1), "f"))
    self.assert_close(found, onp.tile(rates, (2, 1)), 1e-6)
    self.assertEqual(static.dtype_name(found), "float32")
    found = dist.log_hazard_function(onp.float32(1.0))
    self.assertEqual(static.dtype_name(found), "float32")
    with self.assertRaisesRegex(ValueError, "value has shape"):
      dist.hazard_function(onp.ones(2, "f"))

  def test_derivatives(self):

    def hazard(x):
      # Of x_0 e^{-t} + x_1 e^{-3 t}; the rates are x_2 and x_3, t is x_4.
      matrix = np.stack(
        [np.stack([-x[2], 0 * x[2]]), np.stack([0 * x[3], -x[3]])]
      )
      dist = pd.PhaseType(x[:2], matrix, prob_zero=0.0 * x[4])
      return dist.hazard_function(x[4]), dist.log_hazard_function(x[4])

    def formula(a, b, r, s, t):
      u, v = a * mpmath.exp(-r * t), b * mpmath.exp(-s * t)
      return (u * r + v * s) / (u + v)

    for time in (0.0, 2.0):
      point = (0.25, 0.75, 1.0, 3.0, time)
      x = np.asarray(onp.asarray(point))
      value = float(formula(*point))
      slopes = [
        float(mpmath.diff(formula, point, tuple(int(i == k) for i in range(5))))
        for k in range(5)
      ]
      _, found = gradients.value_and_gradient(lambda x: hazard(x)[0], x)
      self.assert_close(found, onp.asarray(slopes), 1e-10, 1e-13)
      _, found = gradients.jvp(lambda x: hazard(x)[1], (x,), (np.ones_like(x),))
      self.assert_close(found, sum(slopes) / value, 1e-10, 1e-13)


class DiscreteTest(test_case.TestCase):
  """Tests P(N = k) / P(N >= k)."""

  def test_geometric(self):
    dist = pd.DiscretePhaseType([1.0], [[0.75]])
    self.assert_close(
      dist.hazard_function([1.0, 2.0, 1e4]), onp.full(3, 0.25), 1e-11
    )
    self.assert_close(dist.log_hazard_function(3.0), math.log(0.25), 1e-12)

  def test_rules(self):
    dist = pd.DiscretePhaseType([0.5, 0.4], [[0.0, 1.0], [0.0, 0.0]])
    self.assert_close(
      dist.hazard_function([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, math.inf]),
      [0.0, 0.1, 0.0, 0.4 / 0.9, 1.0, math.nan, math.nan],
    )

  def test_single_precision_far_in_the_tail(self):
    steps = onp.asarray([10.0, 1e3, 1e5, 1e6], onp.float32)
    one = onp.ones(1, onp.float32)
    for stay in (0.5, 0.75):
      dist = pd.DiscretePhaseType(one, onp.asarray([[stay]], onp.float32))
      expected = onp.full(4, 1.0 - stay)
      self.assert_close(dist.hazard_function(steps), expected, 1e-6)
      truncated = pd.TruncatedPhaseType(dist, onp.float32(2.0))
      self.assert_close(truncated.hazard_function(steps), expected, 1e-6)
    # 1 / (1 + q) of the last two.
    ends = pd.TruncatedPhaseType(dist, onp.float32(2.0), onp.float32(1e5))
    found = ends.hazard_function(onp.asarray([1.0, 99999.0, 1e5], onp.float32))
    self.assert_close(found, [0.0, 1.0 / 1.75, 1.0], 1e-6)

  def test_product(self):
    dist = pd.DiscretePhaseType([0.3, 0.6], [[0.5, 0.25], [0.125, 0.25]])
    hazards = self.host(dist.hazard_function(onp.arange(9.0)))
    self.assert_close(
      -onp.sum(onp.log1p(-hazards)), self.host(dist.cumulative_hazard(8.0))
    )

  def test_cumulative_of_a_rare_end(self):
    # -k log(1 - p).
    for p in (1e-15, 1e-9, 0.5):
      dist = pd.NegativeBinomialTrials(1, p)
      counts = onp.asarray([1.0, 2.0, 1000.0])
      self.assert_close(
        dist.cumulative_hazard(counts), -counts * math.log1p(-p), 1e-12
      )


if __name__ == "__main__":
  absltest.main()
