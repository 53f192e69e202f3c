"""Starts of fits, choices of models, and densities of phases."""

import dataclasses
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from tests.helpers import fit_data
from tests.helpers import test_case

MODE = "numpy"

_SIZES = (1, 3)
if MODE == "jax":  # Each is compiled for seconds.
  _SIZES = (3,)


class FreeNumbersTest(test_case.TestCase):
  """Tests that fixed and irrelevant entries are not free parameters."""

  def test_bounds_of_truncations(self):
    for high in (9.0, math.inf):
      dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.5), 0.5, high)
      free, to_distribution = inference.unconstrained(dist)
      self.assert_close(free, [math.log(1.5)], 1e-15)
      found = to_distribution(free + math.log(2.0))
      self.assert_close(found.distribution.rate, 3.0, 1e-15)
      self.assertEqual(float(found.low), 0.5)
      self.assertEqual(float(found.high), high)
    with self.assertRaisesRegex(ValueError, "tied has 'low': it is fixed; ti"):
      inference.unconstrained(dist, tied=[("low",)])

  def test_a_time_that_has_passed_is_kept(self):
    for dist in (
      pd.ResidualLife(pd.Erlang(2, 1.5), 0.5),
      pd.ResidualLife(pd.NegativeBinomialTrials(1, 0.5), 3.0),
    ):
      free, to_distribution = inference.unconstrained(dist)
      self.assertEqual(free.shape, (1,))
      time = to_distribution(free + 0.5).time
      self.assertEqual(float(time), float(dist.time))

  def test_bounds_of_what_is_tied(self):
    self.require_kernel()
    dist = pd.Coxian([1.0], [0.3, 1.0])
    data = inference.Observations(fit_data.TIMES)
    tied = [("exit_rates[0]", "progression_rates[0]")]
    for name in ("progression_rates", "progression_rates[0]"):
      fit = inference.fit_mle(dist, data, tied=tied, bounds={name: (0.1, 0.2)})
      self.assertEqual(float(fit.distribution.progression_rates[0]), 0.2)
      self.assertEqual(float(fit.distribution.exit_rates[0]), 0.2)
      self.assertEqual(fit.statuses["exit_rates[0]"], "at a bound")

  def test_the_rest_is_fixed(self):
    # Rates that converge to zero are small relative to fixed ones.
    self.require_kernel()
    data = inference.Observations(fit_data.TIMES)
    dist = pd.Coxian([1.5], [0.3, 1.5])
    fixed = ["progression_rates", "exit_rates[1]"]
    fit = inference.fit_mle(dist, data, fixed=fixed)
    self.assertEqual(float(fit.distribution.exit_rates[0]), 0.0)
    self.assertEqual(fit.statuses, {"exit_rates[0]": "on the boundary (zero)"})

  def test_certain_starts(self):
    self.require_kernel()
    data = inference.Observations([1.0, 1.5, 2.0, 2.5])
    dist = pd.AcyclicPhaseType([0.3, 0.7], [1.0, 1.2])
    fit = inference.fit_mle(dist, data, fixed=["rates"])
    self.assert_close(fit.distribution.initial_probs, [1.0, 0.0])
    self.assertEqual(
      fit.statuses,
      {
        "initial_probs[0]": "on the boundary (certain)",
        "initial_probs[1]": "on the boundary (zero)",
      },
    )

  def test_phases_that_have_become_one(self):
    # Then the shares are not determined, but the mean is.
    self.require_kernel()
    data = inference.Observations([0.5, 0.8, 1.0, 1.3, 1.7, 2.0, 2.5])
    one = inference.fit_mle(pd.Erlang(1, 1.0), data)
    two = pd.Hyperexponential([0.4, 0.6], [0.3, 2.0])
    for apart in (1e-12, 1e-10, 1e-8):
      rates = self.host(one.distribution.rate) * onp.asarray([1.0, 1.0 + apart])
      near = two.copy(rates=onp.asarray(rates, one.distribution.dtype))
      found = dataclasses.replace(one, distribution=near, structure=two)
      for status in found.statuses.values():
        self.assertStartsWith(status, "not identified (")
      self.assert_close(
        found.standard_error_of("mean"),
        one.standard_error_of("mean"),
        rtol=0.05,
      )

  def test_phases_that_are_never_reached_end(self):
    # Such short times depend on the first phase only.
    self.require_kernel()
    data = inference.Observations(1e-9 * fit_data.TIMES)
    dist = pd.Coxian([1.0, 1.0], [0.2, 0.3, 1.0], validate_args=True)
    fit = inference.fit_mle(dist, data)
    self.assertTrue(fit.distribution.validate_args)
    self.assertTrue(onp.isfinite(self.host(fit.distribution.mean())))

  def test_probabilities_of_graphs_have_bounds(self):
    # All paths leave the first state at once, and then N is geometric.
    self.require_kernel()

    def transitions(state):
      yield (2, {"go": 1}) if state == 1 else (graphs.ABSORBED, {"stop": 1})

    graph = graphs.Graph.from_transitions(
      transitions, 1, params=("go", "stop"), discrete=True
    )
    start = pd.DiscretePhaseType.from_graph(graph, {"go": 0.5, "stop": 0.3})
    counts = onp.asarray([2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 4.0, 7.0])
    data = inference.Observations(counts)
    fit = inference.fit_mle(start, data, bounds={"params[go]": (0.0, 1.0)})
    self.assertTrue(fit.record.converged)
    self.assertEqual(float(fit.distribution.params["go"]), 1.0)
    self.assert_close(
      fit.distribution.params["stop"], 1 / onp.mean(counts - 1), rtol=1e-6
    )
    self.assertEqual(fit.statuses["params[go]"], "at a bound")

  def test_edges_from_a_phase_to_itself(self):
    self.require_kernel()
    data = inference.Observations(fit_data.TIMES)
    edges = pm.EdgeRates([0, 0, 1], [1, 0, 2], [2.0, 3.0, 0.5])
    dist = pd.PhaseType([1.0, 0.0], edges)
    fit = inference.fit_mle(dist, data)
    same = inference.fit_mle(pd.Hypoexponential([2.0, 0.5]), data)
    self.assertEqual(fit.num_parameters, 2)
    self.assertSameElements(
      fit.statuses, ["subgenerator[0]", "subgenerator[2]"]
    )
    self.assertEqual(float(fit.distribution.subgenerator.parameters[1]), 3.0)
    self.assertAlmostEqual(fit.log_likelihood, same.log_likelihood, places=6)
    self.assertAlmostEqual(fit.aic, same.aic, places=6)

  def test_probabilities_of_edges_sum_to_one(self):
    self.require_kernel()
    counts = [1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 9]
    data = inference.Observations(onp.asarray(counts, onp.float64))
    edges = pm.EdgeProbs(
      [0, 0, 0, 1, 1], [0, 1, 2, 1, 2], [0.4, 0.4, 0.2, 0.8, 0.2]
    )
    dist = pd.DiscretePhaseType([1.0, 0.0], edges, validate_args=True)
    fit = inference.fit_mle(dist, data)
    dense = pd.DiscretePhaseType([1.0, 0.0], [[0.4, 0.4], [0.0, 0.8]])
    same = inference.fit_mle(dense, data)
    self.assertEqual(fit.num_parameters, 3)
    self.assertAlmostEqual(fit.aic, same.aic, places=6)
    probs = self.host(fit.distribution.subtransition.parameters)
    self.assert_close([onp.sum(probs[:3]), onp.sum(probs[3:])], [1.0, 1.0])
    # Without loops, staying is one minus the other edges.
    edges = pm.EdgeProbs([0, 0, 1], [1, 2, 2], [0.4, 0.2, 0.2])
    dist = pd.DiscretePhaseType([1.0, 0.0], edges)
    fit = inference.fit_mle(dist, data)
    self.assertEqual(fit.num_parameters, 3)
    self.assertAlmostEqual(fit.log_likelihood, same.log_likelihood, places=6)
    certain = dist.copy(
      subtransition=edges._replace(parameters=[0.4, 0.6, 0.2])
    )
    self.assertEqual(inference.unconstrained(certain).free.shape, (2,))


