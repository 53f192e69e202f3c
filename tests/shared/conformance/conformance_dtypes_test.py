"""Conformance: float32 arguments give float32 results."""

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
  """Tests dtypes of methods, and compares them with float64."""

  @parameterized.named_parameters(*conformance.rows("dtypes"))
  def test_float32(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)
    names = conformance_statistics.existing(family)
    names = [name for name in names if name in _STATISTICS]
    functions = law_methods.METHODS
    if mode != conformance.EAGER and not conformance.FULL:
      # Tracing all of them takes a minute.
      names = []
      functions = ("log_prob", "log_survival_function")

    def methods(parameters, value):
      dist = case.build(**parameters)
      found = {name: getattr(dist, name)(value) for name in functions}
      found["quantile"] = dist.quantile(0.25 + 0.0 * value)
      if mode != conformance.VECTORIZED:
        # The draws of a batch differ from those of a loop.
        found["sample"] = dist.sample(seed=3) + 0.0 * value
      for name in names:
        found[name] = conformance_statistics.CALLS[name](dist) + 0.0 * value
      return found

    # Values in the middle of the distribution suit float32's range.
    rows, values = rows[-3:-1], values[-3:-1]
    narrow = conformance_modes.evaluate(methods, mode, rows, values, "float32")
    # Both use the same numbers.
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
