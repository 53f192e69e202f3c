"""Valid arguments give no warnings but those of NaN results."""

import contextlib
import math
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from tests.helpers import family_cases
from tests.helpers import test_case

MODE = "numpy"
CASES = family_cases.CASES
NAMES = [name for name in CASES if name != "erlang_1000"]
_OF_VALUES = (
  "log_prob",
  "prob",
  "cdf",
  "log_cdf",
  "survival_function",
  "log_survival_function",
  "hazard_function",
  "log_hazard_function",
  "cumulative_hazard",
)
_STATISTICS = ("mean", "variance", "stddev", "entropy", "mode")
_TIMES = (-math.inf, -1.0, 0.0, 1e-30, 1e-5, 1.0, 1e3, 1e10, math.inf, math.nan)
_COUNTS = (-1.0, 0.0, 0.5, 1.0, 7.0, 205.0, 1000.0, 1e6, math.inf, math.nan)
_LOGS = (-math.inf, -1e4, -1.0, -1e-30, 0.0)
_NO_PROBS = (-math.inf, -1.0, 2.0, math.inf, math.nan)
_INVERSES = (
  ("quantile", (0.0, 1e-30, 0.3, 1.0 - 1e-7, 1.0)),
  ("quantile_log_cdf", _LOGS),
  ("quantile_log_survival", _LOGS),
  ("laplace_transform", (0.0, 1.0, 1e30, math.inf)),
  ("moment_generating_function", (-1.0, 0.0, 1e-3, 0.3, 5.0, 1e30)),
)


class WarningsTest(test_case.TestCase):
  """Tests all methods of all families."""

  def setUp(self):
    super().setUp()
    if MODE != "numpy":
      self.skipTest("only NumPy warns")

  def _call(self, function, *arguments):
    # Families may lack methods.
    missing = contextlib.suppress(NotImplementedError)
    with warnings.catch_warnings(), missing:
      warnings.simplefilter("error")
      warnings.filterwarnings("ignore", ".* is NaN")  # The library says so.
      function(*arguments)

  @parameterized.product(name=NAMES, dtype=("float32", "float64"))
  def test_no_warnings(self, name, dtype):
    case = CASES[name]
    dist = case.make(dtype)
    info = onp.finfo(dtype)
    values = _COUNTS
    if not case.discrete:
      values = (*_TIMES, float(info.tiny), float(info.max))
    methods = [(method, (*values, *case.values)) for method in _OF_VALUES]
    for method, arguments in (*methods, *_INVERSES):
      for x in arguments:
        with self.subTest(f"{method}({x})"):
          self._call(getattr(dist, method), onp.asarray(x, dtype))
    for method in _STATISTICS:
      with self.subTest(method):
        self._call(getattr(dist, method))
    for k in (1, 2, 3):
      self._call(dist.moment, k)
    self._call(lambda: dist.sample(5, seed=1))
    self._call(dist.kl_divergence, case.make(dtype))
    if hasattr(dist, "as_phase_type"):
      self._call(dist.as_phase_type)
      self._call(dist.expected_visits)

  @parameterized.parameters(*NAMES)
  @test_case.of_bad_values
  def test_no_probabilities_have_no_quantiles(self, name):
    dist = CASES[name].make()
    for method, values in (
      ("quantile", _NO_PROBS),
      ("quantile_log_cdf", (1.0, 1e17, math.inf, math.nan)),
      ("quantile_log_survival", (1.0, 1e17, math.inf, math.nan)),
    ):
      for x in (*values, onp.asarray(values)):
        with (
          self.subTest(f"{method}({x})"),
          warnings.catch_warnings(record=True) as caught,
        ):
          warnings.simplefilter("always")
          found = getattr(dist, method)(x)
          self.assertTrue(onp.all(onp.isnan(found)))
          # NumPy is silent, and the method warns.
          self.assertLen(caught, 0 if onp.all(onp.isnan(x)) else 1)
          for warning in caught:
            self.assertIn("probability must be", str(warning.message))

  @test_case.of_bad_values
  def test_no_warnings_out_of_range(self):
    # Results that overflow.
    power = pd.MatrixWeibull(pd.Erlang(2, 1.0), 2.0)
    self._call(power.log_prob, 1e300)
    grown = pd.MatrixGompertz(pd.Erlang(2, 1.0), 2.0)
    for method in (grown.cdf, grown.log_prob, grown.hazard_function):
      self._call(method, 1.7e308)
    self._call(pd.Erlang(2, 1e-300).moment, 3)
    self._call(pd.Erlang(1, 1e-300).laplace_transform, 1e300)
    # An undefined distribution, and masses outside the support.
    with self.assertWarnsRegex(RuntimeWarning, "rate = nan"):
      unknown = pd.Erlang(2, math.nan)
    self._call(unknown.quantile_log_cdf, -1.0)
    self._call(pd.Erlang(2, 0.0).entropy)
    self._call(pd.Erlang(2, 1.0).moment_generating_function, math.inf)
    trials = pd.NegativeBinomialTrials(2, 0.25)
    failures = pd.NegativeBinomialFailures(2, 0.25)
    self._call(failures.kl_divergence, trials)
    # Means and variances that are infinite.
    heavy = pd.MatrixLogLogistic(pd.Erlang(3, 2.0), 1.0, 0.125)
    for method in (heavy.mean, heavy.variance, heavy.stddev):
      self._call(method)
    self._call(heavy.moment, 3)
    # Absorption may never come, and some times are late beside a rate.
    caught = pd.PhaseType(
      [0.5, 0.5], [[-1e14, 1e14], [0.0, 0.0]], exit_rates=[0.0, 0.0]
    )
    for base in (caught, pd.Hyperexponential([0.5, 0.5], [1e14, 1.0])):
      self._call(pd.TruncatedPhaseType(base, 0.5).cdf, [0.0, 0.7, 9.0])
    # Nothing is left after an atom of one.
    ended = pd.MatrixGompertz(pd.ZeroInflated(pd.Erlang(1, 1.0), 1.0), 2.0)
    for method in (ended.hazard_function, ended.log_survival_function):
      self._call(method, [0.5, 2.0])
    # All times of this one are long.
    self._call(pd.MatrixPareto(pd.Erlang(1, 3e-6), 5.8).moment, 2)
    grown = pd.Erlang(40, 1.0).moment_generating_function
    self._call(grown, 1.0 - 2.0**-26)


if __name__ == "__main__":
  absltest.main()
