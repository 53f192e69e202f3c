"""Rewards, phases and causes through epochs."""

import math
import pickle
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import math as pm
from phasic.internal import static
from tests.helpers import epoch_models
from tests.helpers import test_case

_TREE = graphs.models.kingman(4)
# Heights and branch lengths of trees.
_REWARDS = onp.asarray([[1.0, n] for n in _TREE.states])
_RATES = onp.asarray([[1.0], [2.5], [0.5]])
_TIMES = onp.asarray([0.3, 1.1])


def _history(**options):
  return pd.Epochs(_TREE, _RATES, _TIMES, **options)


class RewardsTest(test_case.TestCase):
  """Tests moments, transforms and samples of rewards."""

  def test_a_reward_of_one_is_the_time(self):
    history = _history()
    dist = pd.MultivariateEpochs(history, onp.ones((3, 1)))
    self.assert_close(self.host(dist.mean())[0], history.mean(), 1e-13)
    self.assert_close(self.host(dist.variance())[0], history.variance(), 1e-12)
    for order in (3, 6):
      found = dist.mixed_moment([order])
      self.assert_close(found, history.moment(order), 1e-12)
    u = onp.asarray([0.0, 0.7, 30.0])
    found = dist.laplace_transform(u[:, None])
    self.assert_close(found, history.laplace_transform(u), 1e-13)

  def test_a_single_epoch(self):
    rates = [[2.0]]
    history = pd.Epochs(_TREE, rates, onp.zeros((0,)))
    dist = pd.MultivariateEpochs(history, _REWARDS)
    same = pd.MultivariatePhaseType.from_graph(_TREE, rates[0], _REWARDS)
    self.assert_close(dist.mean(), same.mean(), 1e-13)
    self.assert_close(dist.covariance(), same.covariance(), 1e-12)
    self.assert_close(dist.correlation(), same.correlation(), 1e-12)
    self.assert_close(
      dist.mixed_moment([2, 1]), same.mixed_moment([2, 1]), 1e-13
    )

  def test_epochs_without_rewards(self):
    # The reward is the time after the first boundary, of paths that reach it.
    pair = graphs.models.kingman(2)
    history = pd.Epochs(pair, [[1.0], [2.0]], [0.5])
    rewards = [onp.zeros((1, 1)), onp.ones((1, 1))]
    dist = pd.MultivariateEpochs(history, rewards)
    reached = math.exp(-0.5)
    self.assert_close(dist.mean(), [reached / 2.0], 1e-14)
    self.assert_close(
      dist.variance(), [reached / 2.0 - reached**2 / 4.0], 1e-13
    )
    self.assert_close(dist.mixed_moment([3]), 6.0 * reached / 8.0, 1e-13)
    self.assert_close(
      dist.laplace_transform([1.5]), 1.0 - reached + reached * 2.0 / 3.5, 1e-14
    )

  def _covariance(self, boundary, before, after, rewards):
    """Returns covariances of rewards (2, 3) of two phases, before and after.

    The rates are those from phase 0 to 1, 1 to 0, and of absorption from both.
    """
    edges = [(0, 1, {"a": 1.0}), (1, 0, {"b": 1.0})]
    edges += [(i, graphs.ABSORBED, {"cd"[i]: 1.0}) for i in range(2)]
    graph = graphs.Graph.from_edges(edges, 0, params=tuple("abcd"))
    history = pd.Epochs(graph, onp.asarray([before, after]), [boundary])
    return pd.MultivariateEpochs(history, onp.asarray(rewards)).covariance()

  def test_covariances_after_a_long_time(self):
    # Nothing happens before the boundary: totals are a constant plus those of
    # two stages, of rate one and of rate two.
    rewards = onp.asarray([[1.0, 3.0, 0.0], [1.0, 1.0, 2.0]])
    exact = rewards.T @ onp.diag([1.0, 0.25]) @ rewards
    for boundary in (1.0, 1e5, 6e7, 1e8, 1e12, 1e15):
      found = self._covariance(
        boundary, [0.0] * 4, [1.0, 0.0, 0.0, 2.0], rewards
      )
      self.assert_close(found, exact, 1e-13)

  def test_covariances_of_rare_events(self):
    # An event at a small rate before the boundary, at rate 1/2 after it, and
    # clocks of three speeds.
    speeds = onp.asarray([1.0, 2.0, 3.0])
    for rate, boundary in (
      (1e-9, 1e6),
      (1e-12, 1e8),
      (1e-14, 1e10),
      (1e-3, 1e3),
      (1e-6, 10.0),
      (1e-18, 1e3),
    ):
      found = self._covariance(
        boundary,
        [0.0, 0.0, rate, 0.0],
        [0.0, 0.0, 0.5, 0.0],
        [speeds, speeds],
      )
      with mpmath.workdps(60):
        r, t = mpmath.mpf(rate), mpmath.mpf(boundary)
        left = mpmath.exp(-r * t)
        mean = (1 - left) / r + left * 2
        second = 2 * (1 - left * (1 + r * t)) / r**2 + left * (4 * t + 8)
        exact = float(second - mean**2)
      self.assert_close(found, exact * onp.outer(speeds, speeds), 1e-6)

  def test_covariances_without_digits_are_nan(self):
    # Both phases alternate at rate one. The time in one of them has about the
    # variance t / 4, as its covariance density is exp(-2 |u - v|) / 4.
    rewards = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for boundary in (1e2, 1e5, 1e7, 1e9, 1e12):
      found = self.host(
        self._covariance(
          boundary, [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1e3, 1e3], rewards
        )
      )[:2, :2]
      exact = boundary / 4.0 * onp.asarray([[1.0, -1.0], [-1.0, 1.0]])
      if boundary > 1e8:
        exact = exact * math.nan
      self.assert_close(found, exact, 2.0 / boundary + 1e-6)

  def test_samples(self):
    dist = pd.MultivariateEpochs(_history(), _REWARDS)
    x = self.host(dist.sample(40_000, seed=1))
    self.assertEqual(x.shape, (40_000, 2))
    errors = onp.std(x, axis=0) / 200.0
    gap = onp.abs(onp.mean(x, axis=0) - self.host(dist.mean()))
    self.assertLess(onp.max(gap / errors), 4.0)
    # Heights are times of the same law as samples of the epochs.
    found = onp.mean(onp.exp(-x @ [0.5, 0.2]))
    exact = self.host(dist.laplace_transform([0.5, 0.2]))
    self.assertLess(abs(found - exact), 4.0 * 0.3 / 200.0)
    products = x[:, 0] * x[:, 1]
    second = self.host(dist.covariance())[0, 1] + onp.prod(
      self.host(dist.mean())
    )
    error = onp.std(products) / 200.0
    self.assertLess(abs(onp.mean(products) - second), 4.0 * error)

  def test_samples_through_state_maps(self):
    recent, params, boundaries, maps = epoch_models.migration()
    history = pd.Epochs(recent, params, boundaries, maps)
    rewards = [onp.ones((g.num_phases, 1)) for g in recent]
    dist = pd.MultivariateEpochs(history, rewards)
    x = self.host(dist.sample(20_000, seed=3))[:, 0]
    gap = abs(onp.mean(x) - float(self.host(history.mean())))
    self.assertLess(gap, 4.0 * onp.std(x) / math.sqrt(20_000))

  def test_paths_without_an_end(self):
    # A third of all paths is trapped in the phase "down", without a reward
    # there in the first case.
    ends = {
      "up": [(graphs.ABSORBED, [2.0]), ("down", [1.0])],
      "down": [],
    }
    graph = graphs.Graph.from_transitions(
      lambda s: ends[s], "up", 1, allow_never_absorbing=True
    )
    history = pd.Epochs(graph, [[1.0], [2.0]], [1.0])
    up = [float(s == "up") for s in graph.states]
    dist = pd.MultivariateEpochs(history, onp.asarray([[x, 1.0] for x in up]))
    means = self.host(dist.mean())
    late = math.exp(-3.0)
    self.assert_close(means[0], (1.0 - late) / 3.0 + late / 6.0, 1e-14)
    self.assertEqual(means[1], math.inf)
    self.assertEqual(self.host(dist.variance())[1], math.inf)
    self.assertEqual(float(self.host(dist.mixed_moment([1, 1]))), math.inf)
    found = dist.laplace_transform([0.0, 1e-9])
    self.assert_close(found, 2.0 / 3.0, 1e-8)
    x = self.host(dist.sample(300, seed=1))
    self.assertTrue(onp.all(onp.isfinite(x[:, 0])))
    trapped = onp.mean(onp.isinf(x[:, 1]))
    self.assertLess(abs(trapped - 1.0 / 3.0), 0.12)

  def test_windows(self):
    dist = pd.MultivariateEpochs(_history(), _REWARDS)
    times = onp.asarray([0.0, 0.1, 0.3, 0.7, 1.1, 4.0])
    curve = self.host(dist.expected_totals(times))
    self.assertEqual(curve.shape, (6, 2))
    self.assert_close(curve[0], [0.0, 0.0])
    for k in range(1, 6):
      rest = self.host(dist.expected_totals(times[k:], times[k]))
      self.assert_close(curve[k] + rest, curve[k:], 1e-13)
    late = self.host(dist.expected_totals(200.0))
    self.assert_close(late, dist.mean(), 1e-13)
    backwards = self.host(dist.expected_totals(0.2, since=0.4))
    self.assert_close(backwards, [0.0, 0.0])

  def test_batches(self):
    rates = onp.stack([_RATES, 2.0 * _RATES], axis=1)  # (K, 2, 1)
    history = pd.Epochs(_TREE, rates, onp.stack([_TIMES, 0.5 * _TIMES]))
    dist = pd.MultivariateEpochs(history, onp.stack([_REWARDS] * 3)[:, None])
    self.assertEqual(dist.batch_shape, (3, 2))
    self.assertEqual(dist.event_shape, (2,))
    one = pd.MultivariateEpochs(_history(), _REWARDS)
    # With all rates doubled and all times halved, so are the rewards.
    scale = onp.asarray([1.0, 0.5])[None, :, None] * onp.ones((3, 1, 1))
    self.assert_close(dist.mean(), scale * self.host(one.mean()), 1e-13)
    self.assert_close(
      dist.covariance(),
      (scale**2)[..., None] * self.host(one.covariance()),
      1e-12,
    )
    self.assert_close(
      dist.mixed_moment([1, 1]),
      (scale**2)[..., 0] * self.host(one.mixed_moment([1, 1])),
      1e-13,
    )
    part = dist[1, 0]
    self.assertEqual(part.batch_shape, ())
    self.assert_close(part.mean(), one.mean(), 1e-13)
    self.assertEqual(static.shape(dist.sample(5, seed=1)), (5, 3, 2, 2))
    none = dist[:0]
    self.assertEqual(static.shape(none.mean()), (0, 2, 2))
    self.assertEqual(static.shape(none.covariance()), (0, 2, 2, 2))
    self.assertEqual(static.shape(none.sample(2, seed=1)), (2, 0, 2, 2))
    totals = dist.expected_totals(onp.asarray([0.5, 1.0, 2.0])[:, None, None])
    self.assertEqual(static.shape(totals), (3, 3, 2, 2))

  def test_copies(self):
    dist = pd.MultivariateEpochs(_history(), _REWARDS, name="totals")
    for other in (dist.copy(), pickle.loads(pickle.dumps(dist))):
      self.assert_close(other.mean(), dist.mean())
      self.assertEqual(repr(other), repr(dist))
    self.assertEqual(static.shape(dist.rewards), (9, 2))
    self.assertEqual(dist.num_rewards, 2)

  def test_derivatives(self):
    # Scaling all times by s scales a mean by s and a second moment by s^2, so
    # that derivatives along this direction are known.
    def mean_and_cross(point):
      rates, times, rewards = point
      history = pd.Epochs(_TREE, rates, times)
      dist = pd.MultivariateEpochs(history, rewards)
      covariance = dist.covariance()
      return dist.mean()[1] + covariance[0, 1] + dist.mixed_moment([2, 1])

    arguments = (_RATES, _TIMES, _REWARDS)
    _, slopes = pm.value_and_gradient(mean_and_cross, arguments)
    dist = pd.MultivariateEpochs(_history(), _REWARDS)
    mean, covariance, third = (
      self.host(x)
      for x in (dist.mean(), dist.covariance(), dist.mixed_moment([2, 1]))
    )
    exact = mean[1] + 2.0 * covariance[0, 1] + 3.0 * third
    by_rates, by_times, by_rewards = (self.host(x) for x in slopes)
    found = onp.sum(by_times * _TIMES) - onp.sum(by_rates * _RATES)
    self.assert_close(found, exact, 1e-11)
    self.assert_close(onp.sum(by_rewards * _REWARDS), exact, 1e-11)

  def test_derivatives_in_a_reward_that_is_zero(self):
    # Y_1 is x times the height T, so that derivatives at x = 0 are moments of T.
    history = _history()
    tree = pd.MultivariateEpochs(history, onp.ones((3, 1)))
    exact = [
      self.host(tree.variance())[0],
      self.host(tree.mixed_moment([3])),
    ]

    def of(x):
      first = onp.asarray([1.0, 0.0]) * x
      rewards = first + onp.asarray([0.0, 1.0]) + onp.zeros((3, 1))
      return pd.MultivariateEpochs(history, rewards)

    _, slope = pm.value_and_gradient(
      lambda x: of(x).covariance()[0, 1], onp.zeros(())
    )
    self.assert_close(slope, exact[0], 1e-12)
    _, slope = pm.value_and_gradient(
      lambda x: of(x).mixed_moment([1, 2]), onp.zeros(())
    )
    self.assert_close(slope, exact[1], 1e-12)

  def test_times_that_are_invalid(self):
    # They are NaN, and change no other entry of the batch.
    slow = pd.Epochs(graphs.models.kingman(2), [[1e-14], [1e-14]], [1e15])
    dist = pd.MultivariateEpochs(slow, onp.ones((1, 1)))
    with warnings.catch_warnings():
      warnings.simplefilter("ignore")
      times = onp.asarray([math.nan, 1e14, -1.0, math.inf])
      totals = self.host(dist.expected_totals(times))[:, 0]
      later = self.host(dist.expected_totals(1e14, -times))[:, 0]
      probs = self.host(slow.occupancy(times))[:, 0]
    for x in (totals, probs):
      self.assertTrue(onp.all(onp.isnan(x[[0, 2, 3]])))
    self.assert_close(totals[1], -math.expm1(-1.0) * 1e14, 1e-13)
    self.assert_close(probs[1], math.exp(-1.0), 1e-13)
    self.assertTrue(onp.all(onp.isnan(later[[0, 1, 3]])))
    self.assertEqual(
      static.shape(dist.expected_totals(onp.zeros((0,)))), (0, 1)
    )

  def test_bad_arguments(self):
    history = _history()
    for rewards, kind, message in (
      (onp.ones((2, 1)), ValueError, r"rewards has shape \(2, 1\)"),
      ([onp.ones((3, 1))], ValueError, "one array .* for each of 3 epochs"),
      (
        [onp.ones((3, 1)), onp.ones((3, 2)), onp.ones((3, 1))],
        ValueError,
        "R must be the same",
      ),
      (onp.ones((3, 1), onp.float32), TypeError, "one dtype"),
      (None, TypeError, "rewards is None"),
    ):
      with self.assertRaisesRegex(kind, message):
        pd.MultivariateEpochs(history, rewards)
    with self.assertRaisesRegex(ValueError, "rewards must be >= 0"):
      pd.MultivariateEpochs(history, -_REWARDS, validate_args=True)
    with self.assertRaisesRegex(TypeError, "it must be Epochs"):
      pd.MultivariateEpochs(pd.PhaseType([1.0], [[-1.0]]), _REWARDS)
    dist = pd.MultivariateEpochs(history, _REWARDS)
    with self.assertRaisesRegex(ValueError, "at most 6"):
      dist.mixed_moment([4, 3])
    with self.assertRaisesRegex(ValueError, r"it must be \(..., R\)"):
      dist.laplace_transform([1.0])
    for method in (dist.log_prob, dist.cdf, dist.quantile):
      with self.assertRaisesRegex(NotImplementedError, "not phase-type"):
        method([0.5, 0.5])


