"""Conformance: derivatives of methods in every parameter and in the value.

The laws' are central quotients in so many digits that they are exact. What
derivatives there are forward and backward has to agree with them: a derivative
that is zero by mistake is an error like any other.
"""

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from tests import conformance
from tests import conformance_modes
from tests import test_case
from tests.oracle import law_methods

# Arguments that are whole numbers where time is.
_COUNTS = ("low", "high", "time")
_LEVEL = 0.375


class DerivativesTest(test_case.TestCase):
  """Forward and backward, of methods of values and of quantiles."""

  @parameterized.named_parameters(*conformance.rows("derivatives"))
  def test_derivatives(self, family, mode):
    case = conformance.CASES[family]
    value = float(case.values[len(case.values) // 2])
    arrays = conformance.arrays(case.parameters)
    quantile = not case.discrete
    fixed = {k: x for k, x in arrays.items() if case.discrete and k in _COUNTS}
    free = {k: x for k, x in arrays.items() if k not in fixed}
    if not case.discrete:
      free["value"] = onp.asarray(value)

    def methods(parameters):
      parameters = {**parameters, **fixed}
      t = parameters.pop("value", value)
      dist = case.build(**parameters)
      found = [getattr(dist, name)(t) for name in law_methods.METHODS]
      if quantile:
        found.append(dist.quantile(_LEVEL))
      return np.stack(found)

    backward, forward = conformance_modes.jacobians(methods, mode, free)
    exact = self._exact(family, value, free, quantile)
    for name, expected in exact.items():
      # Sums of what differs in sign are as exact as their largest terms.
      sizes = onp.max(onp.abs(expected), axis=tuple(range(1, expected.ndim)))
      for found, way in ((backward, "backward"), (forward, "forward")):
        for i, size in enumerate(sizes):
          method = (*law_methods.METHODS, "quantile")[i]
          with self.subTest(f"{method} in {name}, {way}"):
            self.assert_close(
              found[name][i], expected[i], 1e-8, 1e-11 * size + 1e-14
            )

  def _exact(self, family, value, free, quantile):
    """The laws' derivatives, (methods, ...) by name."""
    case = conformance.CASES[family]
    with mpmath.workdps(conformance.digits(family)):
      base = conformance.law(family, case.parameters)
      at = law_methods.point(base, value, case.discrete)
      parameters = conformance.exact_parameters(case.parameters)
      level = None
      if quantile:
        level = mpmath.mpf(float(self.host(case.make().quantile(_LEVEL))))
      found = {}
      for name, x in free.items():
        if name == "value":
          found[name] = _in_value(base, mpmath.mpf(value), at, level)
          continue
        entries = []
        for index in law_methods.indices(case.parameters[name]):
          near = law_methods.neighbours(case.law, parameters, name, index)
          change = near.change(
            lambda law: law_methods.point(law, value, case.discrete)
          )
          entries.append(_slopes(at, change))
          if quantile:
            moved = near.change(lambda law: law.cdf(level))
            slope = 0 if level == 0 else -moved / base.prob(level)
            entries[-1].append(float(slope))
        shape = (len(entries[0]), *onp.shape(x))
        found[name] = onp.reshape(onp.asarray(entries).T, shape)
    return found


def _slopes(at, change):
  return [
    float(law_methods.slope(name, at, change)) for name in law_methods.METHODS
  ]


def _in_value(law, t, at, level):
  """Derivatives in the value, on which quantiles do not depend."""
  slope = mpmath.diff(law.prob, t, h=mpmath.mpf(10) ** -30 * t)
  change = law_methods.Point(slope, at.prob, -at.prob, -at.prob)
  found = _slopes(at, change)
  return onp.asarray([*found, 0.0] if level is not None else found)


if __name__ == "__main__":
  absltest.main()
