"""Conformance: statistics, against exact expectations."""

import re

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import conformance_statistics
from tests.helpers import test_case
from tests.oracle import law_statistics

# Statistics by formulas; others use quadrature in library or oracle.
_CLOSED = ("mean", "variance", "stddev", "moment(2)")


class StatisticsTest(test_case.TestCase):
  """Tests each statistic, or its error."""

  @parameterized.named_parameters(*conformance.rows("statistics"))
  def test_statistics(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)
    names = conformance_statistics.existing(family)
    count = 2 if mode == conformance.VECTORIZED else 1
    rows, values = rows[:count], values[:count]

    def statistics(parameters, value):
      del value
      dist = case.build(**parameters)
      return {k: conformance_statistics.CALLS[k](dist) for k in names}

    if names:
      found = conformance_modes.evaluate(statistics, mode, rows, values)
      with mpmath.workdps(conformance.digits(family)):
        known = conformance.law(family, rows[0]).second is not None
      for i in range(len(rows)):
        exact = conformance_statistics.exact(family, i)
        for name in names:
          with self.subTest(f"{name} {i}"):
            rtol = 1e-12 if known and name in _CLOSED else 1e-9
            self.assert_close(found[name][i], exact[name], rtol)
    if mode == conformance.EAGER:
      self._check_missing(family)
      self._check_divergences(family)

  def _check_missing(self, family):
    """Checks that the table lists exactly the missing statistics."""
    dist = conformance.CASES[family].make()
    calls = {**conformance_statistics.CALLS, **conformance_statistics.OTHERS}
    for name, call in calls.items():
      with self.subTest(name):
        why = conformance_statistics.MISSING.get((family, name))
        if why is None:
          call(dist)
          continue
        start = rf"^{type(dist).__name__} has no {re.escape(name)}"
        with self.assertRaisesRegex(NotImplementedError, f"{start}.*{why}"):
          call(dist)

  def _check_divergences(self, family):
    if (family, "kl_divergence") in conformance_statistics.MISSING:
      return
    case = conformance.CASES[family]
    p = case.make()
    varied = conformance.varied(family, 1)
    q = case.build(**conformance.arrays(varied))
    with mpmath.workdps(conformance.digits(family)):
      law = conformance.law(family, case.parameters)
      other = conformance.law(family, varied)
      at = conformance_statistics.nodes(family, law, case.parameters, varied)
      exact = law_statistics.divergence(law, other, at)
      cross = exact + law_statistics.entropy(law, at)
    self.assert_close(p.kl_divergence(q), float(exact), 1e-8)
    self.assert_close(p.cross_entropy(q), float(cross), 1e-9)
    self.assert_close(p.kl_divergence(p), onp.zeros(()), 0.0, 1e-12)


if __name__ == "__main__":
  absltest.main()
