"""Programs of users: what they return, in closed form."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import jax

from tests.users import jax_binding
from tests.users import jax_gradients
from tests.users import jax_rewards
from tests.users import numpy_coalescent
from tests.users import numpy_functions
from tests.users import numpy_survival
from tests.users import numpy_system
from tests.users import numpy_waiting_times
from tests.users import tf_module
from tests.users import tf_training

jax.config.update("jax_enable_x64", True)

# Times to a merger of four, three and two lineages at twice the usual rate.
_MERGERS = [1 / 12, 1 / 6, 1 / 2]
# The sum of these is at most t with probability
# 1 - sum_i exp(-r_i t) prod_j!=i r_j / (r_j - r_i).
_BEFORE = 1 - (
  math.exp(-2 * 0.5) * (12 / 10) * (6 / 4)
  + math.exp(-6 * 0.5) * (12 / 6) * (2 / -4)
  + math.exp(-12 * 0.5) * (6 / -6) * (2 / -10)
)
# Three events; the exposure is 8.
_RATE = 3 / 8
_LOG_LIKELIHOOD = 3 * math.log(_RATE) - 3
_LOG_ERLANG = sum(math.log(t) - t for t in (0.5, 1.0, 1.5))
_PROGRAMS = {
  "jax_binding": (jax_binding, {"value": 8, "slope": 12, "along": 12}),
  "jax_gradients": (jax_gradients, {"value": -_LOG_ERLANG, "slope": 3.0 - 6}),
  "jax_rewards": (
    jax_rewards,
    {"first": 0.5, "second": 0.125, "covariance": 0.0, "total": 0.625},
  ),
  "numpy_coalescent": (
    numpy_coalescent,
    {"mean": sum(_MERGERS), "before": _BEFORE, "changed": _BEFORE},
  ),
  "numpy_functions": (
    numpy_functions,
    {
      "value": 3 * math.log(2) - 8,
      "slope": 1.5 - 4,
      "mean": 0.75,
      "count": 0.75**2 * 0.25,
      "portable": -math.expm1(-1.0),
    },
  ),
  "numpy_survival": (
    numpy_survival,
    {"rate": _RATE, "bic": math.log(5) - 2 * _LOG_LIKELIHOOD},
  ),
  "numpy_system": (
    numpy_system,
    {
      "parallel": 1 + 0.5 - 1 / 3,
      "series": 1 / 3,
      "both": 1.5,
      "dead": 0.375,
      "old": 0.5,
      "hazard": 1.0,
    },
  ),
  "numpy_waiting_times": (
    numpy_waiting_times,
    {
      "mean": 1.0,
      "late": 3 * math.exp(-2.0),
      # Where (1 + 2 t) exp(-2 t) is one half.
      "median": 0.8391734950083303,
      "moment": 1.5,
    },
  ),
  "tf_module": (tf_module, {"before": 0.5, "after": 0.25}),
  "tf_training": (tf_training, {"rate": 2.0}),
}


class UsersTest(parameterized.TestCase):
  @parameterized.parameters(*_PROGRAMS)
  def test_figures(self, name):
    module, expected = _PROGRAMS[name]
    found = module.main()
    self.assertEqual(set(found), set(expected))
    for key, value in expected.items():
      self.assertAlmostEqual(found[key], value, delta=1e-6, msg=key)


if __name__ == "__main__":
  absltest.main()
