"""Results that no memory holds are refused before anything is computed."""

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic import math as pm
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax

_SIZE = 200_000


class ResultSizesTest(test_case.TestCase):
  def seed(self):
    if MODE == "jax":
      return jax.random.key(0)
    else:
      return 0

  def test_results(self):
    rates, values = onp.ones((_SIZE, 1)), onp.full(_SIZE, 0.5)
    dist = pd.Erlang(2, rates)
    epochs = pd.Epochs(
      pg.models.kingman(2), [rates[..., None], rates[..., None]], [1.0]
    )
    matrix = -onp.ones((_SIZE, 1, 1, 1))
    calls = {
      "quantile_log_cdf": lambda: dist.quantile_log_cdf(-values),
      "transformed": lambda: pd.MatrixWeibull(dist, 2.0).log_prob(values),
      "epochs": lambda: epochs.log_prob(values),
      "sojourns": lambda: epochs.expected_sojourn_times(values),
      "divergence": lambda: dist.kl_divergence(pd.Erlang(2, values)),
      "batch": lambda: pd.MatrixWeibull(dist, values),
      "mixture": lambda: pd.mixture([0.5, 0.5], [dist, pd.Erlang(1, values)]),
      "data": lambda: inference.Observations(values).log_likelihood(dist),
      "math": lambda: pm.phase_type.log_prob(values, [1.0], matrix),
      "math_occupancy": lambda: pm.phase_type.occupancy(values, [1.0], matrix),
    }
    for method in (
      "log_prob",
      "cdf",
      "hazard_function",
      "quantile",
      "laplace_transform",
      "moment_generating_function",
      "occupancy",
      "renewal_density",
      "mean_residual_life",
    ):
      calls[method] = lambda method=method: getattr(dist, method)(values)
    for name, call in calls.items():
      with (
        self.subTest(name),
        self.assertRaisesRegex(
          MemoryError,
          r"shapes \(200000,.*broadcast to \(200000, (1, )?200000\), 40{10} entries: "
          r"it must have at most 2\^31; give equal shapes",
        ),
      ):
        call()

  def test_samples_and_phases(self):
    batch = pd.Erlang(2, onp.ones(_SIZE))
    phases = onp.eye(1000)
    chain = pd.PhaseType(phases[0], -phases)
    for call, shape in (
      (lambda: batch.sample(_SIZE, seed=self.seed()), r"\(200000, 200000\)"),
      (
        lambda: chain.occupancy(onp.ones(3_000_000)),
        r"\(3000000, 1000\)",
      ),
    ):
      with self.assertRaisesRegex(
        MemoryError,
        rf"would have shape {shape}, .*at most 2\^31; compute it in",
      ):
        call()

  def test_sizes_that_fit(self):
    values = pd.Erlang(2, onp.ones((300, 1))).log_prob(onp.ones(400))
    self.assertEqual(self.host(values).shape, (300, 400))


if __name__ == "__main__":
  absltest.main()
