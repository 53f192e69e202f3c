"""Mixed substrates: distributions of one substrate passed to another."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp

from phasic.substrates.jax import distributions as in_jax
from phasic.substrates.numpy import distributions as in_numpy
from phasic.substrates.tf import distributions as in_tf

jax.config.update("jax_enable_x64", True)

SUBSTRATES = {"numpy": in_numpy, "jax": in_jax, "tf": in_tf}


class CrossTest(parameterized.TestCase):
  """Tests that TypeErrors name the substrate of a distribution."""

  @parameterized.parameters(*itertools.permutations(SUBSTRATES, 2))
  def test_wrapped_and_compared(self, own, other):
    pd = SUBSTRATES[own]
    foreign = SUBSTRATES[other].Erlang(2, onp.asarray(1.0))
    erlang = pd.Erlang(2, onp.asarray(1.0))
    message = (
      f"is Erlang of phasic.substrates.{other}.distributions: it must be a "
      f"distribution of phasic.substrates.{own}.distributions"
    )
    for call in (
      lambda: pd.MatrixWeibull(foreign, 2.0),
      lambda: pd.ZeroInflated(foreign, 0.5),
      lambda: pd.TruncatedPhaseType(foreign, 0.5),
      lambda: pd.ResidualLife(foreign, 0.5),
      lambda: erlang.kl_divergence(foreign),
      lambda: erlang.cross_entropy(foreign),
    ):
      with self.assertRaisesRegex(TypeError, message):
        call()


if __name__ == "__main__":
  absltest.main()
