"""Errors of fits, with advice."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from tests.helpers import fit_data
from tests.helpers import test_case

_CENSORED = fit_data.censored()


class MistakesTest(test_case.TestCase):
  def test_increasing_rates(self):
    dist = pd.AcyclicPhaseType([0.5, 0.5], [1.0, 4.0])
    with self.assertRaisesRegex(ValueError, "bounds has 'rates': a parameter"):
      inference.fit_mle(dist, _CENSORED, bounds={"rates": (0.1, 1.5)})
    with self.assertRaisesRegex(ValueError, "tied has 'rates': a parameter"):
      inference.fit_mle(dist, _CENSORED, tied=[("rates",)])

  def test_free_numbers_of_other_shapes(self):
    _, to_distribution = inference.unconstrained(pd.Coxian([1.0], [0.5, 1.0]))
    for shape in ((), (2,), (4,), (2, 3)):
      with self.assertRaisesRegex(
        ValueError, r"free has .*: it must be \(3,\)"
      ):
        to_distribution(onp.zeros(shape))

  def test_diagonals(self):
    dist = pd.PhaseType([0.5, 0.5], [[-2.0, 1.0], [0.5, -1.0]])
    message = r"has 'subgenerator\[1, 1\]': it is not fitted"
    with self.assertRaisesRegex(ValueError, f"fixed {message}"):
      inference.fit_mle(dist, _CENSORED, fixed=["subgenerator[1, 1]"])
    with self.assertRaisesRegex(ValueError, f"tied {message}"):
      inference.unconstrained(dist, tied=[("subgenerator[1, 1]",)])

  def test_left_censored(self):
    data = inference.Observations([-1.0, -1.0, 0.0], [1.0, 2.0, 3.0])
    with self.assertRaisesRegex(ValueError, "all observations are left-cens"):
      inference.fit_mle(pd.Erlang(1, 1.0), data)

  def test_starts_and_steps(self):
    with self.assertRaisesRegex(ValueError, "num_starts is 0"):
      inference.fit_em(pd.Erlang(1, 1.0), _CENSORED, num_starts=0)
    with self.assertRaisesRegex(ValueError, "max_steps is -1"):
      inference.fit_em(pd.Erlang(1, 1.0), _CENSORED, max_steps=-1)
    self._refused("num_starts is 0: it must be >= 1", num_starts=0)
    self._refused("num_starts is 1.5: .* whole", num_starts=1.5)
    self._refused("max_steps is -1: it must be >= 0", max_steps=-1)
    self._refused("seed is -1: it must be >= 0", **{"seed": -1})
    self._refused("tolerance is nan: it must", tolerance=math.nan)
    with self.assertRaisesRegex(ValueError, "tolerance is -1"):
      inference.fit_em(pd.Erlang(1, 1.0), _CENSORED, tolerance=-1)

  def test_starts_of_no_observations(self):
    with self.assertRaisesRegex(TypeError, "observations is list: it must be"):
      inference.initial_guess([1.0, 2.0], 2)

  def test_starts_for_times_without_rates(self):
    for scale in (1e-320, 1e307):
      data = inference.Observations([1.0 * scale, 2.0 * scale, 9.0 * scale])
      with self.assertRaisesRegex(ValueError, "give the times in another unit"):
        inference.initial_guess(data, 2)

  def test_moments_of_too_many_phases(self):
    with self.assertRaisesRegex(ValueError, "it must have at most 1000"):
      inference.match_moments(1.0, 1.0 + 1e-10)

  def test_moments_that_are_none(self):
    for arguments, options, message in (
      ((None, 2.0), {}, "mean is None: it must be a number"),
      (("1", 2.0), {}, "mean is '1': it must be a number"),
      ((1.0, 2j), {}, "second is 2j: it must be a number"),
      ((1.0, math.nan), {}, "second is nan: moments of times must be"),
      ((-1.0, 2.0), {}, "mean is -1.0: moments of times must be"),
      ((1.0, 0.5), {}, "second is 0.5: it must be above the square"),
      ((1e200, 1e300), {}, "mean is 1e.200: .* in another unit"),
      ((1e-200, 1e-300), {}, "mean is 1e-200: .* in another unit"),
      ((1e-100, 1e-100), {}, "below 1e.60 times that"),
      ((1e100, 2.5e200, 1e300), {}, "third is 1e.300: it must be above"),
      ((1.0, 3.0), {"num_phases": 1.5}, "num_phases is 1.5: .* whole number"),
      ((1.0, 3.0, 15.0), {"num_phases": "3"}, "num_phases is '3': .* whole"),
      ((1.0, 3.0, 15.0), {"num_phases": 0}, "num_phases is 0: it must be >= 1"),
    ):
      with self.assertRaisesRegex((TypeError, ValueError), message):
        inference.match_moments(*arguments, **options)

  def test_densities_that_are_none(self):
    with self.assertRaisesRegex(TypeError, "density is None: it must be a"):
      inference.observations_from_density(None)
    with self.assertRaisesRegex(TypeError, "scale is '1': it must be a number"):
      inference.observations_from_density(math.exp, scale="1")
    with self.assertRaisesRegex(ValueError, "tolerance is nan: it must be in"):
      inference.observations_from_density(math.exp, tolerance=math.nan)

  def test_numbers_of_phases_that_are_none(self):
    def start(p):
      return pd.Erlang(p, 1.0)

    for sizes in (3, None, "12", [1.5]):
      with self.assertRaisesRegex(TypeError, "it must be a .*whole"):
        inference.choose_num_phases(start, _CENSORED, sizes)
    with self.assertRaisesRegex(
      ValueError, r"num_phases\[1\] is 0: it must be"
    ):
      inference.choose_num_phases(start, _CENSORED, (1, 0))
    with self.assertRaisesRegex(
      TypeError, "start is <Erlang .*it must be a fun"
    ):
      inference.choose_num_phases(start(1), _CENSORED, (1, 2))

  def _refused(self, message, dist=None, data=_CENSORED, **options):
    dist = pd.Erlang(1, 1.0) if dist is None else dist
    with self.assertRaisesRegex((TypeError, ValueError), message):
      inference.fit_mle(dist, data, **options)

  def test_data(self):
    start = pd.Hypoexponential([1.0, 2.0])
    censored = inference.Observations([1.0, 2.0], [math.inf, math.inf])
    self._refused("a fit needs an event", start, censored)
    zeros = inference.Observations([0.0, 1.0, 2.0])
    self._refused("start from ZeroInflated.dist, p.", start, zeros)
    few = inference.Observations([1.0, 1.0])
    self._refused("fewer phases, or fix", pd.Coxian([1.0], [0.5, 1.0]), few)
    none = inference.Observations([1.0], weights=[0.0])
    self._refused("all weights are zero: a fit needs", start, none)
    self._refused("must be inference.Obs", start, [1.0, 2.0])

  @test_case.of_bad_values
  def test_start(self):
    data = inference.Observations(fit_data.TIMES)
    batch = pd.Erlang(2, [1.0, 2.0])
    self._refused(
      "since one distribution is fitted at a time; index it", batch, data
    )
    zero = pd.PhaseType([1.0], [[0.0]])
    self._refused("is -inf under the distribution", zero, data)
    start = pd.Hypoexponential([1.0, 2.0])
    mixed = pd.Hyperexponential([1.0, 1.0], [0.4, 3.0])
    self._refused("mixture_probs.*sum", mixed, data)
    cut = pd.TruncatedPhaseType(start, 0.0, 0.5)
    self._refused("or leave the observation out", cut, data)
    self._refused("dist is int: it must be", 3, data)

  def test_start_without_slopes(self):
    # Derivatives this far in the tail need too many steps.
    data = inference.Observations([1.0, 1.01, 1.02])
    start = pd.HyperErlang([0.5, 0.5], (60, 60), [1e5, 1e5])
    said = "gradient .* at .*'rates.0.': 100000.*: start"
    self._refused(said, start, data, fixed=["rates[1]"])

  def test_names(self):
    data = inference.Observations(fit_data.TIMES)
    start = pd.Hypoexponential([1.0, 2.0])
    self._refused(
      "no such parameter or entry; the parameters are rates, and",
      start,
      data,
      fixed=["r"],
    )
    self._refused("sequence of names", start, data, fixed="rate")
    self._refused("sequence of names", start, data, tied=["rates"])
    self._refused(r"^tied\[1\] is 'a'", start, data, tied=[["rates"], "a"])
    self._refused("bounds has 'x'", start, data, bounds={"x": (0, 1)})
    self._refused("the lower one first", start, data, bounds={"rates": (2, 1)})
    self._refused("`fixed` keeps", start, data, bounds={"rates": (1, 1)})
    mixed = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    self._refused("cannot be tied", mixed, data, tied=[["mixture_probs"]])
    self._refused("sum to one", mixed, data, bounds={"mixture_probs": (0, 0.5)})

  def test_values_of_standard_errors(self):
    data = inference.Observations([0.5, 1.5, 2.0])
    fit = inference.fit_mle(pd.Erlang(1, 1.0), data)
    for method, value, said in (
      ("quantile", 2.0, r"value = 2.0: quantile has .* between 0 and 1 only"),
      ("quantile", 1.0, "between 0 and 1 only"),
      ("quantile", 0.0, "between 0 and 1 only"),
      ("quantile", [0.5, -1.0], r"value\[1\] = -1.0: quantile has"),
      ("quantile", math.nan, "value = nan: it must be a number"),
      ("quantile_log_cdf", 0.5, "between -inf and 0 only"),
      ("quantile_log_survival", 0.0, "between -inf and 0 only"),
      ("cdf", [1.0, math.nan], r"value\[1\] = nan: it must be a number"),
      ("moment", 0, "k is 0: it must be a positive integer"),
      ("moment", 1.5, "k is 1.5: it must be a positive integer"),
    ):
      with self.assertRaisesRegex(ValueError, said):
        fit.standard_error_of(method, value)

  def test_no_names(self):
    start = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    self._refused("fixed is None: .* sequence of names", start, fixed=None)
    self._refused("tied is None: .* groups of names", start, tied=None)
    self._refused("tied is 'rates': .* groups", start, tied="rates")
    self._refused(r"tied\[0\] is None: .* of names", start, tied=[None])
    self._refused("tolerance is 'a': it must be a number", tolerance="a")

  def test_bounds(self):
    for bounds in ({"rate": 1.0}, {"rate": (0.0, 1.0, 2.0)}, {"rate": "ab"}):
      self._refused("bounds of 'rate' are .* two numbers", bounds=bounds)
    self._refused("of 'rate' are .* two", bounds={"rate": (None, 1.0)})
    self._refused("bounds is .* map names to pairs", bounds=[("rate", (0, 1))])
    # Both constraints hold, so neither may exhaust the other.
    start = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    bounds = {"rates": (1.0, 3.0), "rates[1]": (0.1, 1.0)}
    self._refused(
      "they must overlap with .*, the other bounds of rates.1.",
      start,
      bounds=bounds,
    )

  def test_other_starts(self):
    self._refused(
      "starts is <Erlang .*it must be a list", starts=pd.Erlang(1, 1)
    )
    self._refused(r"starts\[0\] is dict: it must be", starts=[{"rate": 1.0}])
    batch = pd.Erlang(1, [1.0, 2.0])
    self._refused(r"starts\[0\] has batch shape", starts=[batch])


if __name__ == "__main__":
  absltest.main()
