"""Distributions as `tf.Module`s: what users of modules call."""

import copy
import inspect

from absl.testing import absltest
from absl.testing import parameterized
import tensorflow as tf

from phasic.substrates.tf.distributions import PhaseType

ALPHA = [0.75, 0.25]
MATRIX = [[-2.0, 1.0], [0.5, -1.5]]


class Regression(PhaseType):
  """A subclass with a method in its name scope."""

  @tf.Module.with_name_scope
  def scaled(self, x):
    return tf.multiply(x, 2.0, name="product")


class ModuleTest(parameterized.TestCase):
  @parameterized.parameters(
    ("PhaseType", "PhaseType/"),
    ("repair", "repair/"),
    ("waiting time", "waiting_time/"),
    ("d\u00e9lai", "d_lai/"),
    # No letter to begin with: the class's name, as for any module.
    ("1st", "phase_type/"),
    ("", "phase_type/"),
  )
  def test_name_scope(self, name, scope):
    dist = PhaseType(ALPHA, MATRIX, name=name)
    self.assertEqual(dist.name, name)
    self.assertEqual(dist.name_scope.name, scope)
    with dist.name_scope:
      self.assertEqual(tf.Variable(1.0, name="x").name, f"{scope}x:0")

  def test_scope_of_a_copy(self):
    dist = PhaseType(ALPHA, MATRIX)
    self.assertEqual(dist.copy(name="other").name_scope.name, "other/")
    self.assertEqual(dist.name_scope.name, "PhaseType/")
    self.assertEqual(copy.copy(dist).name_scope.name, "PhaseType/")

  def test_inside_another_scope(self):
    with tf.name_scope("outer"):
      dist = PhaseType(ALPHA, MATRIX, name="inner")
    self.assertEqual(dist.name_scope.name, "outer/inner/")

  def test_with_name_scope(self):
    dist = Regression(ALPHA, MATRIX, name="mine")
    graph = tf.function(dist.scaled).get_concrete_function(
      tf.TensorSpec([], tf.float32)
    )
    names = [op.name for op in graph.graph.get_operations()]
    self.assertIn("mine/product", names)
    self.assertEqual(dist.scaled(tf.constant(3.0)), 6.0)

  def test_made_inside_a_function(self):
    @tf.function
    def mean(alpha):
      dist = PhaseType(alpha, MATRIX)
      with dist.name_scope:
        return dist.mean()

    want = PhaseType(ALPHA, MATRIX).mean()
    self.assertEqual(mean(tf.constant(ALPHA, tf.float64)), want)

  def test_submodules_and_variables(self):
    matrix = tf.Variable(MATRIX, dtype=tf.float64)
    alpha = tf.Variable(ALPHA, dtype=tf.float64, trainable=False)
    model = tf.Module("model")
    model.dist = PhaseType(alpha, matrix)
    model.others = [PhaseType(ALPHA, matrix)]
    self.assertEqual(model.submodules, (model.dist, model.others[0]))
    self.assertEmpty(model.dist.submodules)
    self.assertLen(model.variables, 2)
    (trainable,) = model.trainable_variables
    self.assertIs(trainable, matrix)
    (frozen,) = model.dist.non_trainable_variables
    self.assertIs(frozen, alpha)

  def test_constructor_keeps_its_signature(self):
    names = list(inspect.signature(PhaseType).parameters)
    self.assertEqual(names[:2], ["initial_probs", "subgenerator"])
    self.assertIn("Makes a batch", PhaseType.__init__.__doc__)


if __name__ == "__main__":
  absltest.main()
