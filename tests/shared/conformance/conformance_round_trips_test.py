"""Conformance: quantiles of drawn probabilities, of drawn parameters.

|F(Q) - u| <= 8 eps min(u, 1 - u) (1 + Q f(Q) / min(F, 1 - F)), for u from 1e-300
to 1 - 1e-16, and zero below an atom: a few units of what u or Q are rounded to.
F is the law in many digits, from which the F that is inverted may differ by its
own error. What is inverted by its logarithm, or is an exponential function of
another quantile, has an error as that of a logarithm. Of whole numbers Q is the
first one that reaches u.
"""

from absl.testing import absltest
from absl.testing import parameterized
import hypothesis
from hypothesis import strategies
import mpmath
import numpy as onp

from tests.helpers import conformance
from tests.helpers import test_case

MODE = "numpy"
# Compilation takes seconds for each family, eager mode many calls.
_EXAMPLES = 60 if conformance.FULL else 8
_FAMILIES = tuple(conformance.CASES)
if MODE != "numpy":
  _EXAMPLES = 12 if conformance.FULL else 2
if MODE == "jax":
  _FAMILIES = ("coxian", "phase_type", "trials", "weibull")

_EPS = 2.0**-52
_TINY = mpmath.mpf(2) ** -1022
_SETTINGS = hypothesis.settings(
  max_examples=_EXAMPLES, deadline=None, derandomize=True, database=None
)
_COUNT = 6
_BY_LOGARITHMS = (
  *("epochs", "truncated", "pareto", "log_normal", "log_logistic"),
)
# Families whose parameters are positive without other constraints.
_RATES = (
  *("rate", "rates", "progression_rates", "exit_rates", "first", "second"),
  *("concentration", "scale", "growth_rate"),
)

_LOGS = strategies.floats(-300.0, -0.3010299956639812)
_BELOW = _LOGS.map(lambda log: 10.0**log)
_ABOVE = strategies.floats(-15.95, -0.3010299956639812).map(
  lambda log: 1.0 - 10.0**log
)
_ENDS = strategies.sampled_from((1e-300, 1e-16, 0.5, 1 - 2.0**-53))
_PROBS = strategies.lists(
  strategies.one_of(_BELOW, _ABOVE, _ENDS, strategies.floats(1e-3, 0.999)),
  min_size=_COUNT,
  max_size=_COUNT,
)


@strategies.composite
def _parameters(draw, family):
  """Draws valid parameters of a family."""
  case = conformance.CASES[family]
  found = conformance.varied(family, draw(strategies.integers(0, 3)))
  free = [name for name in case.parameters if name in _RATES]
  if "subgenerator" in case.parameters or family == "phase_type_exits":
    free = []  # Row sums are constrained.
  if family in ("near_rates", "truncated"):
    free = []  # These are their main parameters.
  for name in free:
    found[name] = _scaled(draw, case.parameters[name])
  if family == "acyclic":
    found["rates"] = sorted(found["rates"])
  return found


def _scaled(draw, x):
  if isinstance(x, list):
    return [_scaled(draw, y) for y in x]
  return x * 2.0 ** draw(strategies.floats(-3.0, 3.0))


class RoundTripsTest(test_case.TestCase):
  """Tests that F(Q(u)) is u within the documented bound."""

  @parameterized.named_parameters(*((f"_{x}", x) for x in _FAMILIES))
  @test_case.of_bad_values
  def test_quantiles(self, family):
    case = conformance.CASES[family]

    @_SETTINGS
    @hypothesis.given(_parameters(family), _PROBS)
    def check(parameters, probs):
      dist = case.build(**conformance.arrays(parameters))
      found = self.host(dist.quantile(onp.asarray(probs)))
      cdf = self.host(dist.cdf(found))
      survival = self.host(dist.survival_function(found))
      # Integers are summed up; times need small differences.
      digits = max(350, conformance.digits(family))
      with mpmath.workdps(50 if case.discrete else digits):
        law = conformance.law(family, parameters)
        for i, u in enumerate(probs):
          u, x = mpmath.mpf(u), mpmath.mpf(float(found[i]))
          if case.discrete:
            self._check_count(law, u, x)
          elif u <= 0.5:
            self._check_time(family, law, u, x, law.cdf(x), u, cdf[i])
          else:
            self._check_time(family, law, u, x, law.sf(x), 1 - u, survival[i])

    check()

  def _check_time(self, family, law, u, x, exact, asked, own):
    if x < _TINY:
      # The rounded atom, or a number with fewer digits.
      self.assertGreaterEqual(law.cdf(_TINY) * (1 + 4 * _EPS), u)
      return
    if exact == 0:
      # Neighbors of a bound are rounded to it.
      self.assertGreaterEqual(law.cdf(x * (1 + _EPS)), asked)
      return
    size = 1 + x * law.prob(x) / exact
    own = abs(mpmath.mpf(float(own)) - exact)
    self.assertLess(own, 1e-12 * exact * (1 + abs(mpmath.log(exact))))
    if family in _BY_LOGARITHMS:
      size += abs(mpmath.log(asked))
    # The search ends at a neighbor of x, where F has an error of its own.
    ratio = (abs(exact - asked) - 2 * own) / (8 * _EPS * asked * size)
    self.assertLessEqual(float(ratio), 1.0, (float(u), float(x)))

  def _check_count(self, law, u, x):
    # At a tie, or at a probability that is not a float, the next one will do;
    # what counts is F as it is rounded.
    slack = 1e-13 * min(u, 1 - u) + 32 * _EPS * u * (1 - mpmath.log(u))
    self.assertEqual(x, mpmath.floor(x))
    self.assertGreaterEqual(law.cdf(x), u - slack)
    if x >= 1:
      self.assertLess(law.cdf(x - 1), u + slack)


if __name__ == "__main__":
  absltest.main()
