"""float32 values beside float64 parameters, and what stays an error."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import static
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
_CASES = {k: x for k, x in family_cases.CASES.items() if k != "erlang_1000"}
_FAMILIES = tuple(_CASES)
if MODE != "numpy":  # Each is compiled for seconds.
  _FAMILIES = ("erlang", "weibull", "zero_inflated", "trials")
_METHODS = ("log_prob", "cdf", "log_survival_function")


class PrecisionTest(test_case.TestCase):
  @parameterized.parameters(*_FAMILIES)
  def test_families(self, family):
    case = _CASES[family]
    dist = case.make()
    values = onp.asarray(case.values[1:4], onp.float32)
    for method in _METHODS:
      call = getattr(dist, method)
      if MODE == "tf":
        with self.assertRaisesRegex(
          TypeError, "value is float32 and .* float64"
        ):
          call(values)
      else:
        found = call(values)
        self.assertEqual(static.dtype_name(found), "float64")
        self.assert_close(found, call(values.astype(onp.float64)), 0.0)

  @parameterized.parameters(*_FAMILIES[:4])
  def test_float64_beside_float32_is_an_error(self, family):
    dist = _CASES[family].make("float32")
    value = onp.asarray(_CASES[family].values[2])
    with self.assertRaisesRegex(TypeError, "value is float64 and .* float32"):
      dist.log_prob(value)
    self.assertEqual(static.dtype_name(dist.log_prob(1.0)), "float32")
    narrow = onp.asarray(value, onp.float32)
    self.assertEqual(static.dtype_name(dist.log_prob(narrow)), "float32")

  def test_levels(self):
    level = onp.asarray(0.25, onp.float32)
    dist = pd.Erlang(2, onp.asarray(0.75))
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "value is float32"):
        dist.quantile(level)
    else:
      self.assert_close(dist.quantile(level), dist.quantile(0.25), 0.0)

  def test_functions(self):
    model = ([1.0], onp.asarray([[-0.5]]))
    value = onp.asarray(2.0, onp.float32)
    if MODE == "tf":
      with self.assertRaisesRegex(
        TypeError, "float32.*float64|float64.*float32"
      ):
        pm.phase_type.survival_function(value, *model)
    else:
      found = pm.phase_type.survival_function(value, *model)
      self.assertEqual(static.dtype_name(found), "float64")
      self.assert_close(found, onp.exp(-1.0), 1e-14)
    with self.assertRaisesRegex(TypeError, "float32.*float64|float64.*float32"):
      pm.phase_type.survival_function(2.0, onp.ones(1, onp.float32), model[1])
    with self.assertRaisesRegex(TypeError, "float32.*float64|float64.*float32"):
      pm.phase_type.survival_function(
        onp.asarray(2.0), [1.0], -np.asarray(onp.ones((1, 1), onp.float32))
      )

  def test_half_precision(self):
    # tests/jax/distributions/half_precision_test.py has the rule of JAX.
    value = onp.asarray([0.5, 2.0], onp.float16)
    dist = pd.Erlang(2, onp.asarray(0.75))
    calls = {
      "value": lambda: dist.log_prob(value),
      "rate": lambda: pd.Erlang(2, value).log_prob(1.0),
      "s": lambda: pm.phase_type.moment_generating_function(
        value, [1.0], [[-4.0]]
      ),
    }
    for name, call in calls.items():
      if MODE == "jax":
        self.assertIn(call().dtype.name, ("float16", "float64"))
      else:
        with self.assertRaisesRegex(TypeError, f"{name} has dtype float16"):
          call()


if __name__ == "__main__":
  absltest.main()
