"""The contract of the distributions, for the families."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.internal import gradients
from phasic.internal import static
from tests import family_cases
from tests import test_case

MODE = "numpy"
CASES = family_cases.CASES
NAMES = [name for name in CASES if name != "erlang_1000"]
if MODE == "jax":
  # Each of them is compiled.
  NAMES = ["hyper_erlang", "failures", "truncated"]


def _erlang(rate):
  return pd.Erlang(2, rate)


def _with_atom(rate):
  return pd.PhaseType([0.75], np.reshape(-rate, (1, 1)), prob_zero=0.25)


def _trials(theta):
  return pd.NegativeBinomialTrials(3, theta / 2.0)


# Names, laws of a parameter, and whether samples have derivatives in it.
REPARAMETERIZED = (
  ("inflated", lambda t: pd.ZeroInflated(_erlang(t), 0.25), False),
  ("not_inflated", lambda t: pd.ZeroInflated(_erlang(t), 0.0), True),
  ("trials", lambda t: pd.ZeroInflated(_trials(t), 0.0), False),
  ("atom", lambda t: pd.ZeroInflated(_with_atom(t), 0.0), False),
  ("residual", lambda t: pd.ResidualLife(_erlang(t), 1.0), True),
  ("residual_time", lambda t: pd.ResidualLife(_erlang(0.7), t), True),
  ("residual_atom", lambda t: pd.ResidualLife(_with_atom(t), 1.0), True),
  ("residual_trials", lambda t: pd.ResidualLife(_trials(t), 2.0), False),
  ("rate", lambda t: pd.TruncatedPhaseType(_erlang(t), 0.5, 2.0), True),
  ("low", lambda t: pd.TruncatedPhaseType(_erlang(0.7), t, 4.0), True),
  ("high", lambda t: pd.TruncatedPhaseType(_erlang(0.7), 0.0, t), True),
  ("cut", lambda t: pd.TruncatedPhaseType(_with_atom(t), 0.5, 4.0), True),
  ("kept", lambda t: pd.TruncatedPhaseType(_with_atom(t), 0.0, 4.0), False),
  (
    "kept_bound",
    lambda t: pd.TruncatedPhaseType(_with_atom(np.asarray(1.0)), 0.0, t),
    False,
  ),
  ("counts", lambda t: pd.TruncatedPhaseType(_trials(t), 0.0, 9.0), False),
  ("transformed", lambda t: pd.MatrixWeibull(_erlang(t), 2.0), True),
  ("power", lambda t: pd.MatrixWeibull(_erlang(0.7), t), True),
  ("power_atom", lambda t: pd.MatrixWeibull(_with_atom(t), 2.0), False),
  (
    "atom_power",
    lambda t: pd.MatrixWeibull(_with_atom(np.asarray(1.0)), t),
    False,
  ),
)
if MODE == "jax":
  REPARAMETERIZED = REPARAMETERIZED[:2] + REPARAMETERIZED[8:13]


class ContractTest(test_case.TestCase):
  """Names, shapes, dtypes, copies and slices."""

  @parameterized.parameters(*NAMES)
  def test_facts(self, name):
    case = CASES[name]
    dist = case.make(validate_args=True)
    self.assertEqual(dist.batch_shape, ())
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(dist.dtype, "float64")
    self.assertEqual(dist.name, case.family)
    self.assertStartsWith(repr(dist), f"<{case.family} '{case.family}'")
    self.assertTrue(dist.validate_args)
    value = case.values[0]
    self.assert_close(dist.log_prob(value), case.make().log_prob(value), 1e-14)

  @parameterized.parameters(*NAMES)
  def test_batches(self, name):
    case = CASES[name]
    values = onp.asarray(case.values[:3])
    alone = self.host(case.make().log_prob(values))
    dist = case.batched((2, 1))
    self.assertEqual(dist.batch_shape, (2, 1))
    self.assertEqual(self.host(dist.batch_shape_tensor()).tolist(), [2, 1])
    expected = onp.broadcast_to(alone, (2, 3))
    self.assert_close(dist.log_prob(values), expected, 1e-13)
    part = dist[1]
    self.assertEqual(part.batch_shape, (1,))
    self.assert_close(part.log_prob(values), alone, 1e-13)
    self.assertEqual(dist[None, ..., 0].batch_shape, (1, 2))
    self.assertEqual(self.host(dist.sample(5, seed=1)).shape, (5, 2, 1))
    with self.assertRaises(IndexError):
      _ = dist[2]

  @parameterized.parameters(*NAMES)
  def test_float32(self, name):
    case = CASES[name]
    dist = case.make("float32")
    self.assertEqual(dist.dtype, "float32")
    value = onp.float32(case.values[1])
    found = [dist.log_prob(value), dist.cdf(value), dist.sample(2, seed=1)]
    if case.moments:
      found.append(dist.mean())
    for x in found:
      self.assertEqual(static.dtype_name(x), "float32")
    wide = self.host(case.make().log_prob(float(value)))
    self.assert_close(found[0], wide, 1e-4, 1e-4)

  @parameterized.parameters(*NAMES)
  def test_copies(self, name):
    case = CASES[name]
    dist = case.make()
    value = case.values[1]
    other = dist.copy(name="other")
    self.assertEqual((dist.name, other.name), (case.family, "other"))
    self.assert_close(other.log_prob(value), dist.log_prob(value), 0.0)
    again = type(dist)._unflatten(dist._parts())
    self.assert_close(again.log_prob(value), dist.log_prob(value), 0.0)
    for key in dist.parameter_properties():
      self.assertIs(getattr(dist, key), dist.parameters[key])

  @parameterized.parameters(*NAMES)
  def test_outside(self, name):
    case = CASES[name]
    dist = case.make()
    values = [-1.0, math.inf, math.nan]
    nan = math.nan
    self.assert_close(dist.log_prob(values), [-math.inf, -math.inf, nan])
    self.assert_close(dist.cdf(values), [0.0, 1.0, nan])
    self.assert_close(dist.survival_function(values), [1.0, 0.0, nan])
    with self.assertRaisesRegex(ValueError, r"value = -1\.0"):
      case.make(validate_args=True).log_prob(-1.0)

  @parameterized.parameters(*NAMES)
  def test_samples(self, name):
    case = CASES[name]
    dist = case.make()
    n = 2000
    x = self.host(dist.sample(n, seed=7))
    self.assert_close(dist.sample(n, seed=7), x, 0.0)
    if case.discrete or case.atom:
      # The largest difference at the values that are there.
      points = onp.unique(x)
      below = onp.searchsorted(onp.sort(x), points, side="right") / n
      distance = onp.max(onp.abs(below - self.host(dist.cdf(points))))
      self.assertLess(distance, 1.95 / math.sqrt(n))
    else:
      test = stats.kstest(x, lambda t: self.host(dist.cdf(t)))
      self.assertGreater(test.pvalue, 1e-3)

  @parameterized.parameters(*REPARAMETERIZED)
  def test_derivatives_of_samples(self, name, makes, smooth):
    kind = pd.FULLY_REPARAMETERIZED if smooth else pd.NOT_REPARAMETERIZED
    self.assertIs(makes(1.5).reparameterization_type, kind)
    if MODE == "numpy":
      self.skipTest("NumPy has no autodiff")
    theta = np.asarray(1.5)

    def draw(theta):
      return np.sum(makes(theta).sample(seed=4))

    if not smooth:
      with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
        gradients.value_and_gradient(draw, theta)
      return
    x, slope = gradients.value_and_gradient(draw, theta)
    x = gradients.stop_gradient(x)
    _, moved = gradients.value_and_gradient(lambda t: makes(t).cdf(x), theta)
    # The distribution function of a draw does not change.
    density = self.host(makes(theta).prob(x))
    self.assert_close(slope, -self.host(moved) / density, 1e-9)

  @parameterized.parameters(*((n,) for n in NAMES if not CASES[n].discrete))
  def test_quantiles(self, name):
    dist = CASES[name].make()
    # A bound far out is too coarse for more.
    logs = onp.asarray([-3.0 if name == "truncated" else -600.0, -3.0, -0.1])
    for quantile, inverse in (
      (dist.quantile_log_cdf, dist.log_cdf),
      (dist.quantile_log_survival, dist.log_survival_function),
    ):
      x = self.host(quantile(logs))
      back = self.host(inverse(x))
      self.assert_close(back[x > 0], logs[x > 0], 1e-9)
    found = dist.quantile(onp.exp(logs[1:]))
    self.assert_close(found, self.host(dist.quantile_log_cdf(logs[1:])), 1e-9)

  @parameterized.parameters(*((n,) for n in NAMES if CASES[n].discrete))
  def test_quantiles_of_counts(self, name):
    dist = CASES[name].make()
    u = onp.asarray([1e-12, 0.25, 0.9])
    k = self.host(dist.quantile(u))
    self.assertTrue(onp.all(self.host(dist.cdf(k)) >= u))
    self.assertTrue(onp.all(self.host(dist.cdf(k - 1.0)) < u))
    self.assert_close(dist.quantile_log_survival(onp.log1p(-u[1:])), k[1:])

  def test_samples_of_a_batch_are_independent(self):
    base = pd.Erlang(2, onp.asarray([[1.0], [2.0]]))
    dist = pd.MatrixWeibull(base, onp.ones(3))
    x = self.host(dist.sample(400, seed=3))
    self.assertEqual(x.shape, (400, 2, 3))
    self.assert_close(onp.mean(x, axis=0)[0], onp.full(3, 2.0), 0.2)
    self.assert_close(onp.mean(x, axis=0)[1], onp.full(3, 1.0), 0.2)
    correlation = onp.corrcoef(onp.reshape(x, (400, 6)).T)
    self.assertLess(onp.max(onp.abs(correlation - onp.eye(6))), 0.25)

  @parameterized.parameters(
    *((name,) for name in NAMES if hasattr(CASES[name].make(), "as_phase_type"))
  )
  def test_dense_form(self, name):
    case = CASES[name]
    dist = case.make()
    dense = dist.as_phase_type()
    kind = pd.DiscretePhaseType if case.discrete else pd.PhaseType
    self.assertIs(type(dense), kind)
    self.assertEqual(dense.num_phases, dist.num_phases)
    values = onp.asarray(case.values)
    self.assert_close(dense.log_prob(values), dist.log_prob(values), 1e-11)
    self.assert_close(dense.mean(), dist.mean(), 1e-13)


if __name__ == "__main__":
  absltest.main()
