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

from phasic import distributions
from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import test_case
from tests.oracle import law_methods

MODE = "numpy"
# Arguments that are integers in discrete time.
_COUNTS = ("low", "high", "time")
_INVERSES = {
  "quantile": lambda dist: dist.quantile(0.375),
  "sample": lambda dist: dist.sample(seed=7),
  "quantile_log_cdf": lambda dist: dist.quantile_log_cdf(-0.75),
  "quantile_log_survival": lambda dist: dist.quantile_log_survival(-12.0),
}
_OF_LOGARITHMS = True
if MODE == "jax":
  _OF_LOGARITHMS = conformance.FULL  # Each is a search that must be compiled.
_ONE_SEARCH = False
if MODE == "tf":
  _ONE_SEARCH = True  # Vectorized searches are slow to trace.
if not _OF_LOGARITHMS:
  del _INVERSES["quantile_log_cdf"], _INVERSES["quantile_log_survival"]


class DerivativesTest(test_case.TestCase):
  """Tests derivatives of methods of values, quantiles and samples, in two modes.

  Quantiles and samples X at a fixed probability move by -F_theta(X) / f(X).
  Where there may be an atom samples have no derivatives: `sampling_test`.
  """

  @parameterized.named_parameters(*conformance.rows("derivatives"))
  def test_derivatives(self, family, mode):
    case = conformance.CASES[family]
    value = float(case.values[len(case.values) // 2])
    arrays = conformance.arrays(case.parameters)
    inverses = {} if case.discrete else dict(_INVERSES)
    if _ONE_SEARCH and mode == conformance.VECTORIZED:
      inverses = {k: f for k, f in inverses.items() if k == "quantile"}
    fully = distributions.FULLY_REPARAMETERIZED
    if inverses and case.make().reparameterization_type is not fully:
      inverses.pop("sample", None)
    fixed = {k: x for k, x in arrays.items() if case.discrete and k in _COUNTS}
    free = {k: x for k, x in arrays.items() if k not in fixed}
    if not case.discrete:
      free["value"] = onp.asarray(value)

    def methods(parameters):
      parameters = {**parameters, **fixed}
      t = parameters.pop("value", value)
      dist = case.build(**parameters)
      found = [getattr(dist, name)(t) for name in law_methods.METHODS]
      found += [inverse(dist) for inverse in inverses.values()]
      return np.stack(found)

    backward, forward = conformance_modes.jacobians(methods, mode, free)
    exact = self._exact(family, value, free, tuple(inverses))
    names = (*law_methods.METHODS, *inverses)
    for name, expected in exact.items():
      # Errors of sums with mixed signs are relative to the largest terms.
      sizes = onp.max(onp.abs(expected), axis=tuple(range(1, expected.ndim)))
      for found, way in ((backward, "backward"), (forward, "forward")):
        for i, size in enumerate(sizes):
          with self.subTest(f"{names[i]} in {name}, {way}"):
            self.assert_close(
              found[name][i], expected[i], 1e-8, 1e-11 * size + 1e-14
            )

  def _exact(self, family, value, free, inverses):
    """Computes exact derivatives, (methods, ...) by name."""
    case = conformance.CASES[family]
    with mpmath.workdps(conformance.digits(family)):
      base = conformance.law(family, case.parameters)
      at = law_methods.point(base, value, case.discrete)
      parameters = conformance.exact_parameters(case.parameters)
      levels = list(self._levels(base, case.make(), inverses))
      found = {}
      for name, x in free.items():
        if name == "value":
          found[name] = _in_value(base, mpmath.mpf(value), at, len(inverses))
          continue
        entries = []
        for index in law_methods.indices(case.parameters[name]):
          near = law_methods.neighbors(case.law, parameters, name, index)
          change = near.change(
            lambda law: law_methods.point(law, value, case.discrete)
          )
          entries.append(_slopes(at, change))
          for level, late in levels:
            entries[-1].append(float(_moved(base, near, level, late)))
        shape = (len(entries[0]), *onp.shape(x))
        found[name] = onp.reshape(onp.asarray(entries).T, shape)
    return found

  def _levels(self, law, dist, inverses):
    """Returns quantiles or samples, and the function that they invert."""
    for name in inverses:
      level = mpmath.mpf(float(self.host(_INVERSES[name](dist))))
      # Masses that do not sum to one change only one of F and 1 - F.
      late = name == "sample" and law.cdf(level) > 0.5
      yield level, late or name == "quantile_log_survival"


def _moved(law, near, level, late):
  """Computes the derivative of a quantile at a fixed probability."""
  if level == 0:
    return 0
  if late:
    return near.change(lambda law: law.sf(level)) / law.prob(level)
  return -near.change(lambda law: law.cdf(level)) / law.prob(level)


def _slopes(at, change):
  return [
    float(law_methods.slope(name, at, change)) for name in law_methods.METHODS
  ]


def _in_value(law, t, at, count):
  """Computes derivatives in the value, zero for quantiles."""
  slope = mpmath.diff(law.prob, t, h=mpmath.mpf(10) ** -30 * t)
  change = law_methods.Point(slope, at.prob, -at.prob, -at.prob)
  return onp.asarray([*_slopes(at, change), *[0.0] * count])


if __name__ == "__main__":
  absltest.main()
