"""Conformance: statistics against expectations under the laws."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests import conformance
from tests import conformance_modes
from tests import conformance_statistics
from tests import test_case
from tests.oracle import law_statistics

# Formulas; the others are by quadrature, in the library or in the oracle.
_CLOSED = ("mean", "variance", "stddev", "moment(2)")


class StatisticsTest(test_case.TestCase):
  """Each against the law, or refused with a reason."""

  @parameterized.named_parameters(*conformance.rows("statistics"))
  def test_statistics(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)
    names = conformance_statistics.existing(family)
    names = [
      name
      for name in names
      if (family, name) not in conformance_statistics.JUMPS
    ]
    count = 2 if mode == conformance.VECTORISED else 1
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
    """What is not compared says so where it is not there."""
    names = conformance_statistics.existing(family)
    dist = conformance.CASES[family].make()
    for name in conformance_statistics.names(family):
      if name in names:
        continue
      with self.subTest(name):
        try:
          conformance_statistics.CALLS[name](dist)
        except NotImplementedError as error:
          self.assertRegex(str(error), r"^\w+ has no ")

  def _check_divergences(self, family):
    if "entropy" not in conformance_statistics.existing(family):
      return
    case = conformance.CASES[family]
    p = case.make()
    q = case.build(**conformance.arrays(conformance.varied(family, 1)))
    with mpmath.workdps(conformance.digits(family)):
      law = conformance.law(family, case.parameters)
      other = conformance.law(family, conformance.varied(family, 1))
      at = conformance_statistics.nodes(family, law)
      exact = law_statistics.divergence(law, other, at)
      cross = exact + law_statistics.entropy(law, at)
    self.assert_close(p.kl_divergence(q), float(exact), 1e-8)
    self.assert_close(p.cross_entropy(q), float(cross), 1e-9)
    self.assert_close(p.kl_divergence(p), onp.zeros(()), 0.0, 1e-12)


if __name__ == "__main__":
  absltest.main()
