"""Laws with an atom at zero, as latent times of TensorFlow Probability."""

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd

MODE = "numpy"
if MODE != "numpy":
  from phasic.interop import tfp as adapter

  tfd = adapter.tfp.distributions


class LatentAtomsTest(absltest.TestCase):
  """Laws with an atom at zero, which samplers of times would never visit."""

  def test_no_bijector_onto_times_with_an_atom(self):
    zero = pd.ZeroInflated(pd.Erlang(2, 1.0), 0.3)
    for law, mass in (
      (zero, 0.3),
      (pd.MatrixWeibull(zero, 2.0), 0.3),
      (pd.TruncatedPhaseType(zero, high=50.0), 0.3),
      (pd.PhaseType([0.5], [[-1.0]]), 0.5),
      (pd.PhaseType([0.25], [[-1.0]], prob_zero=0.75), 0.75),
      (pd.convolution([zero, zero]), 0.09),
    ):
      wrapped = adapter.wrap(law)
      for dist in (wrapped, tfd.Sample(wrapped, 2)):
        with self.assertRaisesRegex(ValueError, f"an atom of {mass:.6g} at ze"):
          dist.experimental_default_event_space_bijector()
      with self.assertRaisesRegex(ValueError, "latent time must not be zero"):
        tfd.JointDistributionSequential(
          [wrapped]
        ).experimental_default_event_space_bijector()

  def test_bijectors_onto_times_without_one(self):
    zero = pd.ZeroInflated(pd.Erlang(2, 1.0), 0.3)
    for law, low in (
      (pd.ResidualLife(zero, 1.0), 0.0),
      (pd.Equilibrium(zero), 0.0),
      (pd.TruncatedPhaseType(zero, 1.0), 1.0),
      (pd.convolution([zero, pd.Erlang(1, 1.0)]), 0.0),
      (pd.ZeroInflated(pd.Erlang(2, 1.0), 0.0), 0.0),
    ):
      bijector = adapter.wrap(law).experimental_default_event_space_bijector()
      found = bijector.forward(onp.asarray(0.5, law.dtype))
      onp.testing.assert_allclose(found, low + onp.exp(0.5), rtol=1e-6)


if __name__ == "__main__":
  absltest.main()
