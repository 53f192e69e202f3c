"""Maximum likelihood with known solutions."""

import math
import resource
import warnings

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import likelihoods
from phasic.inference.mle import optimizer
from phasic.inference.parameters import coordinates
from tests.helpers import fit_data
from tests.helpers import test_case

MODE = "numpy"

_CENSORED = fit_data.censored()


class FitTest(test_case.TestCase):
  def test_everything_fixed(self):
    dist = pd.Hypoexponential([1.0, 2.0])
    fit = inference.fit_mle(dist, _CENSORED, fixed=["rates"])
    self.assert_close(fit.log_likelihood, _CENSORED.log_likelihood(dist))
    self.assertTrue(fit.record.converged)
    self.assertStartsWith(fit.record.message, "nothing is fitted")
    self.assertEqual(fit.num_parameters, 0)
    self.assertEqual(fit.statuses, {})
    self.assertEqual(fit.standard_errors, {})
    self.assertTrue(onp.isnan(fit.standard_error_of("mean")))
    by_em = inference.fit_em(dist, _CENSORED, fixed=["rates"])
    self.assertEqual(by_em.log_likelihood, fit.log_likelihood)
    with self.assertRaisesRegex(ValueError, "is -inf under the distribution"):
      inference.fit_em(pd.PhaseType([1.0], [[0.0]]), _CENSORED)

  def test_exponential(self):
    fit = inference.fit_mle(pd.Erlang(1, 7.0), _CENSORED)
    events = onp.sum(fit_data.TIMES <= 2.5)
    rate = events / onp.sum(fit_data.TIMES)
    self.assert_close(fit.distribution.rate, rate, rtol=1e-7)
    error = rate / math.sqrt(events)
    self.assert_close(fit.standard_errors["rate"], error, rtol=1e-5)
    self.assert_close(fit.standard_error_of("mean"), error / rate**2, rtol=1e-5)
    self.assert_close(
      fit.standard_error_of("survival_function", 1.0),
      error * math.exp(-rate),
      rtol=1e-5,
    )
    self.assert_close(
      fit.standard_error_of("quantile", 0.5),
      error * math.log(2) / rate**2,
      rtol=1e-5,
    )
    self.assertAlmostEqual(fit.aic, 2 - 2 * fit.log_likelihood)
    self.assertAlmostEqual(fit.bic, math.log(60) - 2 * fit.log_likelihood)
    self.assertEqual(fit.statuses, {"rate": "identified"})
    self.assertTrue(fit.record.converged)

  def test_far_starts(self):
    if MODE == "jax":
      self.skipTest("the search is the same")
    data = inference.Observations(fit_data.TIMES)
    for rate in (1e-200, 1e-80, 1e-9, 1e9, 1e100):
      fit = inference.fit_mle(pd.Erlang(2, rate), data)
      self.assert_close(
        fit.distribution.rate, 2 / onp.mean(fit_data.TIMES), rtol=1e-6
      )
    # A branch without absorption leaves all mass to the other.
    start = pd.HyperErlang([0.5, 0.5], (2, 2), [1e-200, 1e-200])
    fit = inference.fit_mle(start, data, fixed=["rates[1]"])
    self.assert_close(
      self.host(fit.distribution.rates)[0],
      2 / onp.mean(fit_data.TIMES),
      rtol=1e-6,
    )

  def test_times_of_thousands_give_no_warnings(self):
    if MODE == "jax":
      self.skipTest("the search is the same")
    # Steps of the search change powers of the times by far.
    times = onp.linspace(1e3, 1e4, 20)
    with warnings.catch_warnings():
      warnings.simplefilter("error", RuntimeWarning)
      fit = inference.fit_mle(
        pd.MatrixWeibull(pd.Erlang(1, 1.0), 1.0),
        inference.Observations(times),
      )
    shape = float(fit.distribution.concentration)
    rate = float(fit.distribution.distribution.rate)
    # Slopes of the log likelihood in rate and shape are zero.
    powers = rate * times**shape
    self.assert_close(onp.mean(powers), 1.0, 1e-5)
    slope = 1 / shape + onp.mean(onp.log(times) * (1.0 - powers))
    self.assert_close(slope, 0.0, 0.0, 1e-5)

  def test_starts_in_other_units(self):
    # Without scaling the two branches diverge.
    data = fit_data.censored()
    rates = onp.asarray([1.0, 1.2])
    known = inference.fit_mle(pd.HyperErlang([0.5, 0.5], (1, 4), rates), data)
    for scale in (1e-12, 1e3):
      start = pd.HyperErlang([0.5, 0.5], (1, 4), scale * rates)
      for fitted in (inference.fit_mle, inference.fit_em):
        fit = fitted(start, data)
        self.assertAlmostEqual(fit.log_likelihood, known.log_likelihood, 6)
    # A fixed rate keeps its units.
    fit = inference.fit_mle(
      pd.Hyperexponential([0.5, 0.5], [1e3, 1e3]), data, fixed=["rates[1]"]
    )
    self.assertEqual(float(self.host(fit.distribution.rates)[1]), 1e3)

  def test_rates_of_a_billion(self):
    # Line searches visit such rates, for times near one.
    data = inference.Observations(fit_data.TIMES)
    where = coordinates.Coordinates(pd.Coxian([1.0, 1.0], [1.0, 1.0, 1.0]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rates = onp.asarray([1e9, 1.0, 1.0, 1.0, 1.0])
    value, slopes = likelihood_derivatives.value_and_gradient(
      where, rates, data
    )
    # All phases after the first have rate one.
    self.assertAlmostEqual(value / -onp.sum(fit_data.TIMES), 1.0, places=6)
    self.assertTrue(onp.all(onp.isfinite(slopes)))
    value, _ = likelihood_derivatives.value_and_gradient(
      where, onp.full(5, 1e9), data
    )
    # The last phase is the slowest: f(t) is about 1e9 exp(-1e9 t).
    expected = onp.sum(math.log(1e9) - 1e9 * fit_data.TIMES)
    self.assertAlmostEqual(value / expected, 1.0, places=12)
    far = pd.Coxian([1e9, 1e9], [1e9, 1e9, 1e9])
    fit = inference.fit_mle(far, data)
    self.assertGreater(fit.log_likelihood, -onp.sum(fit_data.TIMES))
    # The unit is kilobytes.
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    self.assertLess(after - before, 2**20)

  def test_steps_out_of_proportion_come_back(self):
    where = coordinates.Coordinates(
      pd.PhaseType([0.25, 0.75], [[-2.0, 1.0], [0.0, -1.5]])
    )
    start = where.to_unconstrained(where.entries)
    searcher = optimizer.Optimizer(
      where,
      likelihoods.DataLikelihood(where, _CENSORED),
      onp.zeros(len(where.names)),
      onp.full(len(where.names), math.inf),
      max_steps=1,
      tolerance=1e-6,
    )
    objective = searcher.objective(where, start)
    value, _ = objective(start)
    for far in (100.0, 1000.0):
      there, slopes = objective(start + far)
      self.assertGreater(there, value)
      self.assertTrue(math.isfinite(there))
      self.assertGreater(float(onp.min(slopes)), 0.0)

  def test_more_starts(self):
    data = inference.Observations(fit_data.TIMES)
    start = pd.Hypoexponential([1.0, 4.0])
    more = [pd.Hypoexponential([0.1, 0.2]), pd.Hypoexponential([5.0, 4.0])]
    told = []
    fit = inference.fit_mle(
      start,
      data,
      starts=more,
      num_starts=2,
      progress=lambda count, best: told.append((count, best)),
    )
    self.assertLen(fit.record.reached, 4)
    self.assertEqual(told[-1], (4, max(fit.record.reached)))
    with self.assertRaisesRegex(ValueError, r"starts\[0\] differs from dist"):
      inference.fit_mle(start, data, starts=[pd.Hypoexponential([1.0])])

  def test_tied_and_fixed(self):
    data = inference.Observations(fit_data.TIMES)
    start = pd.Hypoexponential([1.0, 4.0])
    tied = inference.fit_mle(start, data, tied=[("rates",)])
    self.assert_close(
      tied.distribution.rates,
      onp.full(2, 2 / onp.mean(fit_data.TIMES)),
      rtol=1e-7,
    )
    self.assertEqual(tied.num_parameters, 1)
    fixed = inference.fit_mle(start, data, fixed=["rates[1]"])
    self.assertEqual(float(self.host(fixed.distribution.rates)[1]), 4.0)
    self.assertTrue(onp.isnan(fixed.standard_errors["rates"][1]))

  def test_bounds(self):
    data = inference.Observations(fit_data.TIMES)
    start = pd.Hypoexponential([1.0, 4.0])
    fit = inference.fit_mle(start, data, bounds={"rates[0]": (0.5, 0.7)})
    self.assert_close(self.host(fit.distribution.rates)[0], 0.7, rtol=1e-12)
    self.assertEqual(fit.statuses["rates[0]"], "at a bound")
    self.assertTrue(onp.isnan(fit.standard_errors["rates"][0]))
    self.assertGreater(fit.standard_errors["rates"][1], 0.0)

  def test_saddle_between_bounds(self):
    # Equal rates are a stationary point by symmetry, here a saddle; the way up
    # from it leads out of the bounds.
    times = onp.asarray([0.5, 1.2, 2.2, 3.1, 4.0, 0.7, 1.6, 2.8])
    seen = onp.arange(8) != 4

    def log_likelihood(a, b):
      density = a * b * (onp.exp(-b * times) - onp.exp(-a * times)) / (a - b)
      after = (a * onp.exp(-b * times) - b * onp.exp(-a * times)) / (a - b)
      return onp.sum(onp.log(onp.where(seen, density, after)))

    fit = inference.fit_mle(
      pd.Hypoexponential([1.0, 2.0]),
      inference.Observations.right_censored(times, seen),
      bounds={"rates": (0.1, 1.0)},
    )
    highest = max(log_likelihood(1.0, b) for b in onp.linspace(0.8, 0.9, 101))
    self.assertGreater(fit.log_likelihood, highest - 1e-9)
    self.assertIn("at a bound", fit.statuses.values())

  def test_parameters_of_graphs_have_their_names(self):
    graph = graphs.models.illness_death()
    params = {
      "illness": 0.4,
      "recovery": 0.0,
      "death_healthy": 0.1,
      "death_ill": 0.8,
    }
    # One time and two causes determine two rates.
    data = inference.Observations([1.0, 1.0], cause=[0, 1])
    fit = inference.fit_mle(
      pd.GraphPhaseType(graph, params), data, fixed=["params[illness]"]
    )
    self.assertSameElements(
      fit.statuses, ["params[death_healthy]", "params[death_ill]"]
    )
    self.assertSameElements(fit.distribution.params, params)

    def log_likelihood(healthy, ill):
      leaves = 0.4 + healthy
      path = (math.exp(-ill) - math.exp(-leaves)) / (leaves - ill)
      return math.log(healthy * math.exp(-leaves)) + math.log(0.4 * ill * path)

    top = [
      float(fit.distribution.params[name])
      for name in ("death_healthy", "death_ill")
    ]
    self.assertAlmostEqual(fit.log_likelihood, log_likelihood(*top), places=10)
    for i in (0, 1):
      for factor in (0.99, 1.01):
        near = list(top)
        near[i] *= factor
        self.assertLess(log_likelihood(*near), fit.log_likelihood)

  def test_bounds_of_an_entry_and_of_its_parameter(self):
    # The rate of an exponential law is one over the mean, 1 / 1.5 here.
    data = inference.Observations([0.5, 1.0, 1.5, 3.0])
    one, all_of_them = {"rates[0]": (0.7, 0.8)}, {"rates": (0.1, 10.0)}
    for bounds in (one | all_of_them, all_of_them | one):
      start = pd.Hypoexponential([1.0])
      fit = inference.fit_mle(start, data, bounds=bounds)
      self.assert_close(self.host(fit.distribution.rates), [0.7], rtol=1e-12)

  def test_probabilities_that_come_back_from_zero(self):
    where = coordinates.Coordinates(pd.Hyperexponential([0.25, 0.75], [1, 2.0]))
    # Its mass had moved to the other phases.
    found = where.balanced(onp.asarray([1e-3, 1.0, 1.0, 2.0]))
    self.assert_close(found, [1e-3 / 1.001, 1 / 1.001, 1.0, 2.0])

  def test_lower_bound_is_met(self):
    data = inference.Observations([0.2, 0.4, 0.5, 0.7, 1.2, 4.0])
    # exp(log(3)) is above 3.
    for low in (2.0, 3.0, 5.0, 7.0):
      bounds = {"rate": (low, 10.0)}
      fit = inference.fit_mle(pd.Erlang(1, 1.0), data, bounds=bounds)
      self.assertEqual(float(fit.distribution.rate), low)
      self.assertEqual(fit.at_bounds, ("rate",))
      self.assertTrue(fit.record.converged)

  def test_zeros_stay_and_boundary_is_named(self):
    data = inference.Observations([0.8, 0.9, 1.1, 1.2, 1.3, 1.0, 1.5])
    start = pd.PhaseType([1.0, 0.0], [[-2.0, 1.0], [0.0, -1.5]])
    fit = inference.fit_mle(start, data)
    matrix = self.host(fit.distribution.subgenerator)
    self.assertEqual(matrix[1, 0], 0.0)
    # No time is short, so no path leaves from the first phase.
    self.assertEqual(fit.statuses["exit_rates[0]"], "on the boundary (zero)")
    self.assertTrue(onp.isnan(fit.standard_errors["exit_rates"][0]))
    self.assertEqual(float(self.host(fit.distribution.exit_rates)[0]), 0.0)

  def test_no_zeros_for_an_atom(self):
    # The parameter has one entry.
    start = pd.ZeroInflated(pd.Erlang(2, 1.0), 0.3)
    fit = inference.fit_mle(start, inference.Observations(fit_data.TIMES))
    self.assertEqual(float(fit.distribution.prob_zero), 0.0)
    self.assertEqual(fit.statuses["prob_zero"], "on the boundary (zero)")
    self.assertTrue(math.isnan(fit.standard_errors["prob_zero"]))
    self.assert_close(
      fit.standard_errors["distribution.rate"],
      2.0 / onp.mean(fit_data.TIMES) / math.sqrt(2 * len(fit_data.TIMES)),
      rtol=1e-5,
    )

  def test_float32(self):
    times = onp.asarray(fit_data.TIMES, onp.float32)
    start = pd.Erlang(2, onp.asarray(0.5, onp.float32))
    fit = inference.fit_mle(start, inference.Observations(times))
    self.assertTrue(fit.record.converged, fit.record.message)
    rate = 2.0 / onp.mean(fit_data.TIMES)
    self.assert_close(fit.distribution.rate, rate, rtol=1e-3)
    error = rate / math.sqrt(2 * len(fit_data.TIMES))
    self.assert_close(fit.standard_errors["rate"], error, rtol=1e-3)

  def test_slopes_that_are_left_are_told(self):
    # One step does not reach the optimum, and one rate keeps its units.
    data = inference.Observations(onp.asarray(fit_data.TIMES) * 1e-150)
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      start = pd.Hyperexponential([0.5, 0.5], [1.0, 1.0])
      fit = inference.fit_mle(
        start, data, fixed=["rates[1]"], max_steps=1, starts=()
      )
    self.assertFalse(fit.record.converged)
    self.assertRegex(fit.record.message, r"a slope of (0\..*|1) is left")

  def test_not_identified(self):
    data = inference.Observations([0.5, 1.0, 2.0, 2.5, 0.1, 0.3])
    # Only the sum of the rates matters.
    start = pd.PhaseType.from_graph(
      graphs.Graph.from_transitions(
        lambda n: [(graphs.ABSORBED, {"one": 1.0, "other": 1.0})],
        initial=1,
        params=("one", "other"),
      ),
      {"one": 0.3, "other": 0.5},
    )
    fit = inference.fit_mle(start, data)
    self.assertEqual(
      set(fit.statuses.values()), {"not identified (flat likelihood)"}
    )
    self.assertEqual(set(fit.standard_errors), set(fit.statuses))
    for error in fit.standard_errors.values():
      self.assertTrue(math.isnan(error))
    # The mean is still determined.
    known = inference.fit_mle(pd.Erlang(1, 1.0), data)
    self.assert_close(
      fit.standard_error_of("mean"),
      known.standard_error_of("mean"),
      rtol=1e-5,
    )

  def test_counts(self):
    counts = [1.0, 1.0, 2.0, 3.0, 5.0, 1.0, 2.0]
    fit = inference.fit_mle(
      pd.DiscretePhaseType([1.0], [[0.2]]), inference.Observations(counts)
    )
    stays = 1 - len(counts) / onp.sum(counts)
    self.assert_close(fit.distribution.subtransition, [[stays]], rtol=1e-6)


if __name__ == "__main__":
  absltest.main()
