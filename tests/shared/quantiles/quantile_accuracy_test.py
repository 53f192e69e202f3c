"""Quantiles against ball arithmetic: errors of F at a quantile."""

from absl.testing import absltest
from absl.testing import parameterized
import flint
import numpy as np
import numpy as onp

from phasic import config
from phasic import math as pm
from phasic.math.calls import gradients
from phasic.math.model import operands
from phasic.math.quantiles import quantiles
from tests.helpers import test_case
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_US = (
  *(1e-300, 1e-200, 1e-50, 1e-16, 1e-5, 0.01, 0.1, 0.25, 0.4, 0.5),
  *(0.5000001, 0.75, 0.95, 0.999, 1 - 1e-9, 1 - 1e-13, 1 - 1e-16),
)
_EPS = onp.finfo(onp.float64).eps


def _stiff(ratio):
  """Builds phases with rates that differ by a factor."""
  p = 10
  rates = onp.diag(onp.full(p - 1, ratio), 1)
  rates += onp.diag(onp.full(p - 1, ratio), -1)
  exits = onp.eye(p)[-1]
  matrix = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return oracle.Operands(onp.eye(p)[0], matrix, exits, None, 1.0)


_MODELS = {
  "erlang": models.erlang(),
  "kingman": models.kingman(10),
  "birth_death": models.birth_death(),
  "hyperexponential": models.hyperexponential(),
  "near_equal": models.near_equal(),
  "exits_derived": models.with_options(models.cyclic(), False, None),
  "atom": models.with_options(models.cyclic(), True, 0.125),
  "large_atom": models.with_options(models.cyclic(), True, 0.875),
  "stiff": _stiff(2.0**10),
  "stiffer": _stiff(2.0**20),
}


def _quantile(function, model, x):
  return function(
    x,
    model.initial_probs,
    model.subgenerator,
    model.exit_rates,
    model.prob_zero,
  )


class QuantileAccuracyTest(test_case.TestCase):
  @parameterized.parameters(*_MODELS)
  def test_few(self, name):
    self.require_kernel()
    self._check(_MODELS[name], onp.asarray(_US), slice(None))

  @parameterized.parameters("kingman", "atom")
  def test_many(self, name):
    """Tests a number of quantiles that uses the table."""
    self.require_kernel()
    u = onp.random.RandomState(1).uniform(size=2000)
    self._check(_MODELS[name], u, slice(0, 2000, 200))

  def _check(self, model, u, part):
    """Checks |F(Q) - u| <= 8 eps min(u, 1 - u) (1 + Q f(Q) / min(F, 1 - F))."""
    q = self.host(_quantile(pm.phase_type.quantile, model, u))
    atom = 0.0 if model.prob_zero is None else float(model.prob_zero)
    for one, t in zip(u[part], q[part], strict=True):
      if one <= atom:
        self.assertEqual(t, 0.0)
        continue
      at = model._replace(time=t)
      low = one <= 0.5
      mass, _ = oracle.directional("cdf" if low else "survival", at)
      density, _ = oracle.directional("density", at)
      asked = one if low else 1.0 - one
      elasticity = float(t * density / mass)
      bound = 8 * _EPS * asked * (1.0 + elasticity)
      self.assertLessEqual(oracle.error(asked, mass), bound, (one, t))

  @parameterized.parameters("erlang", "kingman", "birth_death", "stiff")
  def test_log_survival(self, name):
    """Tests survival probabilities of exp(-1e4)."""
    self.require_kernel()
    model = _MODELS[name]
    logs = onp.asarray([-1e4, -800.0, -1e-3])
    q = self.host(_quantile(pm.phase_type.quantile_log_survival, model, logs))
    for log, t in zip(logs, q, strict=True):
      at = model._replace(time=t)
      survival, _ = oracle.directional("log_survival", at)
      hazard, _ = oracle.directional("log_density", at)
      with flint.ctx.workprec(256):
        slope = float(t * (hazard - survival).exp())
      bound = 8 * _EPS * (abs(log) + slope)
      self.assertLessEqual(oracle.error(log, survival), bound, (log, t))


class PathsTest(test_case.TestCase):
  @test_case.of_bad_values
  def test_ends(self):
    # The portable path has them, too.
    for path in self.paths():
      with config.use_path(path):
        found = pm.phase_type.quantile(
          onp.asarray([-0.5, 0.0, 1.0, 1.5, onp.nan]), [1.0], [[-2.0]]
        )
        nan = onp.nan
        self.assert_close(found, [nan, 0.0, onp.inf, nan, nan])

  def test_edges(self):
    # The fastest of two exits at once, or after a phase that no path enters.
    edges = pm.EdgeRates([0, 0, 1], [2, 2, 2], [0.5, 1.5, 7.0])
    u = onp.asarray([0.25, 0.5, 0.96875])
    for path in self.paths():
      with config.use_path(path):
        found = pm.phase_type.quantile(u, [1.0, 0.0], edges)
        self.assert_close(found, -onp.log1p(-u) / 2.0, 1e-13)

  def test_slopes_of_folded_targets(self):
    # Targets are -log(1 - u) where positive, else log u.
    names = operands.argument_names(False, "value")

    def total(x):
      model = operands.convert([1.0], [[-2.0]], x, None, None, names=names)
      return np.sum(quantiles.evaluate_arrays("folded", model, False))

    x = onp.asarray([0.75, 3.0, -3.0])
    exact = [0.5, 0.5, 0.5 / onp.expm1(3.0)]
    for path in self.paths():
      with config.use_path(path):
        _, slope = gradients.value_and_gradient(total, np.asarray(x))
        self.assert_close(slope, exact, 1e-12)


if __name__ == "__main__":
  absltest.main()
