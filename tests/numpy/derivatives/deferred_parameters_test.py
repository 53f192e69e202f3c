"""Parameters that other libraries compute late."""

from absl.testing import absltest
import numpy as np

from phasic.substrates.numpy import distributions as pd


class Variable:
  """A variable of another library."""

  def assign(self, value):
    pass


class Deferred:
  """A number that is computed when it is indexed, as TFP's DeferredTensor."""

  shape = ()
  dtype = np.dtype("float64")

  def __init__(self, pretransformed_input, also_track=None):
    self.pretransformed_input = pretransformed_input
    self.also_track = also_track

  pretransformed_input = None

  def __getitem__(self, index):
    return np.exp(np.asarray(self.pretransformed_input))


class DeferredTest(absltest.TestCase):
  def test_values(self):
    dist = pd.Erlang(2, Deferred(np.log(4.0)))
    self.assertAlmostEqual(dist.mean(), 0.5, places=14)
    self.assertIsInstance(dist.rate, (np.ndarray, np.generic))

  def test_variables(self):
    for rate in (
      Deferred(Variable()),
      Deferred(Deferred(Variable())),
      Deferred(0.0, also_track=Variable()),
    ):
      with self.assertRaisesRegex(
        TypeError, "rate is a Deferred, which is computed from a variable: dist"
      ):
        pd.Erlang(2, rate)


if __name__ == "__main__":
  absltest.main()
