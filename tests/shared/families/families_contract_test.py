"""Samples of the families, their derivatives, and dense forms."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic.math.calls import gradients
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
CASES = family_cases.CASES
NAMES = [name for name in CASES if name != "erlang_1000"]
if MODE == "jax":
  # Each distribution is compiled.
  NAMES = ["hyper_erlang", "failures", "truncated"]


def _erlang(rate):
  return pd.Erlang(2, rate)


def _with_atom(rate):
  return pd.PhaseType([0.75], np.reshape(-rate, (1, 1)), prob_zero=0.25)


def _trials(theta):
  return pd.NegativeBinomialTrials(3, theta / 2.0)


# Names, laws of a parameter, and whether samples have derivatives in it.
REPARAMETERIZED = (
  ("inflated", lambda t: pd.ZeroInflated(_erlang(t), 0.25), False),
  ("not_inflated", lambda t: pd.ZeroInflated(_erlang(t), 0.0), True),
  ("trials", lambda t: pd.ZeroInflated(_trials(t), 0.0), False),
  ("atom", lambda t: pd.ZeroInflated(_with_atom(t), 0.0), False),
  ("residual", lambda t: pd.ResidualLife(_erlang(t), 1.0), True),
  ("residual_time", lambda t: pd.ResidualLife(_erlang(0.7), t), True),
  ("residual_atom", lambda t: pd.ResidualLife(_with_atom(t), 1.0), True),
  ("residual_trials", lambda t: pd.ResidualLife(_trials(t), 2.0), False),
  ("rate", lambda t: pd.TruncatedPhaseType(_erlang(t), 0.5, 2.0), True),
  ("low", lambda t: pd.TruncatedPhaseType(_erlang(0.7), t, 4.0), True),
  ("high", lambda t: pd.TruncatedPhaseType(_erlang(0.7), 0.0, t), True),
  ("cut", lambda t: pd.TruncatedPhaseType(_with_atom(t), 0.5, 4.0), True),
  ("kept", lambda t: pd.TruncatedPhaseType(_with_atom(t), 0.0, 4.0), False),
  (
    "kept_bound",
    lambda t: pd.TruncatedPhaseType(_with_atom(np.asarray(1.0)), 0.0, t),
    False,
  ),
  ("counts", lambda t: pd.TruncatedPhaseType(_trials(t), 0.0, 9.0), False),
  ("transformed", lambda t: pd.MatrixWeibull(_erlang(t), 2.0), True),
  ("power", lambda t: pd.MatrixWeibull(_erlang(0.7), t), True),
  ("power_atom", lambda t: pd.MatrixWeibull(_with_atom(t), 2.0), False),
  (
    "atom_power",
    lambda t: pd.MatrixWeibull(_with_atom(np.asarray(1.0)), t),
    False,
  ),
)
if MODE == "jax":
  REPARAMETERIZED = REPARAMETERIZED[:2] + REPARAMETERIZED[8:13]


class ContractTest(test_case.TestCase):
  """Tests properties that the conformance suite does not cover."""

  @parameterized.parameters(*REPARAMETERIZED)
  def test_derivatives_of_samples(self, name, makes, smooth):
    kind = pd.FULLY_REPARAMETERIZED if smooth else pd.NOT_REPARAMETERIZED
    self.assertIs(makes(1.5).reparameterization_type, kind)
    theta = np.asarray(1.5)

    def draw(theta):
      return np.sum(makes(theta).sample(seed=4))

    if not smooth:
      with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
        gradients.value_and_gradient(draw, theta)
      return
    x, slope = gradients.value_and_gradient(draw, theta)
    x = gradients.stop_gradient(x)
    _, moved = gradients.value_and_gradient(lambda t: makes(t).cdf(x), theta)
    # The distribution function of a draw does not change.
    density = self.host(makes(theta).prob(x))
    self.assert_close(slope, -self.host(moved) / density, 1e-9)

  def test_samples_of_a_batch_are_independent(self):
    base = pd.Erlang(2, onp.asarray([[1.0], [2.0]]))
    dist = pd.MatrixWeibull(base, onp.ones(3))
    x = self.host(dist.sample(400, seed=3))
    self.assertEqual(x.shape, (400, 2, 3))
    self.assert_close(onp.mean(x, axis=0)[0], onp.full(3, 2.0), 0.2)
    self.assert_close(onp.mean(x, axis=0)[1], onp.full(3, 1.0), 0.2)
    correlation = onp.corrcoef(onp.reshape(x, (400, 6)).T)
    self.assertLess(onp.max(onp.abs(correlation - onp.eye(6))), 0.25)

  @parameterized.parameters(
    *((name,) for name in NAMES if hasattr(CASES[name].make(), "as_phase_type"))
  )
  def test_dense_form(self, name):
    case = CASES[name]
    dist = case.make()
    dense = dist.as_phase_type()
    kind = pd.DiscretePhaseType if case.discrete else pd.PhaseType
    self.assertIs(type(dense), kind)
    self.assertEqual(dense.num_phases, dist.num_phases)
    values = onp.asarray(case.values)
    self.assert_close(dense.log_prob(values), dist.log_prob(values), 1e-11)
    self.assert_close(dense.mean(), dist.mean(), 1e-13)


class SinglePrecisionTest(test_case.TestCase):
  def test_times_below_one(self):
    # At y the time of the two stages is y^2.
    dist = pd.MatrixWeibull(pd.Erlang(2, onp.float32(1.0)), onp.float32(2.0))
    y = onp.asarray([0.125, 0.5], "float32")
    x = y.astype(float) ** 2
    exact = -onp.expm1(-x) - x * onp.exp(-x)
    self.assert_close(dist.cdf(y), exact, 1e-6)


if __name__ == "__main__":
  absltest.main()
