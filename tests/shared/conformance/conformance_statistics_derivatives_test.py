"""Conformance: derivatives of statistics in every parameter."""

import functools

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as np
import numpy as onp

from tests.helpers import conformance
from tests.helpers import conformance_modes
from tests.helpers import conformance_statistics
from tests.helpers import test_case
from tests.oracle import law_methods
from tests.oracle import law_statistics

_COUNTS = ("low", "high", "time")
# Parameters at which densities jump, which quadrature must follow.
_JUMPS = ("low", "high", "boundaries", "delay")


class StatisticsDerivativesTest(test_case.TestCase):
  """Tests derivatives in both modes, against quadrature."""

  @parameterized.named_parameters(*conformance.rows("statistics_derivatives"))
  def test_derivatives(self, family, mode):
    case = conformance.CASES[family]
    names = [
      name
      for name in conformance_statistics.existing(family)
      if (family, name) not in conformance_statistics.INFINITE
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
    values = self._values(family, names)
    for parameter, expected in self._exact(family, names, free).items():
      for i, name in enumerate(names):
        # In a bound beyond which next to nothing is the slope is a difference
        # of two of the value's size.
        size = 1e-8 * onp.max(onp.abs(expected[i])) + 1e-14 * values[i]
        for found, way in ((backward, "backward"), (forward, "forward")):
          with self.subTest(f"{name} in {parameter}, {way}"):
            self.assert_close(found[parameter][i], expected[i], 1e-7, size)

  def _values(self, family, names):
    """Computes the sizes of the statistics."""
    with mpmath.workdps(conformance.digits(family)):
      base = conformance.law(family, conformance.CASES[family].parameters)
      at = conformance_statistics.nodes(
        family, base, conformance.CASES[family].parameters
      )
      functions = law_statistics.statistics(base, at)
      return [abs(float(functions[name](base))) for name in names]

  def _exact(self, family, names, free):
    case = conformance.CASES[family]
    found = {}
    with mpmath.workdps(conformance.digits(family)):
      base = conformance.law(family, case.parameters)
      at = conformance_statistics.nodes(family, base, case.parameters)
      parameters = conformance.exact_parameters(case.parameters)

      def values(pair, moving):
        law, box = pair
        own = conformance_statistics.nodes(family, law, box) if moving else at
        functions = law_statistics.statistics(base, own)
        return tuple(functions[k](law) for k in names)

      for name, x in free.items():
        entries, moving = [], name in _JUMPS
        for index in law_methods.indices(case.parameters[name]):
          near = law_methods.neighbors(
            lambda **box: (case.law(**box), box), parameters, name, index
          )
          change = near.change(functools.partial(values, moving=moving))
          entries.append([float(x) for x in change])
        shape = (len(names), *onp.shape(x))
        found[name] = onp.reshape(onp.asarray(entries).T, shape)
    return found


class DivergencesTest(test_case.TestCase):
  """Tests derivatives of divergences in the parameters of both distributions.

  Where X is as good as never the other density may move by much more than it
  is: what a quadrature leaves out there is an error of 4e-6 in one family.
  """

  @parameterized.named_parameters(*conformance.rows("statistics_derivatives"))
  def test_derivatives(self, family, mode):
    if (family, "kl_divergence") in conformance_statistics.MISSING:
      self.skipTest("there are no divergences")
    case = conformance.CASES[family]
    sets = [conformance.varied(family, i) for i in range(2)]
    free, fixed = {}, [{}, {}]
    for i, parameters in enumerate(sets):
      for name, x in conformance.arrays(parameters).items():
        if name in _JUMPS or (case.discrete and name in _COUNTS):
          fixed[i][name] = x
        else:
          free[f"{name} {i}"] = x

    def divergences(parameters):
      p, q = (case.build(**_of(parameters, i), **fixed[i]) for i in range(2))
      return np.stack([p.kl_divergence(q), p.cross_entropy(q)])

    if mode == conformance.COMPILED and "boundaries" in fixed[0]:
      # Constants of a compiled function may be traced.
      try:
        found = conformance_modes.jacobians(divergences, mode, free)
      except NotImplementedError as error:
        self.assertIn("different boundaries must be concrete", str(error))
        self.skipTest("different boundaries must be concrete")
    else:
      found = conformance_modes.jacobians(divergences, mode, free)
    backward, forward = found
    for parameter, expected in self._exact(family, sets, free).items():
      for i, name in enumerate(("kl_divergence", "cross_entropy")):
        size = onp.max(onp.abs(expected[i]))
        for found, way in ((backward, "backward"), (forward, "forward")):
          with self.subTest(f"{name} in {parameter}, {way}"):
            self.assert_close(
              found[parameter][i], expected[i], 1e-5, 1e-5 * size + 1e-10
            )

  def _exact(self, family, sets, free):
    case = conformance.CASES[family]
    found = {}
    with mpmath.workdps(conformance.digits(family)):
      laws = [conformance.law(family, parameters) for parameters in sets]
      at = conformance_statistics.nodes(family, laws[0], *sets)
      for key, x in free.items():
        name, i = key.split()
        parameters = conformance.exact_parameters(sets[int(i)])
        entries = []
        for index in law_methods.indices(sets[int(i)][name]):
          near = law_methods.neighbors(case.law, parameters, name, index)
          entries.append([float(x) for x in _change(laws, near, at, int(i))])
        found[key] = onp.reshape(onp.asarray(entries).T, (2, *onp.shape(x)))
    return found


def _of(parameters, i):
  """Returns the derivatives in parameters of one distribution."""
  return {
    key.split()[0]: x for key, x in parameters.items() if key.endswith(str(i))
  }


def _change(laws, near, at, i):
  """Computes derivatives of divergence and cross entropy in the i-th argument."""

  def values(law):
    p, q = (law, laws[1]) if i == 0 else (laws[0], law)
    cross = law_statistics.divergence(p, q, at) + law_statistics.entropy(p, at)
    # Divergences depend on deficits of the masses of p and q.
    masses = at.sum(at.masses(q)) - at.sum(at.masses(p))
    return law_statistics.divergence(p, q, at) + masses, cross

  return near.change(values)


if __name__ == "__main__":
  absltest.main()
