"""Properties that hold for all models."""

from absl.testing import absltest
import hypothesis
from hypothesis import strategies
import numpy as onp

from phasic import math as pm
from tests.helpers import models
from tests.helpers import test_case

_SETTINGS = hypothesis.settings(
  max_examples=25, deadline=None, derandomize=True
)
# The kernel gives NaN below the normal range, with a reason.
_TIMES = strategies.floats(0.0, 20.0, allow_subnormal=False)
_SEEDS = strategies.integers(0, 2**31 - 1)


def _model(number):
  return models.random_model(4, onp.random.RandomState(number))


def _arguments(model, times):
  return (times, *model)


class PropertyTest(test_case.TestCase):
  """Tests properties of random models with four phases."""

  @_SETTINGS
  @hypothesis.given(_SEEDS, _TIMES)
  def test_cdf_and_survival_sum_to_one(self, number, t):
    arguments = _arguments(_model(number), onp.asarray([t]))
    total = self.host(pm.phase_type.cdf(*arguments)) + self.host(
      pm.phase_type.survival_function(*arguments)
    )
    onp.testing.assert_allclose(total, 1, rtol=1e-12)

  @_SETTINGS
  @hypothesis.given(_SEEDS, _TIMES)
  def test_logarithms(self, number, t):
    arguments = _arguments(_model(number), onp.asarray([t]))
    for value, logarithm in (
      (pm.phase_type.prob, pm.phase_type.log_prob),
      (pm.phase_type.survival_function, pm.phase_type.log_survival_function),
      (pm.phase_type.cdf, pm.phase_type.log_cdf),
    ):
      onp.testing.assert_allclose(
        self.host(value(*arguments)),
        onp.exp(self.host(logarithm(*arguments))),
        rtol=1e-12,
      )

  @_SETTINGS
  @hypothesis.given(_SEEDS, strategies.floats(1e-3, 1e3))
  def test_unit_of_time(self, number, c):
    model = _model(number)
    times = onp.asarray([0.1, 1.0])
    scaled = models.Model(
      model.initial_probs,
      model.subgenerator / c,
      model.exit_rates / c,
      model.prob_zero,
    )
    onp.testing.assert_allclose(
      self.host(pm.phase_type.log_prob(*_arguments(scaled, times * c)))
      + onp.log(c),
      self.host(pm.phase_type.log_prob(*_arguments(model, times))),
      atol=1e-11,
    )

  @_SETTINGS
  @hypothesis.given(_SEEDS, strategies.permutations(range(4)))
  def test_order_of_phases(self, number, order):
    model = _model(number)
    order = list(order)
    times = onp.asarray([0.1, 1.0])
    shuffled = models.Model(
      model.initial_probs[order],
      model.subgenerator[order][:, order],
      model.exit_rates[order],
      model.prob_zero,
    )
    onp.testing.assert_allclose(
      self.host(pm.phase_type.log_prob(*_arguments(shuffled, times))),
      self.host(pm.phase_type.log_prob(*_arguments(model, times))),
      atol=1e-12,
    )

  @_SETTINGS
  @hypothesis.given(_SEEDS)
  def test_mean_is_the_integral_of_survival(self, number):
    model = _model(number)
    times = onp.linspace(0.0, 1.0, 513)
    # The integral to 1 and from there on, by the chain started anew at 1.
    survival = self.host(
      pm.phase_type.survival_function(*_arguments(model, times))
    )
    weights = onp.full(513, 4.0)
    weights[2:-1:2], weights[[0, -1]] = 2.0, 1.0
    head = onp.sum(weights * survival) / (3 * 512)
    mean = float(self.host(pm.phase_type.mean(*model)))
    self.assertLessEqual(head, mean * (1 + 1e-9))
    self.assertGreaterEqual(mean, survival[-1])


if __name__ == "__main__":
  absltest.main()
