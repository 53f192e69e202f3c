"""Statistics of distributions in functions of unknown batch sizes."""

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd

_RATES = tf.TensorSpec([None], tf.float64)


class ContractUsesTest(absltest.TestCase):
  def test_times(self):
    one = pd.PhaseType([1.0], [[-1.0]])

    @tf.function(input_signature=[_RATES])
    def statistics(rates):
      dist = pd.PhaseType(tf.ones(1, tf.float64), -rates[:, None, None])
      with tf.GradientTape() as tape:
        tape.watch(rates)
        again = pd.PhaseType(tf.ones(1, tf.float64), -rates[:, None, None])
        value = again.kl_divergence(one)
      return (
        value,
        tape.gradient(value, rates),
        dist.entropy(),
        dist.moment_generating_function(0.5),
        dist.hazard_function(30.0),
        dist.log_hazard_function(30.0),
        dist.laplace_transform(1.0),
      )

    for rates in (onp.asarray([1.0, 2.0, 3.0]), onp.asarray([0.75])):
      expected = (
        onp.log(rates) + 1 / rates - 1,
        1 / rates - 1 / rates**2,
        1 - onp.log(rates),
        rates / (rates - 0.5),
        rates,
        onp.log(rates),
        rates / (rates + 1),
      )
      for x, y in zip(statistics(rates), expected, strict=True):
        onp.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)

  def test_steps(self):
    half = pd.DiscretePhaseType([1.0], [[0.5]])

    @tf.function(input_signature=[_RATES])
    def statistics(probs):
      matrix = (1.0 - probs)[:, None, None]
      dist = pd.DiscretePhaseType(tf.ones(1, tf.float64), matrix)
      return dist.kl_divergence(half), dist.hazard_function(3.0)

    probs = onp.asarray([0.5, 0.25])
    divergence, hazards = statistics(probs)
    rest = (1 / probs - 1) * onp.log((1 - probs) / 0.5)
    expected = onp.log(probs / 0.5) + rest
    onp.testing.assert_allclose(divergence, expected, rtol=1e-12, atol=1e-14)
    onp.testing.assert_allclose(hazards, probs, rtol=1e-12)

  def test_gradients_of_means_whose_variance_is_out_of_range(self):
    rate = tf.constant(1e-13, tf.float32)
    with tf.GradientTape() as tape:
      tape.watch(rate)
      mean = pd.PhaseType([1.0], tf.reshape(-rate, [1, 1])).mean()
    onp.testing.assert_allclose(tape.gradient(mean, rate), -1e26, rtol=1e-6)

  def test_checks_of_distributions_tell_the_value(self):
    @tf.function
    def log_prob(rate, probs):
      first = pd.Erlang(2, rate, validate_args=True)
      second = pd.Hyperexponential(probs, [1.0, 2.0], validate_args=True)
      return first.log_prob(1.0), second.log_prob(1.0)

    good = tf.constant([0.25, 0.75], tf.float64)
    one = tf.constant(1.0, tf.float64)
    error = tf.errors.InvalidArgumentError
    with self.assertRaisesRegex(error, r"rate: it must be > 0.*found.*\[-1\]"):
      log_prob(-one, good)
    message = r"sum\(mixture_probs\): this sum must be 1.*found.*\[0.75\]"
    with self.assertRaisesRegex(error, message):
      log_prob(one, good - [0.25, 0.0])
    self.assertEqual(log_prob(one, good)[0].shape, ())


if __name__ == "__main__":
  absltest.main()
