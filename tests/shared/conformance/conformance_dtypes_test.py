"""Conformance: what goes in as float32 comes out as float32."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import conformance_statistics
from tests.helpers import test_case
from tests.oracle import law_methods

_STATISTICS = ("mean", "variance", "stddev", "moment(2)", "entropy")


class DtypesTest(test_case.TestCase):
  """Each method, and near what it is in float64."""

  @parameterized.named_parameters(*conformance.rows("dtypes"))
  def test_float32(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)
    names = conformance_statistics.existing(family)
    names = [name for name in names if name in _STATISTICS]
    functions = law_methods.METHODS
    if mode != conformance.EAGER and not conformance.FULL:
      # Frameworks take a minute to trace all of them.
      names = []
      functions = ("log_prob", "log_survival_function")

    def methods(parameters, value):
      dist = case.build(**parameters)
      found = {name: getattr(dist, name)(value) for name in functions}
      found["quantile"] = dist.quantile(0.25 + 0.0 * value)
      if mode != conformance.VECTORIZED:
        # A batch has other draws than a loop.
        found["sample"] = dist.sample(seed=3) + 0.0 * value
      for name in names:
        found[name] = conformance_statistics.CALLS[name](dist) + 0.0 * value
      return found

    # Values of the middle: float32 has fewer.
    rows, values = rows[-3:-1], values[-3:-1]
    narrow = conformance_modes.evaluate(methods, mode, rows, values, "float32")
    # Of the same numbers.
    rounded = [
      {k: x.tolist() for k, x in conformance.arrays(row, "float32").items()}
      for row in rows
    ]
    each = [
      conformance_modes.evaluate(methods, conformance.EAGER, [row], [value])
      for row, value in zip(rounded, values, strict=True)
    ]
    wide = {k: onp.concatenate([found[k] for found in each]) for k in each[0]}
    for name, x in narrow.items():
      with self.subTest(name):
        self.assertEqual(x.dtype, onp.float32)
        self.assertEqual(wide[name].dtype, onp.float64)
        if name != "sample":
          self.assert_close(x, wide[name], 1e-4, 1e-5)


if __name__ == "__main__":
  absltest.main()
