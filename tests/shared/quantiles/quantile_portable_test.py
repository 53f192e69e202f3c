"""Quantiles in all forms on all paths, against closed forms."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.model import operands
from phasic.math.quantiles import quantiles
from tests.helpers import test_case

_LOGS = onp.asarray([-40.0, -3.0, -0.75, -0.5, -1e-3, -1e-12])
# -log(1 - u) where positive, else log u.
_FOLDED = onp.asarray([-40.0, -3.0, -0.75, 0.75, 3.0, 40.0, 700.0])


def _folded(x, model, discrete=False):
  names = operands.argument_names(discrete, "value")
  initial, matrix, exits, atom = (*model, None, None)[:4]
  arguments = operands.convert(initial, matrix, x, exits, atom, names=names)
  return quantiles.evaluate_arrays("folded", arguments, discrete)


def _log_upper(x, folded=True):
  """Computes log(1 - u) of the folded form, or of log u."""
  with mpmath.workdps(40):
    rest = [mpmath.log(-mpmath.expm1(-abs(mpmath.mpf(y)))) for y in x.tolist()]
    logs = onp.asarray([float(y) for y in rest])
  return onp.where(x > 0, -x, logs) if folded else logs


class TimesTest(test_case.TestCase):
  def test_exponential(self):
    model = [1.0], [[-2.0]]
    for path in self.paths():
      with kernel_ops.use_path(path):
        q = pm.phase_type.quantile_log_survival(_LOGS, *model)
        self.assert_close(q, -_LOGS / 2, 2e-13)
        q = pm.phase_type.quantile_log_cdf(_LOGS, *model)
        self.assert_close(q, -_log_upper(_LOGS, False) / 2, 2e-13)
        q = _folded(_FOLDED, model)
        self.assert_close(q, -_log_upper(_FOLDED) / 2, 2e-13)

  def test_atom_and_trap(self):
    # F(t) = 1/4 + 9/16 (1 - exp(-2 t)), a quarter of the paths is trapped.
    model = [0.75, 0.0], [[-2.0, 0.5], [0.0, 0.0]], None, 0.25
    for path in self.paths():
      with kernel_ops.use_path(path):
        for t in (0.0625, 0.5, 3.0):
          mass = 9.0 / 16.0 * -math.expm1(-2.0 * t)
          u, v = 0.25 + mass, 0.75 - mass
          for q in (
            pm.phase_type.quantile(u, *model),
            pm.phase_type.quantile_log_cdf(math.log(u), *model),
            pm.phase_type.quantile_log_survival(math.log(v), *model),
            _folded(onp.asarray([math.log(u)]), model)[0],
            _folded(onp.asarray([-math.log(v)]), model)[0],
          ):
            self.assert_close(q, t, 1e-12)
        # Below the atom, and above all that is ever absorbed.
        ends = onp.log(onp.asarray([0.125, 0.9]))
        q = pm.phase_type.quantile_log_cdf(ends, *model)
        self.assert_close(q, [0.0, onp.inf])
        q = pm.phase_type.quantile_log_survival(onp.log([0.875, 0.1]), *model)
        self.assert_close(q, [0.0, onp.inf])
        self.assert_close(
          _folded(onp.asarray([ends[0], 2.5]), model), [0.0, onp.inf]
        )

  @test_case.of_bad_values
  def test_ends(self):
    model = [1.0], [[-2.0]]
    x = onp.asarray([-onp.inf, 0.0, 0.1, onp.nan])
    for path in self.paths():
      with kernel_ops.use_path(path):
        q = pm.phase_type.quantile_log_cdf(x, *model)
        self.assert_close(q, [0.0, onp.inf, onp.nan, onp.nan])
        q = pm.phase_type.quantile_log_survival(x, *model)
        self.assert_close(q, [onp.inf, 0.0, onp.nan, onp.nan])


class CountsTest(test_case.TestCase):
  @parameterized.parameters(0.5, 0.9375)
  def test_geometric(self, stay):
    model = [1.0], [[stay]]
    # Between two counts the quantile is the later one.
    counts = onp.asarray([1.0, 2.0, 7.0, 50.0])
    for path in self.paths():
      with kernel_ops.use_path(path):
        logs = (counts - 0.5) * math.log(stay)
        q = pm.discrete_phase_type.quantile_log_survival(logs, *model)
        self.assert_close(q, counts)
        logs = onp.log(-onp.expm1((counts - 0.5) * math.log(stay)))
        q = pm.discrete_phase_type.quantile_log_cdf(logs, *model)
        self.assert_close(q, counts)
        x = onp.concatenate([-(counts - 0.5) * math.log(stay), logs])
        use = onp.abs(x) >= math.log(2.0)
        q = self.host(_folded(x, model, True))
        self.assert_close(q[use], onp.concatenate([counts, counts])[use])

  def test_atom_and_trap(self):
    # F(k) = 1/4 + 3/8 (1 - 2^-k): half of the paths that leave are trapped.
    model = [0.75, 0.0], [[0.5, 0.25], [0.0, 1.0]], None, 0.25
    for path in self.paths():
      with kernel_ops.use_path(path):
        for k in (1, 2, 6):
          u = 0.25 + 0.375 * (1.0 - 2.0 ** (0.5 - k))
          for q in (
            pm.discrete_phase_type.quantile(u, *model),
            pm.discrete_phase_type.quantile_log_cdf(math.log(u), *model),
            pm.discrete_phase_type.quantile_log_survival(
              math.log1p(-u), *model
            ),
          ):
            self.assert_close(q, float(k))
        q = pm.discrete_phase_type.quantile_log_cdf(
          onp.log(onp.asarray([0.125, 0.75])), *model
        )
        self.assert_close(q, [0.0, onp.inf])


if __name__ == "__main__":
  absltest.main()
