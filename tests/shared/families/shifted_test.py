"""Distributions with a fixed delay: around all kinds, in fits, and errors."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic.math.calls import gradients
from tests.helpers import test_case

_DELAY = 1.5


def _failing():
  """Returns a machine that wears out or breaks, as two causes."""
  edges = [
    ("new", "old", [2.0, 0.0]),
    ("new", pg.ABSORBED("breaks"), [0.0, 1.0]),
    ("old", pg.ABSORBED("worn"), [1.0, 0.0]),
  ]
  return pg.Graph.from_edges(edges, "new", 2)


INNER = {
  "truncated": lambda: pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.5, 3.0),
  "pareto": lambda: pd.MatrixPareto(pd.Erlang(2, 4.0), 1.0),
  "epochs": lambda: pd.Epochs(pg.models.kingman(3), [[1.0], [0.25]], [0.5]),
  "with an atom": lambda: pd.ZeroInflated(pd.Erlang(2, 1.0), 0.25),
  "steps": lambda: pd.NegativeBinomialTrials(2, 0.25),
  "shifted": lambda: pd.Shifted(pd.Erlang(2, 1.0), 0.25),
}


class ShiftedTest(test_case.TestCase):
  """Tests methods against those of X at earlier times."""

  @parameterized.named_parameters(*INNER.items())
  def test_any_distribution_of_one_number(self, make):
    inner = make()
    delay = 2.0 if inner.support.constraint != "nonnegative" else _DELAY
    dist = inner + delay
    times = onp.asarray([0.0, 1.0, 2.0, 3.0, 8.0])
    for method in (
      *("log_prob", "prob", "cdf", "log_cdf", "survival_function"),
      *("log_survival_function", "hazard_function", "cumulative_hazard"),
    ):
      with self.subTest(method):
        found = getattr(dist, method)(times + delay)
        self.assert_close(found, getattr(inner, method)(times), 1e-14)
    before = onp.asarray([0.0, 0.5 * delay])
    self.assert_close(dist.prob(before), onp.zeros(2), 0.0)
    self.assert_close(dist.survival_function(before), onp.ones(2), 0.0)
    u = onp.asarray([0.1, 0.9])
    self.assert_close(dist.quantile(u), inner.quantile(u) + delay, 1e-15)
    self.assert_close(dist.variance(), inner.variance(), 1e-15)
    self.assert_close(dist.entropy(), inner.entropy(), 1e-15)
    second = inner.moment(2) + 2 * delay * inner.mean() + delay**2
    self.assert_close(dist.moment(2), second, 1e-14)
    life = inner.mean_residual_life(1.0)
    self.assert_close(dist.mean_residual_life(1.0 + delay), life, 1e-14)
    self.assertEqual(dist.support.constraint, inner.support.constraint)
    drawn = onp.asarray(dist.sample(1000, seed=1))
    self.assertGreaterEqual(drawn.min(), delay)

  def test_sums_from_both_sides_and_batches(self):
    inner = pd.Erlang(2, 1.0)
    for dist in (inner + _DELAY, _DELAY + inner, onp.float64(_DELAY) + inner):
      self.assertIsInstance(dist, pd.Shifted)
      self.assert_close(dist.mean(), 2.0 + _DELAY, 1e-15)
    many = inner + onp.asarray([0.0, 1.0, 2.0])
    self.assertEqual(many.batch_shape, (3,))
    self.assert_close(many.cdf(1.5)[2], 0.0, 0.0)
    turned = onp.asarray([0.0, 1.0]) + inner
    self.assertEqual(turned.batch_shape, (2,))
    self.assert_close(many[1].mean(), 3.0, 1e-15)

  def test_an_atom_moves(self):
    dist = pd.ZeroInflated(pd.Erlang(2, 1.0), 0.25) + 1.0
    self.assert_close(dist.prob(1.0), 0.25, 1e-15)
    self.assert_close(dist.cdf([0.0, 1.0]), onp.asarray([0.0, 0.25]), 1e-15)

  def test_divergences(self):
    p, q = pd.Erlang(2, 1.0), pd.Erlang(2, 2.0)
    same = (p + 1.0).kl_divergence(q + 1.0)
    self.assert_close(same, p.kl_divergence(q), 1e-14)
    batch = (p + onp.asarray([1.0, 2.0])).kl_divergence(q + 1.0)
    self.assert_close(batch[0], p.kl_divergence(q), 1e-9)
    twice = pd.Shifted(pd.Shifted(p, 0.25), 0.75).kl_divergence(q + 1.0)
    self.assert_close(twice, p.kl_divergence(q), 1e-9)
    found, _ = gradients.value_and_gradient(
      lambda d: (p + d).kl_divergence(q + d), 1.25
    )
    self.assert_close(found, p.kl_divergence(q), 1e-9)
    # E log(p(X) / q(X + 1)) for q exponential of rate one.
    plain = pd.Erlang(1, 1.0)
    found = (p + 1.0).cross_entropy(plain)
    self.assert_close(found, p.mean() + 1.0, 1e-9)
    self.assertEqual(float(p.kl_divergence(q + 1.0)), math.inf)

  def test_derivatives_in_the_delay(self):
    inner = pd.Erlang(2, 0.75)
    _, slope = gradients.value_and_gradient(
      lambda d: (inner + d).log_survival_function(4.0), _DELAY
    )
    self.assert_close(slope, inner.hazard_function(4.0 - _DELAY), 1e-13)
    _, slope = gradients.value_and_gradient(
      lambda d: (inner + d).quantile(0.25), _DELAY
    )
    self.assert_close(slope, 1.0, 0.0)


class FitTest(test_case.TestCase):
  """Tests that data are moved to the time of X."""

  def test_fits(self):
    rng = onp.random.default_rng(1)
    times = rng.gamma(2.0, 1.0, 60) + _DELAY
    later = times - _DELAY
    kinds = (
      ("exact", times, times, later, later),
      ("censored", times, onp.inf + times, later, onp.inf + later),
      ("grouped", onp.floor(times), onp.ceil(times), None, None),
    )
    for name, low, high, inner_low, inner_high in kinds:
      if inner_low is None:
        inner_low, inner_high = low - _DELAY, high - _DELAY
        inner_low = onp.where(inner_low < 0, -1.0, inner_low)
      with self.subTest(name):
        dist = pd.Erlang(2, 0.75)
        found = inference.Observations(low, high).log_likelihood(dist + _DELAY)
        exact = inference.Observations(inner_low, inner_high)
        self.assert_close(found, exact.log_likelihood(dist), 1e-13)
    data = inference.Observations(times)
    fit = inference.fit_mle(pd.Erlang(2, 1.0) + _DELAY, data)
    own = inference.fit_mle(pd.Erlang(2, 1.0), inference.Observations(later))
    rate = fit.distribution.distribution.rate
    self.assert_close(rate, own.distribution.rate, 1e-8)
    self.assertEqual(float(fit.distribution.delay), _DELAY)
    em = inference.fit_em(pd.Erlang(2, 1.0) + _DELAY, data)
    self.assert_close(em.distribution.distribution.rate, rate, 1e-6)

  def test_em_through_epochs(self):
    dist = pd.Epochs(pg.models.kingman(3), [[1.0], [0.5]], [0.5])
    times = onp.asarray([0.25, 1.0, 2.5])
    moved = inference.em_step(
      dist + _DELAY, inference.Observations(times + _DELAY)
    )
    step = inference.em_step(dist, inference.Observations(times))
    found = moved.distribution.distribution.params
    for x, y in zip(found, step.distribution.params, strict=True):
      self.assert_close(x, y, 1e-13)

  def test_entry_and_causes(self):
    dist = pd.PhaseType.from_graph(_failing(), [1.0, 0.5])
    data = inference.Observations([2.5, 3.0], entry=[0.5, 2.0], cause=[0, 1])
    moved = inference.Observations([1.0, 1.5], entry=[0.0, 0.5], cause=[0, 1])
    found = data.log_likelihood(dist + _DELAY)
    self.assert_close(found, moved.log_likelihood(dist), 1e-13)


class ErrorsTest(test_case.TestCase):
  """Tests what is no delay."""

  def test_messages(self):
    erlang = pd.Erlang(2, 1.0)
    for make, error, message in (
      (lambda: erlang + erlang, TypeError, r"convolution\(\[a, b\]\)"),
      (lambda: erlang + None, TypeError, "delay is None"),
      (lambda: erlang + "1", TypeError, "delay holds text"),
      (
        lambda: pd.Shifted(erlang, -1.0, validate_args=True),
        ValueError,
        "delay = -1.0: it must be >= 0 and finite",
      ),
      (
        lambda: (erlang + 1.0).copy(validate_args=True).prob(0.5),
        ValueError,
        "value = 0.5: it must be >= delay",
      ),
      (
        lambda: pd.Shifted(2.0, 1.0),
        TypeError,
        "distribution is float: it must be a distribution of one number",
      ),
    ):
      with self.subTest(message), self.assertRaisesRegex(error, message):
        make()

  def test_bad_delays_give_nan_and_a_reason(self):
    with self.assertWarnsRegex(RuntimeWarning, "delay = -1.0"):
      dist = pd.Erlang(2, 1.0) + -1.0
    self.assertTrue(math.isnan(dist.mean()))
    self.assertTrue(math.isnan(dist.prob(2.0)))
    self.assertStartsWith(str(dist.diagnose(2.0)), "delay: it must be")
    with self.assertWarnsRegex(RuntimeWarning, "delay = 0.5"):
      steps = pd.NegativeBinomialTrials(2, 0.25) + 0.5
    self.assertTrue(math.isnan(steps.prob(2.5)))


if __name__ == "__main__":
  absltest.main()
