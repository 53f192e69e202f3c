"""Conformance: methods of a value, against exact values."""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case
from tests.oracle import law_methods


class ValuesTest(test_case.TestCase):
  """Tests relative errors of methods, also in tails."""

  @parameterized.named_parameters(*conformance.rows("values"))
  def test_methods(self, family, mode):
    case = conformance.CASES[family]
    rows, values = conformance.points(family, mode)

    def methods(parameters, value):
      dist = case.build(**parameters)
      return {name: getattr(dist, name)(value) for name in law_methods.METHODS}

    found = conformance_modes.evaluate(methods, mode, rows, values)
    with mpmath.workdps(conformance.digits(family)):
      laws = [conformance.law(family, row) for row in rows]
      at = [
        law_methods.point(law, t, case.discrete)
        for law, t in zip(laws, values, strict=True)
      ]
      for name in law_methods.METHODS:
        expected = [float(law_methods.value(name, p)) for p in at]
        # Methods that use logarithms lose digits for large logarithms.
        sizes = [float(abs(mpmath.log(p.prob))) for p in at]
        sizes += [float(abs(mpmath.log(p.sf))) for p in at]
        rtol = 1e-12 if "log" in name else 1e-12 * (1 + min(700, max(sizes)))
        with self.subTest(name):
          atol = 1e-14 if "log" in name or "cum" in name else 1e-300
          if case.discrete and name == "log_hazard_function":
            atol *= 1 + max(sizes)
          self.assert_close(found[name], onp.asarray(expected), rtol, atol)


if __name__ == "__main__":
  absltest.main()
