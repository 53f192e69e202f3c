"""Conformance where 64-bit numbers are switched off: every family, in float32.

By default a third of the families is compiled; with PHASIC_FULL_SWEEPS all are.
"""

import math

from absl.testing import absltest
from absl.testing import parameterized
import jax
import mpmath
import numpy as np

from tests.generated.jax.helpers import conformance
from tests.generated.jax.helpers import conformance_statistics
from tests.oracle import law_methods

_EPS = 2.0**-23
_PROBS = (1e-6, 0.25, 0.5, 0.9375)
_COUNT = 400
# Of the Kolmogorov-Smirnov distance, with probability 1e-4.
_DISTANCE = 2.23 / math.sqrt(_COUNT)
_MOMENTS = ("mean", "variance", "stddev")
_FAMILIES = tuple(conformance.CASES)
if not conformance.FULL:
  _FAMILIES = _FAMILIES[::3]


class Float32Test(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.assertFalse(jax.config.jax_enable_x64)

  @parameterized.named_parameters(*((f"_{x}", x) for x in _FAMILIES))
  def test_family(self, family):
    """Whatever numbers it is made of; one trace serves all of them."""
    case = conformance.CASES[family]
    moments = [
      name
      for name in conformance_statistics.existing(family)
      if name in _MOMENTS
    ]
    values = np.asarray(case.values[-4:-1], np.float32)
    traces = []

    @jax.jit
    def methods(dist, values, probs, key):
      traces.append(None)
      found = {
        name: getattr(dist, name)(values) for name in law_methods.METHODS
      }
      found |= {name: getattr(dist, name)() for name in moments}
      found["quantile"] = dist.quantile(probs)
      found["sample"] = dist.sample(_COUNT, seed=key)
      return found

    arguments = (values, np.asarray(_PROBS, np.float32), jax.random.key(3))
    dists = {
      "float32": case.make("float32"),
      "float64": case.make("float64"),
      "numbers": case.build(**case.parameters),
    }
    found = {}
    for kind, dist in dists.items():
      with self.subTest(kind):
        self.assertEqual(dist.dtype, "float32")
        found[kind] = jax.tree.map(np.asarray, methods(dist, *arguments))
        for name, x in found[kind].items():
          self.assertEqual(x.dtype, np.float32, name)
          np.testing.assert_array_equal(x, found["float32"][name], name)
    self.assertLen(traces, 1)
    rounded = {
      name: x.tolist()
      for name, x in conformance.arrays(case.parameters, "float32").items()
    }
    with mpmath.workdps(conformance.digits(family)):
      law = conformance.law(family, rounded)
      self._check_methods(case, law, values, found["float32"])
      self._check_quantiles(case, law, found["float32"]["quantile"])
      self._check_sample(law, found["float32"]["sample"])
    exact = conformance_statistics.exact(family, 0)
    for name in moments:
      with self.subTest(name):
        np.testing.assert_allclose(found["float32"][name], exact[name], 4e-6)

  def _check_methods(self, case, law, values, found):
    for i, value in enumerate(values):
      at = law_methods.point(law, float(value), case.discrete)
      if at.cdf == 0:
        continue  # It was rounded to a bound.
      logs = [abs(mpmath.log(x)) for x in (at.prob, at.sf)]
      size = float(max(1, *logs))
      for name in law_methods.METHODS:
        with self.subTest(f"{name}({value})"):
          exact = float(law_methods.value(name, at))
          # Logarithms' errors are those of what they are logarithms of.
          small = "log" in name or "cumulative" in name
          bound = 16 * _EPS * size * (1.0 if small else exact)
          error = abs(float(found[name][i]) - exact)
          self.assertLessEqual(error, bound + 1e-37, exact)

  def _check_quantiles(self, case, law, found):
    for prob, x in zip(_PROBS, found, strict=True):
      u, x = mpmath.mpf(float(np.float32(prob))), mpmath.mpf(float(x))
      with self.subTest(f"quantile({prob})"):
        if case.discrete:
          self.assertGreaterEqual(law.cdf(x), u * (1 - 16 * _EPS))
          if x >= 1:
            self.assertLess(law.cdf(x - 1), u * (1 + 16 * _EPS))
        elif x == 0:
          self.assertLessEqual(u, law.cdf(x) * (1 + 4 * _EPS))
        else:
          low = min(u, 1 - u)
          moved = x * law.prob(x) / min(law.cdf(x), law.sf(x))
          bound = 8 * _EPS * low * (1 + moved)
          error = abs(law.cdf(x) - u)
          self.assertLessEqual(error, bound, float(error / bound))

  def _check_sample(self, law, found):
    points, counts = np.unique(found, return_counts=True)
    below = np.cumsum(counts) / _COUNT
    exact = [float(law.cdf(mpmath.mpf(float(x)))) for x in points]
    self.assertLess(np.max(np.abs(below - exact)), _DISTANCE)


if __name__ == "__main__":
  absltest.main()
