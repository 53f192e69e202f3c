"""Closures as distributions: phases, batches, dtypes, and bad values."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import static
from tests.helpers import closure_cases
from tests.helpers import test_case

MODE = "numpy"

CASES = closure_cases.CASES
NAMES = list(CASES)
if MODE == "jax":
  # Each distribution is compiled.
  NAMES = ["maximum", "random_sum_of_steps"]


def _steps(prob_zero=0.25, **options):
  matrix = [[0.3, 0.2], [0.1, 0.4]]
  return pd.DiscretePhaseType(
    [0.5, 0.25], matrix, prob_zero=prob_zero, **options
  )


def _times(prob_zero=0.25, **options):
  matrix = [[-1.0, 0.5], [0.25, -2.0]]
  return pd.PhaseType([0.5, 0.25], matrix, prob_zero=prob_zero, **options)


FUNCTIONS = (
  ("convolution", lambda x: pd.convolution([x, _same_kind(x)])),
  ("minimum", lambda x: pd.minimum([_same_kind(x), x])),
  ("maximum", lambda x: pd.maximum([x, _same_kind(x)])),
  ("mixture", lambda x: pd.mixture([0.0, 1.0], [x, _same_kind(x)])),
  ("order_statistic", lambda x: pd.order_statistic(x, 3, 2)),
  ("random_sum", lambda x: pd.random_sum(_steps(), x)),
)


def _same_kind(dist):
  return _steps() if isinstance(dist, pd.DiscretePhaseType) else _times()


class ClosureContractTest(test_case.TestCase):
  """Tests the results of functions."""

  def test_phases(self):
    laws = [pd.Erlang(k, 1.0) for k in (2, 3, 4)]
    self.assertEqual(pd.convolution(laws).num_phases, 9)
    self.assertEqual(pd.minimum(laws).num_phases, 24)
    self.assertEqual(pd.maximum(laws).num_phases, 3 * 4 * 5 - 1)
    probs = [0.5, 0.25, 0.25]
    self.assertEqual(pd.mixture(probs, laws).num_phases, 9)
    self.assertEqual(pd.order_statistic(laws[1], 4, 4).num_phases, 34)
    self.assertEqual(pd.order_statistic(laws[1], 4, 1).num_phases, 15)
    self.assertEqual(pd.random_sum(_steps(), laws[1]).num_phases, 6)
    self.assertEqual(pd.convolution(laws[:1]).num_phases, 2)

  def test_limits_of_edges(self):
    # All phases lead to each other. The k-th of three times has one transition
    # for each of a phase, 75^2, and multiset of the two other phases, 75 * 76 / 2.
    # A joint step of two chains is one of each, staying in both is none.
    full = onp.full((75, 75), 0.01)
    times = pd.PhaseType(onp.full(75, 1.0 / 75.0), full - onp.eye(75))
    with self.assertRaisesRegex(
      ValueError, "has 16458750 edges: there must be"
    ):
      pd.order_statistic(times, 3, 3)
    full = onp.full((57, 57), 0.01)
    steps = pd.DiscretePhaseType(onp.full(57, 1.0 / 57.0), full)
    count = 57**4 - 57**2
    with self.assertRaisesRegex(ValueError, f"has {count + 57**2} edges"):
      pd.minimum([steps, steps])
    # While one of the counts is left there are also its own steps and its end,
    # after a joint step in which the other one ends.
    more = 2 * 57**3 + 2 * 57 * 56 + 2 * 57 + 57**2
    with self.assertRaisesRegex(ValueError, f"has {count + more} edges"):
      pd.maximum([steps, steps])

  @parameterized.parameters(*NAMES)
  def test_facts(self, name):
    case = CASES[name]
    dist = case.make(validate_args=True)
    kind = "DiscretePhaseType" if case.discrete else "PhaseType"
    self.assertIs(type(dist), getattr(pd, kind))
    self.assertTrue(dist.validate_args)
    self.assertEqual((dist.batch_shape, dist.dtype), ((), "float64"))
    self.assertStartsWith(repr(dist), f"<{kind} '{dist.name}'")
    value = case.values[1]
    found = case.make().log_prob(value)
    self.assert_close(dist.log_prob(value), found, 1e-13)
    self.assert_close(dist.copy(name="x").log_prob(value), found, 1e-13)
    dense = dist.as_phase_type()
    self.assert_close(dense.log_prob(value), found, 1e-11)
    self.assertEqual(self.host(dist.sample(3, seed=1)).shape, (3,))

  @parameterized.parameters(*NAMES)
  def test_batches(self, name):
    case = CASES[name]
    value = case.values[2]
    dist = case.batched((2, 1))
    self.assertEqual(dist.batch_shape, (2, 1))
    found = self.host(case.make().log_prob(value))
    self.assert_close(dist.log_prob(value), onp.full((2, 1), found), 1e-13)
    self.assert_close(dist[1].log_prob(value), onp.full((1,), found), 1e-13)

  @parameterized.parameters(*NAMES)
  def test_float32(self, name):
    case = CASES[name]
    dist = case.make("float32")
    found = dist.log_prob(onp.float32(case.values[3]))
    self.assertEqual(static.dtype_name(found), "float32")
    self.assert_close(
      found, self.host(case.make().log_prob(case.values[3])), 1e-4, 1e-4
    )

  def test_batches_broadcast(self):
    first = pd.Erlang(2, onp.asarray([[1.0], [2.0]]))
    second = pd.Erlang(1, onp.asarray([1.0, 2.0, 3.0]))
    dist = pd.maximum([first, second])
    self.assertEqual(dist.batch_shape, (2, 3))
    one = pd.maximum([pd.Erlang(2, 2.0), pd.Erlang(1, 3.0)])
    self.assert_close(dist.log_prob(0.5)[1, 2], one.log_prob(0.5), 1e-14)
    mixed = pd.mixture([[0.5, 0.5], [1.0, 0.0]], [pd.Erlang(1, 1.0), one])
    self.assertEqual(mixed.batch_shape, (2,))

  def test_small_probabilities_of_staying(self):
    law = pd.DiscretePhaseType(
      [1.0], pm.EdgeProbs([0, 0], [0, 1], onp.asarray([1e-20, 1.0]))
    )
    both = pd.maximum([law, law])
    self.assert_close(both.log_survival_function(3.0), math.log(2e-60), 1e-14)
    first = pd.minimum([law, law])
    self.assert_close(first.log_survival_function(3.0), math.log(1e-120), 1e-14)
    total = pd.convolution([law, law])
    self.assert_close(total.log_survival_function(4.0), math.log(4e-60), 1e-14)

  def test_nothing_ends(self):
    never = pd.PhaseType([1.0], pm.EdgeRates([0], [0], [1.0]))
    two = pd.NegativeBinomialTrials(2, 0.5)
    for dist in (
      pd.minimum([never, never]),
      pd.maximum([never, pd.Erlang(1, 1.0)]),
      pd.order_statistic(never, 3, 2),
      pd.random_sum(two, never),
    ):
      self.assert_close(dist.survival_function(1e3), 1.0)
      self.assert_close(dist.mean(), math.inf)
    self.assert_close(never.renewal_density(1.0), 0.0)

  def test_traps(self):
    # Half of the times are infinite.
    law = pd.PhaseType([0.5, 0.5], [[-1.0, 0.0], [0.0, 0.0]])
    self.assert_close(pd.minimum([law, law]).cdf(200.0), 0.75, 1e-14)
    self.assert_close(pd.maximum([law, law]).cdf(200.0), 0.25, 1e-14)
    self.assert_close(pd.convolution([law, law]).mean(), math.inf)

  @parameterized.parameters(*FUNCTIONS)
  @test_case.of_bad_values
  def test_bad_children(self, name, function):
    bad_times = pd.PhaseType(
      [0.5, 0.25], [[-1.0, 0.5], [-0.25, -2.0]], prob_zero=0.25
    )
    bad = [bad_times, _times(prob_zero=-0.5)]
    if MODE != "jax":
      bad.append(_times(prob_zero=math.nan))
      bad.append(
        pd.DiscretePhaseType(
          [0.5, 0.25], [[0.3, 0.8], [0.1, 0.4]], prob_zero=0.25
        )
      )
      bad.append(_steps(prob_zero=2.0))
    for child in bad:
      dist = function(child)
      self.assert_close(dist.log_prob([0.0, 1.0]), [math.nan] * 2)
      self.assert_close(dist.mean(), math.nan)
    with self.assertRaisesRegex(ValueError, "prob_zero"):
      function(_times(prob_zero=-0.5, validate_args=True))
    good = function(_times(validate_args=True))
    self.assertTrue(good.validate_args)

  @test_case.of_bad_values
  def test_bad_products(self):
    # The product of two negative numbers is positive.
    bad = pd.PhaseType([-0.5], [[-1.0]], [1.0], 0.0)
    self.assert_close(pd.minimum([bad, bad]).cdf(1.0), math.nan)
    self.assert_close(pd.order_statistic(bad, 2, 1).cdf(1.0), math.nan)

  @test_case.of_bad_values
  def test_mixture_probs(self):
    laws = [pd.Erlang(1, 1.0), pd.Erlang(2, 1.0)]
    for probs in ([0.5, 0.6], [-0.5, 1.5], [0.5, math.nan], [math.inf, 0.0]):
      self.assert_close(pd.mixture(probs, laws).cdf(1.0), math.nan)
      with self.assertRaisesRegex(ValueError, "probs"):
        pd.mixture(probs, laws, validate_args=True)


if __name__ == "__main__":
  absltest.main()
