"""A SavedModel runs and is differentiated in another process."""

import os
import subprocess
import sys
import tempfile

from absl.testing import absltest
import numpy as onp
import tensorflow as tf

from phasic.substrates import tf as ph

TIMES = [0.5, 1.0, 2.0]

_LOADER = """
import sys
import tensorflow as tf
import phasic.substrates.tf  # Loads the ops that the model uses.

model = tf.saved_model.load(sys.argv[1])
times = tf.constant([float(t) for t in sys.argv[2:]], tf.float64)
with tf.GradientTape() as outer:
  with tf.GradientTape() as inner:
    value = tf.reduce_sum(model.log_prob(times))
  gradient = inner.gradient(value, model.rate)
second = outer.gradient(gradient, model.rate)
print("RESULT", float(value), float(gradient), float(second))
"""


class Model(tf.Module):
  """An Erlang distribution with two phases and a variable rate."""

  def __init__(self):
    super().__init__()
    self.rate = tf.Variable(1.5, dtype=tf.float64)

  @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
  def log_prob(self, times):
    matrix = self.rate * tf.constant([[-1.0, 1.0], [0.0, -1.0]], tf.float64)
    return ph.distributions.PhaseType([1.0, 0.0], matrix).log_prob(times)


class SavedModelTest(absltest.TestCase):
  def test_another_process(self):
    with tempfile.TemporaryDirectory() as directory:
      tf.saved_model.save(Model(), directory)
      done = subprocess.run(
        [sys.executable, "-c", _LOADER, directory, *map(str, TIMES)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
      )
    self.assertEqual(done.returncode, 0, done.stderr)
    line = next(x for x in done.stdout.splitlines() if x.startswith("RESULT"))
    # log f(t) = 2 log r + log t - r t.
    t, n, rate = onp.array(TIMES), len(TIMES), 1.5
    want = [
      onp.sum(2 * onp.log(rate) + onp.log(t) - rate * t),
      2 * n / rate - onp.sum(t),
      -2 * n / rate**2,
    ]
    onp.testing.assert_allclose([float(x) for x in line.split()[1:]], want)

  def test_distribution_of_variables_in_a_module(self):
    class Holder(tf.Module):
      def __init__(self):
        super().__init__()
        self.matrix = tf.Variable([[-2.0]], dtype=tf.float64)
        self.distribution = ph.distributions.PhaseType([1.0], self.matrix)

      @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
      def log_prob(self, times):
        return self.distribution.log_prob(times)

    with tempfile.TemporaryDirectory() as directory:
      tf.saved_model.save(Holder(), directory)
      loaded = tf.saved_model.load(directory)
    loaded.matrix.assign([[-3.0]])
    onp.testing.assert_allclose(
      loaded.log_prob(TIMES), onp.log(3) - 3 * onp.array(TIMES)
    )


if __name__ == "__main__":
  absltest.main()
