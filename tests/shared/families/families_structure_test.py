"""Families as structures: counts of phases, compilation, variables, errors."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf

CASES = family_cases.CASES


class StructureTest(test_case.TestCase):
  """Tests that counts of phases are structure."""

  @parameterized.parameters((2.0,), ("2",), (True,), (None,), (onp.asarray(2),))
  def test_counts_are_ints(self, count):
    for make in (
      lambda: pd.Erlang(count, 1.0),
      lambda: pd.NegativeBinomialTrials(count, 0.5),
      lambda: pd.NegativeBinomialFailures(count, 0.5),
      lambda: pd.HyperErlang([0.5, 0.5], (1, count), [1.0, 2.0]),
    ):
      with self.assertRaisesRegex(TypeError, "must be a Python int"):
        make()

  def test_counts_of_other_kinds(self):
    with self.assertRaisesRegex(TypeError, "arrays and traced values are not"):
      pd.Erlang(np.asarray(2), 1.0)
    with self.assertRaisesRegex(TypeError, "list or tuple of Python ints"):
      pd.HyperErlang([0.5, 0.5], onp.asarray([1, 2]), [1.0, 2.0])
    with self.assertRaisesRegex(ValueError, "concentration is 0"):
      pd.Erlang(0, 1.0)
    with self.assertRaisesRegex(ValueError, "concentrations is empty"):
      pd.HyperErlang([0.5, 0.5], (), [1.0, 2.0])
    dist = pd.Erlang(onp.int64(3), 1.0)
    self.assertIs(type(dist.concentration), int)
    self.assertEqual(pd.HyperErlang([0.5, 0.5], [1, 2], [1, 2]).num_phases, 3)

  def test_compilations_are_shared(self):
    if MODE == "numpy":
      self.skipTest("NumPy does not compile")
    traces = []

    def log_prob(dist, value):
      traces.append(dist.concentration)
      return dist.log_prob(value)

    if MODE == "jax":
      compiled = jax.jit(log_prob)
      x = compiled(pd.Erlang(3, 1.0), 0.5)
      y = compiled(pd.Erlang(3, 2.0), 0.5)
      self.assertEqual(traces, [3])
      compiled(pd.Erlang(4, 2.0), 0.5)
      self.assertEqual(traces, [3, 4])
      leaves, structure = jax.tree.flatten(pd.Erlang(3, 1.0))
      self.assertLen(leaves, 1)
      self.assertEqual(jax.tree.unflatten(structure, leaves).concentration, 3)
      with self.assertRaisesRegex(TypeError, "must be a Python int"):
        jax.jit(lambda k: pd.Erlang(k, 1.0).mean())(3)
    else:
      spec = tf.TensorSpec([None], tf.float64)

      @tf.function(input_signature=[spec])
      def compiled(rates):
        return log_prob(pd.Erlang(3, rates), np.asarray(0.5))

      x = compiled(tf.constant([1.0], tf.float64))[0]
      y = compiled(tf.constant([2.0, 3.0], tf.float64))[0]
      self.assertEqual(traces, [3])
    for found, rate in ((x, 1.0), (y, 2.0)):
      self.assert_close(
        found, stats.gamma.logpdf(0.5, 3, scale=1 / rate), 1e-12
      )

  @parameterized.parameters("hyper_erlang", "weibull", "residual_life")
  def test_vectorized(self, name):
    if MODE != "jax":
      self.skipTest("JAX's vmap")
    case = CASES[name]
    batch = case.batched((3,))
    value = case.values[2]
    found = jax.vmap(lambda dist: dist.log_prob(value))(batch)
    self.assert_close(found, self.host(batch.log_prob(value)), 1e-13)

  def test_unknown_batches(self):
    if MODE != "tf":
      self.skipTest("TensorFlow's unknown shapes")

    @tf.function(
      input_signature=[
        tf.TensorSpec([None], tf.float64),
        tf.TensorSpec([None, None], tf.float64),
      ]
    )
    def draws(rates, powers):
      base = pd.Erlang(2, rates)
      return (
        pd.MatrixWeibull(base, powers).sample(3, seed=1),
        pd.TruncatedPhaseType(base, 0.5, 2.0).sample(4, seed=1),
        pd.ResidualLife(pd.ZeroInflated(base, 0.25), 0.5).mean(),
      )

    for batch in (1, 2):
      found = draws(
        tf.ones([batch], tf.float64), 2.0 * tf.ones([3, 2], tf.float64)
      )
      shapes = [onp.shape(self.host(x)) for x in found]
      self.assertEqual(shapes, [(3, 3, 2), (4, batch), (batch,)])
      # One stage less remains with probability 1 / 3.
      self.assert_close(found[2], onp.full(batch, 5 / 3), 1e-12)

  def test_variables(self):
    if MODE != "tf":
      self.skipTest("TensorFlow's variables")
    rate = tf.Variable(1.0, dtype=tf.float64)
    power = tf.Variable(2.0, dtype=tf.float64)
    dist = pd.MatrixWeibull(pd.Erlang(2, rate), power)
    self.assertLen(dist.trainable_variables, 2)
    before = self.host(dist.log_prob(1.5))
    rate.assign(3.0)
    power.assign(1.0)
    self.assert_close(
      dist.log_prob(1.5), stats.gamma.logpdf(4.5, 2) + math.log(3)
    )
    self.assertNotEqual(float(before), float(self.host(dist.log_prob(1.5))))


_HALF = [0.5, 0.5]
_ERLANG = pd.Erlang(2, 1.0)
_TRIALS = pd.NegativeBinomialTrials(2, 0.5)


class ErrorsTest(test_case.TestCase):
  """Tests that messages have the argument, the value and the rule."""

  @parameterized.named_parameters(
    (
      "sum",
      pd.Hyperexponential,
      ([0.5, 0.75], [1, 2]),
      r"mixture_probs.*1.25.*be 1",
    ),
    (
      "mixture_probs",
      pd.Hyperexponential,
      ([-0.5, 1.5], [1, 2]),
      r"mixture_probs\[0\] = -0.5",
    ),
    ("rates", pd.Hyperexponential, (_HALF, [1, -2]), r"rates\[1\] = -2.0.*> 0"),
    ("hypo", pd.Hypoexponential, ([1, math.inf],), r"rates\[1\] = inf.*finite"),
    ("nan", pd.Erlang, (2, math.nan), r"rate = nan: it must be > 0"),
    (
      "hyper_erlang",
      pd.HyperErlang,
      (_HALF, (1, 2), [0, 1]),
      r"rates\[0\] = 0",
    ),
    ("coxian", pd.Coxian, ([-1], [1, 1]), r"progression_rates\[0\] = -1.0"),
    ("last_exit", pd.Coxian, ([1], [1, 0]), r"exit_rates\[1\] = 0.0.*last"),
    ("order", pd.AcyclicPhaseType, (_HALF, [2, 1]), r"rates\[1\].*ascending"),
    ("mass", pd.AcyclicPhaseType, ([1, 1], [1, 2]), r"initial_probs.*<= 1"),
    ("mixture", pd.GeometricMixture, ([1, 1], _HALF), r"mixture_probs.*be 1"),
    (
      "success",
      pd.GeometricMixture,
      (_HALF, [0, 1]),
      r"success_probs\[0\] = 0",
    ),
    (
      "trials",
      pd.NegativeBinomialTrials,
      (2, 1.5),
      r"success_prob = 1.5.*\(0, 1\]",
    ),
    (
      "failures",
      pd.NegativeBinomialFailures,
      (2, 0),
      r"success_prob = 0.0.*\(0, 1\]",
    ),
    ("power", pd.MatrixWeibull, (_ERLANG, 0), r"concentration = 0.0.*> 0"),
    ("scale", pd.MatrixPareto, (_ERLANG, -1), r"scale = -1.0.*> 0"),
    ("growth", pd.MatrixGompertz, (_ERLANG, -1), r"growth_rate = -1.0.*> 0"),
    ("atom", pd.ZeroInflated, (_ERLANG, 1.5), r"prob_zero = 1.5.*\[0, 1\]"),
    ("time", pd.ResidualLife, (_ERLANG, -1), r"time = -1.0.*>= 0"),
    ("bounds", pd.TruncatedPhaseType, (_ERLANG, 2, 1), r"high = 1.0.*low"),
  )
  @test_case.of_bad_values
  def test_values(self, family, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      family(*arguments, validate_args=True)
    self.assertIsNotNone(family(*arguments))

  @parameterized.named_parameters(
    ("scalar", pd.Hypoexponential, (1.0,), ValueError, r"rates has shape \(\)"),
    ("empty", pd.Hypoexponential, ([],), ValueError, r"rates has shape \(0,\)"),
    ("sizes", pd.Hyperexponential, (_HALF, [1]), ValueError, r"rates.*, 2\)"),
    (
      "counts",
      pd.HyperErlang,
      (_HALF, (1,), _HALF),
      ValueError,
      r"mixture_probs.*, 1\)",
    ),
    ("coxian", pd.Coxian, ([1, 1], [1, 1]), ValueError, r"\(2,\).*p - 1"),
    (
      "batches",
      pd.Hyperexponential,
      (onp.full((2, 2), 0.5), onp.ones((3, 2))),
      ValueError,
      "do not broadcast",
    ),
    (
      "dtypes",
      pd.MatrixWeibull,
      (_ERLANG, onp.float32(1)),
      TypeError,
      "float32",
    ),
    ("base", pd.ZeroInflated, (1.0, 0.5), TypeError, "distribution is float"),
    ("discrete", pd.MatrixPareto, (_TRIALS, 1), TypeError, "continuous time"),
  )
  def test_structure(self, family, arguments, error, message):
    with self.assertRaisesRegex(error, message):
      family(*arguments)

  @test_case.of_bad_values
  def test_probabilities_that_do_not_sum_to_one(self):
    # Without checks invalid masses give NaN.
    dist = pd.Hyperexponential([0.5, 0.25], [1.0, 2.0])
    self.assert_close(dist.log_prob(1.0), math.nan)
    self.assert_close(dist.mean(), math.nan)
    self.assertRegex(str(dist.diagnose(1.0)), "^mixture_probs: .* sum 1")


if __name__ == "__main__":
  absltest.main()
