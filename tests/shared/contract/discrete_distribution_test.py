"""The contract of the distributions, for DiscretePhaseType."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import test_case

_GOOD = {
  "initial_probs": [0.3, 0.6],
  "subtransition": [[0.5, 0.25], [0.125, 0.25]],
}


def _negative_binomial(r, q):
  """Builds tosses until r heads, which have probability q."""
  matrix = (1 - q) * onp.eye(r) + q * onp.eye(r, k=1)
  return pd.DiscretePhaseType(onp.eye(r)[0], matrix)


class ValuesTest(test_case.TestCase):
  """Tests values of known distributions."""

  @parameterized.parameters((1, 0.3), (3, 0.25), (5, 0.01))
  def test_negative_binomial(self, r, q):
    dist = _negative_binomial(r, q)
    k = onp.asarray([1, 2, 5, 9, 40])
    known = stats.nbinom(r, q, loc=r)
    with onp.errstate(divide="ignore"):
      log_prob = known.logpmf(k)
    self.assert_close(dist.prob(k), known.pmf(k), 1e-11)
    self.assert_close(dist.log_prob(k), log_prob, 1e-11)
    self.assert_close(dist.cdf(k), known.cdf(k), 1e-11)
    self.assert_close(dist.survival_function(k), known.sf(k), 1e-11)
    self.assert_close(
      dist.log_survival_function(k), known.logsf(k), 1e-9, 1e-13
    )

  def test_support(self):
    dist = pd.DiscretePhaseType(**_GOOD)
    values = [-1.0, 0.0, 0.5, 1.0, 1.5, math.inf, math.nan]
    first = 0.3 * 0.25 + 0.6 * 0.625
    self.assert_close(
      dist.prob(values), [0.0, 0.1, 0.0, first, 0.0, 0.0, math.nan], 1e-12
    )
    self.assert_close(
      dist.cdf(values),
      [0.0, 0.1, 0.1, 0.1 + first, 0.1 + first, 1.0, math.nan],
      1e-12,
    )
    without = dist.copy(initial_probs=[0.4, 0.6])
    self.assert_close(without.log_prob(0), -math.inf)

  def test_methods_are_the_functions(self):
    dist = pd.DiscretePhaseType(**_GOOD)
    model = tuple(_GOOD.values())
    counts = onp.asarray([0, 1, 7])
    for method, function in (
      (dist.log_prob, pm.discrete_phase_type.log_prob),
      (dist.prob, pm.discrete_phase_type.prob),
      (dist.log_cdf, pm.discrete_phase_type.log_cdf),
      (dist.cdf, pm.discrete_phase_type.cdf),
      (
        dist.log_survival_function,
        pm.discrete_phase_type.log_survival_function,
      ),
      (dist.survival_function, pm.discrete_phase_type.survival_function),
    ):
      self.assert_close(method(counts), function(counts, *model), 0.0)

  @parameterized.parameters((1, 0.3), (3, 0.05))
  def test_samples(self, r, q):
    n = 20000
    x = self.host(_negative_binomial(r, q).sample(n, seed=4))
    self.assert_close(x, onp.floor(x), 0.0)
    known = stats.nbinom(r, q, loc=r)
    self.assertLess(
      abs(onp.mean(x) - known.mean()), 5 * known.std() / math.sqrt(n)
    )
    fourth = known.stats("k") + 2
    error = 5 * known.var() * math.sqrt(fourth / n)
    self.assertLess(abs(onp.var(x) - known.var()), error)

  def test_samples_of_a_certain_number(self):
    dist = pd.DiscretePhaseType([1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]])
    self.assert_close(dist.sample(3, seed=1), [2.0, 2.0, 2.0], 0.0)

  @test_case.of_bad_values
  def test_samples_that_never_end(self):
    dist = pd.DiscretePhaseType([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]])
    self.assert_close(dist.sample(2, seed=1), [math.inf, math.inf])
    bad = dist.copy(initial_probs=[1.5, 0.0])
    self.assert_close(bad.sample(2, seed=1), [math.nan, math.nan])

  @test_case.of_bad_values
  def test_moments(self):
    with self.assertRaisesRegex(ValueError, "k is 0"):
      _negative_binomial(1, 0.5).moment(0)
    never = pd.DiscretePhaseType([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]])
    self.assert_close(never.mean(), math.inf)
    bad = never.copy(initial_probs=[1.5, 0.0], allow_nan_stats=False)
    with self.assertRaisesRegex(ValueError, "mean is NaN"):
      bad.mean()

  def test_gradient(self):

    def log_prob(q):
      # T is free; exits are one minus its row sums.
      return pd.DiscretePhaseType([1.0], 1.0 - q[None, None]).log_prob(4.0)

    q = np.asarray(onp.asarray(0.25))
    value, gradient = gradients.value_and_gradient(log_prob, q)
    self.assert_close(value, stats.geom.logpmf(4, 0.25))
    self.assert_close(gradient, 1 / 0.25 - 3 / 0.75)


class ContractTest(test_case.TestCase):
  """Tests names, shapes, copies, slices and errors."""

  def _batch(self):
    alpha = onp.asarray([[0.3, 0.6], [1.0, 0.0]])[:, None]
    matrix = onp.asarray(_GOOD["subtransition"])
    scale = onp.asarray([0.5, 1.0, 1.25])[:, None, None]
    return pd.DiscretePhaseType(alpha, matrix * scale)

  def test_facts(self):
    dist = self._batch()
    self.assertEqual(dist.batch_shape, (2, 3))
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(dist.num_phases, 2)
    self.assertIsNone(dist.exit_probs)
    self.assertEqual(
      repr(dist),
      "<DiscretePhaseType 'DiscretePhaseType' batch_shape=(2, 3), "
      "event_shape=(), dtype=float64, initial_probs=[[[0.3, 0.6]], [[1, 0]]]>",
    )
    properties = pd.DiscretePhaseType.parameter_properties()
    self.assertEqual(
      {name: p.event_ndims for name, p in properties.items()},
      {
        "initial_probs": 1,
        "subtransition": 2,
        "exit_probs": 1,
        "prob_zero": 0,
      },
    )

  @parameterized.parameters(((0,), (3,)), ((..., 1), (2,)), ((1, 2), ()))
  def test_slices(self, index, shape):
    dist = self._batch()
    part = dist[index]
    self.assertEqual(part.batch_shape, shape)
    self.assert_close(part.prob(3), self.host(dist.prob(3))[index], 0.0)

  def test_float32(self):
    arrays = {k: onp.asarray(v, onp.float32) for k, v in _GOOD.items()}
    dist = pd.DiscretePhaseType(**arrays)
    for x in (dist.log_prob(1), dist.mean(), dist.sample(3, seed=1)):
      self.assertEqual(static.dtype_name(x), "float32")

  @test_case.of_bad_values
  def test_diagnose(self):
    self.require_kernel()
    dist = pd.DiscretePhaseType([1.0], [[1.25]])
    self.assert_close(dist.prob(1), math.nan)
    self.assertIn("row's sum", str(dist.diagnose(1, "prob")))

  @parameterized.parameters(
    (
      {"subtransition": [[0.5, 0.75], [0.0, 0.5]]},
      r"row sum of subtransition\[0\] = 1.25",
    ),
    ({"subtransition": [[0.5, -0.5], [0, 0.5]]}, r"\[0, 1\] = -0.5"),
    ({"exit_probs": [0.25, 0.5]}, "row sum of subtransition and exit_probs"),
    ({"exit_probs": [0.25, -0.5]}, r"exit_probs\[1\] = -0.5"),
    ({"initial_probs": [0.75, 0.5]}, "initial_probs.* = 1.25"),
    ({"prob_zero": 0.5}, "this sum must be 1"),
  )
  def test_bad_values(self, overrides, message):
    parameters = {**_GOOD, **overrides}
    with self.assertRaisesRegex(ValueError, message):
      pd.DiscretePhaseType(**parameters, validate_args=True)

  def test_values_are_checked(self):
    dist = pd.DiscretePhaseType(**_GOOD, validate_args=True)
    for value in (-1.0, 0.5):
      with self.assertRaisesRegex(ValueError, f"value = {value}: .* integer"):
        dist.log_prob(value)
    self.assert_close(dist.log_prob(2), self.host(dist.copy().log_prob(2)), 0.0)

  def test_bad_shapes(self):
    with self.assertRaisesRegex(ValueError, "subtransition has shape"):
      pd.DiscretePhaseType([1.0], [[0.5, 0.5]])
    with self.assertRaisesRegex(ValueError, "exit_probs has shape"):
      pd.DiscretePhaseType([1.0], [[0.5]], exit_probs=[0.5, 0.5])
    with self.assertRaisesRegex(TypeError, "subtransition"):
      pd.DiscretePhaseType([1.0], [[True]])


if __name__ == "__main__":
  absltest.main()
