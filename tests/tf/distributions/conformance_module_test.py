"""Every family in a tf.Module, trained where batch sizes are not known."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
import tensorflow as tf

from tests.generated.tf.helpers import conformance

# Whole numbers, masses, and a matrix with a rate of zero: a step of their own
# would leave no law.
_CONSTANT = (
  *("low", "high", "time", "mixture_probs", "initial_probs"),
  *("subgenerator", "exit_rates", "prob_zero"),
)


def _trained(parameters):
  """Names of what is trained; several `probs` are masses, too."""
  masses = {"probs"} if isinstance(parameters.get("probs"), list) else set()
  return [k for k in parameters if k not in _CONSTANT and k not in masses]


class Model(tf.Module):
  """A family whose parameters are variables."""

  def __init__(self, family):
    super().__init__(name="model")
    case = conformance.CASES[family]
    trained = _trained(case.parameters)
    self.dist = case.build(
      **{
        k: tf.Variable(x) if k in trained else tf.constant(x)
        for k, x in conformance.arrays(case.parameters).items()
      }
    )

  @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
  def step(self, values):
    """One of gradient descent, on what values lack of being likely."""
    with tf.GradientTape() as tape:
      loss = -tf.reduce_mean(self.dist.log_prob(values))
    variables = self.trainable_variables
    slopes = tape.gradient(loss, variables)
    size = tf.add_n([tf.reduce_sum(x * x) for x in slopes])
    for variable, slope in zip(variables, slopes, strict=True):
      variable.assign_sub(1e-6 * slope / tf.sqrt(size))
    return loss, size


class ModuleTest(parameterized.TestCase):
  @parameterized.parameters(
    *(
      (name,) for name, x in conformance.CASES.items() if _trained(x.parameters)
    )
  )
  def test_training(self, family):
    model = Model(family)
    case = conformance.CASES[family]
    names = _trained(case.parameters)
    self.assertLen(model.trainable_variables, len(names))
    values = onp.asarray(case.values[1:4])
    losses = [float(model.step(values)[0]) for _ in range(3)]
    # They fall as the slope says: nothing but the step is lost.
    self.assertLess(losses[1], losses[0])
    self.assertLess(losses[2], losses[1])
    _, size = model.step(values[:1])  # Another batch size, the same trace.
    self.assertGreater(float(size), 0.0)
    self.assertEqual(model.step.experimental_get_tracing_count(), 1)


if __name__ == "__main__":
  absltest.main()
