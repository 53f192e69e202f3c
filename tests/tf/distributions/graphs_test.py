"""Graphs in what TensorFlow users write: modules, functions, SavedModels."""

import tempfile

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions
from phasic.substrates.tf import graphs

ABSORBED = graphs.ABSORBED


def transitions(n):
  yield (n - 1 if n > 2 else ABSORBED), {"coal": n * (n - 1) / 2}


def coalescent(n=4):
  return graphs.Graph.from_transitions(transitions, n, params=("coal",))


class Model(tf.Module):
  """A module that has a graph as an attribute."""

  def __init__(self):
    super().__init__()
    self.graph = coalescent()
    self.rate = tf.Variable(2.0, dtype=tf.float64)

  @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
  def log_prob(self, times):
    dist = distributions.PhaseType.from_graph(
      self.graph, params={"coal": self.rate}
    )
    return dist.log_prob(times)


class GraphTest(absltest.TestCase):
  def test_attribute_of_a_module(self):
    model = Model()
    self.assertLen(model.variables, 1)
    self.assertEmpty(model.submodules)
    self.assertEqual(model.graph.states, (4, 3, 2))

  def test_variables(self):
    graph, rate = coalescent(), tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
      total = tf.reduce_sum(graph.edge_values({"coal": rate}))
    self.assertEqual(float(total), 20.0)
    self.assertEqual(float(tape.gradient(total, rate)), 10.0)

  def test_made_inside_a_function(self):
    @tf.function
    def values(rate):
      return coalescent().edge_values({"coal": rate})

    found = values(tf.constant(2.0, tf.float64))
    onp.testing.assert_array_equal(found, [12.0, 6.0, 2.0])

  def test_batch_of_unknown_size(self):
    graph = coalescent()

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.float64)])
    def values(params):
      return graph.edge_values(params), graph.initial_probs(params)

    found, alpha = values(tf.constant([[1.0], [2.0]], tf.float64))
    onp.testing.assert_array_equal(found, [[6.0, 3.0, 1.0], [12.0, 6.0, 2.0]])
    onp.testing.assert_array_equal(alpha, [[1.0, 0.0, 0.0]] * 2)

  def test_saved_model(self):
    model, times = Model(), tf.constant([0.25, 1.0], tf.float64)
    want = model.log_prob(times)
    with tempfile.TemporaryDirectory() as directory:
      tf.saved_model.save(model, directory)
      loaded = tf.saved_model.load(directory)
    onp.testing.assert_array_equal(loaded.log_prob(times), want)

  def test_checkpoint(self):
    model = Model()
    with tempfile.TemporaryDirectory() as directory:
      path = tf.train.Checkpoint(model=model).save(directory + "/saved")
      model.rate.assign(5.0)
      tf.train.Checkpoint(model=model).restore(path).assert_consumed()
    self.assertEqual(float(model.rate), 2.0)
    dist = distributions.PhaseType.from_graph(model.graph, params=[model.rate])
    module = tf.Module()
    module.dist = dist
    self.assertNotEmpty(
      tf.train.Checkpoint(model=module).save(
        self.enter_context(tempfile.TemporaryDirectory()) + "/saved"
      )
    )


if __name__ == "__main__":
  absltest.main()