class PhasesTest(test_case.TestCase):
  """Tests phases at a time and times in phases."""

  def test_occupancy(self):
    history = _history()
    times = onp.asarray([0.0, 0.3, 0.5, 1.1, 3.0])
    found = self.host(history.occupancy(times))
    self.assertEqual(found.shape, (5, 3))
    alive = history.survival_function(times)
    self.assert_close(onp.sum(found, axis=-1), alive, 1e-13)
    each = self.host(history.occupancy(times, by_epoch=True))
    self.assertEqual(each.shape, (5, 9))
    begun = onp.asarray([0, 1, 1, 2, 2])
    for k in range(3):
      own = each[:, 3 * k : 3 * k + 3]
      self.assert_close(own, found * (begun == k)[:, None], 1e-14)

  def test_sojourn_times(self):
    history = _history()
    found = history.expected_sojourn_times()
    self.assert_close(onp.sum(self.host(found)), history.mean(), 1e-13)
    each = self.host(history.expected_sojourn_times(by_epoch=True))
    self.assert_close(sum(onp.split(each, 3)), found, 1e-14)
    with self.assertRaisesRegex(ValueError, "until is None"):
      history.expected_sojourn_times(since=1.0)

  def test_derivatives_in_the_ends_of_a_window(self):
    # They are the probabilities of the phases, at boundaries too.
    history = _history()

    def length(window):
      return history.expected_sojourn_times(*window)[0]

    for at, other in ((0.3, 0.1), (0.7, 0.2), (1.1, 0.3), (4.0, 1.1)):
      _, slopes = pm.value_and_gradient(length, (at, other))
      first, second = (self.host(history.occupancy(x))[0] for x in (at, other))
      self.assert_close(slopes[0], first, 1e-12, 1e-15)
      self.assert_close(slopes[1], -second, 1e-12, 1e-15)

  def test_different_states(self):
    made, params, boundaries, maps = epoch_models.migration()
    history = pd.Epochs(made, params, boundaries, maps)
    with self.assertRaisesRegex(ValueError, "pass by_epoch=True"):
      history.occupancy(1.0)
    times = self.host(history.expected_sojourn_times(by_epoch=True))
    self.assertEqual(times.shape, (sum(g.num_phases for g in made),))
    self.assert_close(onp.sum(times), history.mean(), 1e-13)


