"""Conformance: derivatives of statistics in every parameter."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from tests import conformance
from tests import conformance_modes
from tests import conformance_statistics
from tests import test_case
from tests.oracle import law_methods
from tests.oracle import law_statistics

_COUNTS = ("low", "high", "time")


class StatisticsDerivativesTest(test_case.TestCase):
  """Forward and backward, against the same of sums over nodes."""

  @parameterized.named_parameters(*conformance.rows("statistics_derivatives"))
  def test_derivatives(self, family, mode):
    case = conformance.CASES[family]
    names = [
      name
      for name in conformance_statistics.existing(family)
      if (family, name) not in conformance_statistics.JUMPS
    ]
    arrays = conformance.arrays(case.parameters)
    fixed = {k: x for k, x in arrays.items() if case.discrete and k in _COUNTS}
    free = {k: x for k, x in arrays.items() if k not in fixed}
    if not names:
      self.skipTest("there are no statistics")

    def statistics(parameters):
      dist = case.build(**parameters, **fixed)
      return np.stack([conformance_statistics.CALLS[k](dist) for k in names])

    backward, forward = conformance_modes.jacobians(statistics, mode, free)
    for parameter, expected in self._exact(family, names, free).items():
      for i, name in enumerate(names):
        size = onp.max(onp.abs(expected[i]))
        for found, way in ((backward, "backward"), (forward, "forward")):
          with self.subTest(f"{name} in {parameter}, {way}"):
            self.assert_close(
              found[parameter][i], expected[i], 1e-7, 1e-8 * size
            )

  def _exact(self, family, names, free):
    case = conformance.CASES[family]
    found = {}
    with mpmath.workdps(conformance.digits(family)):
      base = conformance.law(family, case.parameters)
      at = conformance_statistics.nodes(family, base)
      functions = law_statistics.statistics(base, at)
      parameters = conformance.exact_parameters(case.parameters)
      for name, x in free.items():
        entries = []
        for index in law_methods.indices(case.parameters[name]):
          near = law_methods.neighbours(case.law, parameters, name, index)
          entries.append([float(near.change(functions[k])) for k in names])
        shape = (len(names), *onp.shape(x))
        found[name] = onp.reshape(onp.asarray(entries).T, shape)
    return found


if __name__ == "__main__":
  absltest.main()