class ComparisonTest(test_case.TestCase):
  def test_choice(self):
    chosen = inference.choose_num_phases(
      lambda p: pd.Erlang(p, 1.0 * p),
      inference.Observations([0.8, 0.9, 1.1, 1.2, 1.3, 1.0]),
      (1, 16, 32, 64),
    )
    highest = max(chosen.fits.values(), key=lambda fit: fit.log_likelihood)
    self.assertIs(chosen.best, highest)

  def test_add_phase(self):
    data = inference.Observations(fit_data.TIMES)
    small = inference.fit_mle(inference.initial_guess(data, 1, "coxian"), data)
    grown = inference.add_phase(small.distribution)
    large = inference.fit_mle(grown[0], data, starts=grown[1:])
    self.assertGreater(large.log_likelihood, small.log_likelihood)
    with self.assertRaisesRegex(TypeError, "must be a Coxian"):
      inference.add_phase(pd.Erlang(1, 1.0))

  def test_acyclic_fits_hold_mixtures_of_two_erlangs(self):
    data = inference.Observations(fit_data.TIMES)
    fit = inference.fit_mle(inference.initial_guess(data, 4), data)
    # An example from the reference.
    two = pd.HyperErlang([0.5, 0.5], (2, 2), [1.0, 3.0])
    self.assertGreaterEqual(
      fit.log_likelihood, inference.fit_mle(two, data).log_likelihood - 1e-6
    )

  @parameterized.parameters(
    "acyclic", "coxian", "general", "hyper-erlang", "hyperexponential"
  )
  def test_starts_have_the_mean_of_the_data(self, form):
    data = inference.Observations(fit_data.TIMES)
    for phases in _SIZES:
      dist = inference.initial_guess(data, phases, form)
      self.assertEqual(dist.num_phases, phases)
      self.assert_close(dist.mean(), onp.mean(fit_data.TIMES), rtol=1e-10)

  @parameterized.parameters(
    ((10**400,), "num_phases is 10+...0+: it must be <= 4096"),
    ((2**70,), "num_phases is 1180591620717411303424: it must be <= 4096"),
    ((2, onp.ones(2)), "form is array.*: it must be in "),
  )
  def test_starts_with_wrong_arguments(self, arguments, message):
    data = inference.Observations(fit_data.TIMES)
    with self.assertRaisesRegex(ValueError, message):
      inference.initial_guess(data, *arguments)

  def test_starts_of_thousands_of_phases(self):
    data = inference.Observations([0.5, 1.0, 1.5, 3.0])
    dist = inference.initial_guess(data, 4096, "coxian")
    self.assertTrue(onp.all(self.host(dist.exit_rates) > 0.0))
    # The mean time is that of phases that are passed with falling probability.
    onward, exits = (
      self.host(dist.progression_rates),
      self.host(dist.exit_rates),
    )
    totals = exits + onp.append(onward, 0.0)
    passed = onp.cumprod(onp.append(1.0, onward / totals[:-1]))
    self.assert_close(onp.sum(passed / totals), 1.5, rtol=1e-9)

  def test_starts_for_large_weights(self):
    times = [0.5, 1.0, 1.5, 3.0]
    data = inference.Observations(times, weights=[1e308] * 4)
    self.assert_close(inference.initial_guess(data, 2).mean(), 1.5)

  def test_density(self):
    data = inference.observations_from_density(
      lambda t: 4.0 * t * onp.exp(-2.0 * t)
    )
    fit = inference.fit_mle(pd.Erlang(2, 0.1), data)
    self.assert_close(fit.distribution.rate, 2.0, rtol=1e-6)
    # The entropy of the gamma distribution.
    entropy = 2 - math.log(2.0) - (1 - 0.5772156649015329)
    self.assertAlmostEqual(fit.log_likelihood, -entropy, places=7)
    for criterion in ("aic", "bic"):
      with self.assertRaisesRegex(ValueError, f"{criterion} needs a sample"):
        getattr(fit, criterion)
    # Quadrature nodes are far beyond the last time that matters.
    for dist in (
      pd.Erlang(2, 1.0),
      pd.Hyperexponential([0.5, 0.5], [0.75, 1.5]),
      pd.MatrixWeibull(pd.Erlang(1, 1.0), 1.0),
    ):
      data = inference.observations_from_density(dist.prob)
      fit = inference.fit_mle(pd.Erlang(1, 1.0), data)
      mean = self.host(dist.mean())
      self.assert_close(fit.distribution.rate, 1.0 / mean, rtol=1e-6)
    with self.assertRaisesRegex(ValueError, "the integral of the density is"):
      inference.observations_from_density(lambda t: onp.exp(-2.0 * t))


if __name__ == "__main__":
  absltest.main()