def _causes(first, second, boundary):
  """Makes a time until failure or sale, at rates that change once."""
  ends = [
    (graphs.ABSORBED("failure"), [1.0, 0.0]),
    (graphs.ABSORBED("sale"), [0.0, 1.0]),
  ]
  graph = graphs.Graph.from_transitions(lambda _: ends, "running", 2)
  return pd.Epochs(graph, [first, second], [boundary])


class CausesTest(test_case.TestCase):
  """Tests causes of absorption against rates that are constant in epochs."""

  @parameterized.parameters(0.5, 2.0)
  def test_rates(self, boundary):
    first, second = onp.asarray([1.0, 0.5]), onp.asarray([0.25, 2.0])
    dist = _causes(first, second, boundary)
    t = onp.asarray([0.0, 0.2, boundary, 1.0, 3.0])
    late = t >= boundary
    early, rest = onp.minimum(t, boundary), onp.maximum(t - boundary, 0.0)
    log_alive = -onp.sum(first) * early - onp.sum(second) * rest
    reached = math.exp(-onp.sum(first) * boundary)
    for c, cause in enumerate(("failure", "sale")):
      rate = onp.where(late, second[c], first[c])
      self.assert_close(
        dist.cause_log_prob(t, cause), onp.log(rate) + log_alive, 1e-13, 1e-13
      )
      density = rate * onp.exp(log_alive)
      self.assert_close(dist.cause_prob(t, cause), density, 1e-13)
      self.assert_close(dist.cause_hazard(t, cause), rate, 1e-12)
      before = first[c] / onp.sum(first) * -onp.expm1(-onp.sum(first) * early)
      after = (
        reached
        * second[c]
        / onp.sum(second)
        * -onp.expm1(-onp.sum(second) * rest)
      )
      found = dist.cumulative_incidence(t, cause)
      self.assert_close(found, before + after, 1e-13)
      whole = first[c] / 1.5 * (1.0 - reached) + reached * second[c] / 2.25
      self.assert_close(self.host(dist.cause_probs())[c], whole, 1e-13)
      found = dist.cumulative_incidence(math.inf, cause)
      self.assert_close(found, whole, 1e-13)

  def test_causes_of_one_epoch(self):
    sold = graphs.Graph.from_transitions(
      lambda _: [(graphs.ABSORBED("sale"), [1.0])], "running", 1
    )
    broken = graphs.Graph.from_transitions(
      lambda _: [(graphs.ABSORBED("failure"), [1.0])], "running", 1
    )
    dist = pd.Epochs([sold, broken], [[1.0], [3.0]], [1.0])
    self.assert_close(
      dist.cause_probs(), [-math.expm1(-1.0), math.exp(-1.0)], 1e-14
    )
    logs = self.host(dist.cause_log_prob(onp.asarray([0.5, 2.0]), "sale"))
    self.assert_close(logs, [-0.5, -math.inf], 1e-14)
    with self.assertRaisesRegex(ValueError, "cause is 'theft'"):
      dist.cause_prob(1.0, "theft")


if __name__ == "__main__":
  absltest.main()
