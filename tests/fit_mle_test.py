"""Maximum likelihood, and what the data know of it."""

import math
import resource

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic.inference import coordinates
from phasic.inference import derivatives
from phasic.inference import hills
from phasic.inference import mle
from phasic.internal import gradients
from tests import test_case

MODE = "numpy"

_TIMES = 2.0 * onp.random.default_rng(0).weibull(1.5, 60)
_DATA = inference.Observations(
  _TIMES, onp.where(_TIMES > 2.5, math.inf, _TIMES)
)


def _coalescent():
  """Three lineages, of which pairs merge, or one leaves."""

  def transitions(n):
    yield (n - 1 if n > 2 else graphs.ABSORBED), {"merge": n * (n - 1) / 2}
    yield graphs.ABSORBED, {"leave": n}

  names = ("merge", "leave")
  graph = graphs.Graph.from_transitions(transitions, initial=3, params=names)
  return pd.PhaseType.from_graph(graph, {"merge": 1.0, "leave": 0.2})


_LAWS = {
  "coxian": lambda: pd.Coxian([1.0, 1.2], [0.3, 0.2, 1.0]),
  "acyclic": lambda: pd.AcyclicPhaseType([0.3, 0.7], [1.0, 1.5]),
  "general": lambda: pd.PhaseType([0.25, 0.75], [[-2.0, 1.0], [0.0, -1.5]]),
  "hyper-erlang": lambda: pd.HyperErlang([0.5, 0.5], (1, 2), [1.0, 2.0]),
  "graph": _coalescent,
  "atom": lambda: pd.AcyclicPhaseType([0.3, 0.5], [1.0, 1.5], 0.2),
}
_SIZES = (1, 3)
if MODE == "jax":  # Compiles each for seconds.
  _SIZES = (3,)
  _LAWS = {name: _LAWS[name] for name in ("acyclic", "general")}


class CoordinatesTest(test_case.TestCase):
  """Entries, free numbers, and derivatives of one in the other."""

  @parameterized.parameters(*_LAWS)
  def test_round_trip(self, name):
    dist = _LAWS[name]()
    free, to_distribution = inference.unconstrained(dist)
    again = to_distribution(free)
    self.assert_close(
      again.log_prob(_TIMES), self.host(dist.log_prob(_TIMES)), rtol=1e-12
    )
    where = coordinates.Coordinates(dist)
    moved = self.host(free) + onp.linspace(-1.0, 1.0, len(self.host(free)))
    self.assert_close(where.forward(moved), where.entries_of(moved))
    self.assert_close(
      where.free_of(where.entries_of(moved)), moved, rtol=0, atol=1e-13
    )

  @parameterized.parameters("general", "atom", "hyper-erlang")
  def test_derivatives(self, name):
    if name not in _LAWS:
      self.skipTest("compiles for seconds")
    where = coordinates.Coordinates(_LAWS[name]())
    free = where.free_of(where.entries)
    weights = onp.linspace(1.0, 2.0, len(where.names))

    def value(*x):
      """The sum of weights times squares of entries, with many digits."""
      parts = [mpmath.mpf(0)] * len(where.names)
      rest = iter(x)
      for i, last in enumerate(where.reference):
        parts[i] = mpmath.exp(0 if last else next(rest))
      total = mpmath.mpf(0)
      for i, part in enumerate(parts):
        g = where.groups[i]
        if g >= 0:
          own = [p for p, h in zip(parts, where.groups, strict=True) if h == g]
          below = mpmath.fsum(own) + (1 if where.slack[g] else 0)
          part = mpmath.mpf(float(where.totals[g])) * part / below
        total += mpmath.mpf(weights[i]) * part**2
      return total

    entries = where.entries_of(free)
    slopes, second = 2 * weights * entries, onp.diag(2 * weights)
    d = len(free)
    with mpmath.workdps(40):
      one = [tuple(int(i == a) for i in range(d)) for a in range(d)]
      gradient = [float(mpmath.diff(value, tuple(free), n)) for n in one]
      hessian = [
        [
          float(mpmath.diff(value, tuple(free), tuple(onp.add(n, m))))
          for n in one
        ]
        for m in one
      ]
    self.assert_close(
      where.pull(entries, slopes), gradient, rtol=1e-12, atol=1e-14
    )
    self.assert_close(
      where.pull_second(entries, slopes, second),
      hessian,
      rtol=1e-12,
      atol=1e-14,
    )

  def test_gradient_through_the_distribution(self):
    if MODE == "numpy":
      self.skipTest("has no autodiff")
    dist = _LAWS["general"]()
    free, to_distribution = inference.unconstrained(dist)
    value, gradient = gradients.value_and_gradient(
      lambda x: _DATA.log_likelihood(to_distribution(x)), free
    )
    where = coordinates.Coordinates(dist)
    own, slopes = derivatives.value_and_gradient(where, where.entries, _DATA)
    self.assert_close(value, own)
    self.assert_close(gradient, where.pull(where.entries, slopes), rtol=1e-9)

  @parameterized.parameters(*_LAWS)
  def test_scores_sum_up(self, name):
    where = coordinates.Coordinates(_LAWS[name]())
    value, gradient = derivatives.value_and_gradient(
      where, where.entries, _DATA
    )
    self.assertAlmostEqual(
      value, float(self.host(_DATA.log_likelihood(_LAWS[name]()))), places=10
    )
    scores = derivatives.scores(where, where.entries, _DATA)
    self.assert_close(onp.sum(scores, axis=0), gradient, rtol=1e-9)


class FitTest(test_case.TestCase):
  """`fit_mle` where the answer is known."""

  def test_exponential(self):
    fit = inference.fit_mle(pd.Erlang(1, 7.0), _DATA)
    events = onp.sum(_TIMES <= 2.5)
    rate = events / onp.sum(_TIMES)
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
    data = inference.Observations(_TIMES)
    for rate in (1e-9, 1e9):
      fit = inference.fit_mle(pd.Erlang(2, rate), data)
      self.assert_close(fit.distribution.rate, 2 / onp.mean(_TIMES), rtol=1e-6)

  def test_rates_of_a_billion(self):
    # As line searches visit them, where times are about one.
    data = inference.Observations(_TIMES)
    where = coordinates.Coordinates(pd.Coxian([1.0, 1.0], [1.0, 1.0, 1.0]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rates = onp.asarray([1e9, 1.0, 1.0, 1.0, 1.0])
    value, slopes = derivatives.value_and_gradient(where, rates, data)
    # Behind the first phase all leave at a rate of one.
    self.assertAlmostEqual(value / -onp.sum(_TIMES), 1.0, places=6)
    self.assertTrue(onp.all(onp.isfinite(slopes)))
    value, _ = derivatives.value_and_gradient(where, onp.full(5, 1e9), data)
    # The last phase is the slowest: f(t) is about 1e9 exp(-1e9 t).
    expected = onp.sum(math.log(1e9) - 1e9 * _TIMES)
    self.assertAlmostEqual(value / expected, 1.0, places=12)
    far = pd.Coxian([1e9, 1e9], [1e9, 1e9, 1e9])
    fit = inference.fit_mle(far, data)
    self.assertGreater(fit.log_likelihood, -onp.sum(_TIMES))
    # In kilobytes.
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    self.assertLess(after - before, 2**20)

  def test_steps_out_of_proportion_come_back(self):
    where = coordinates.Coordinates(_LAWS["general"]())
    start = where.free_of(where.entries)
    hill = hills.Hill(
      lambda inner, x: derivatives.value_and_gradient(inner, x, _DATA),
      60.0,
      where,
      start,
    )
    height, _ = hill(start)
    for far in (100.0, 1000.0):
      there, slopes = hill(start + far)
      self.assertGreater(there, height)
      self.assertTrue(math.isfinite(there))
      self.assertGreater(float(onp.min(slopes)), 0.0)

  def test_more_starts(self):
    data = inference.Observations(_TIMES)
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
    with self.assertRaisesRegex(ValueError, r"starts\[0\] has other entries"):
      inference.fit_mle(start, data, starts=[pd.Hypoexponential([1.0])])

  def test_tied_and_fixed(self):
    data = inference.Observations(_TIMES)
    start = pd.Hypoexponential([1.0, 4.0])
    tied = inference.fit_mle(start, data, tied=[("rates",)])
    self.assert_close(
      tied.distribution.rates, onp.full(2, 2 / onp.mean(_TIMES)), rtol=1e-7
    )
    self.assertEqual(tied.num_parameters, 1)
    fixed = inference.fit_mle(start, data, fixed=["rates[1]"])
    self.assertEqual(float(self.host(fixed.distribution.rates)[1]), 4.0)
    self.assertTrue(onp.isnan(fixed.standard_errors["rates"][1]))

  def test_bounds(self):
    data = inference.Observations(_TIMES)
    start = pd.Hypoexponential([1.0, 4.0])
    fit = inference.fit_mle(start, data, bounds={"rates[0]": (0.5, 0.7)})
    self.assert_close(self.host(fit.distribution.rates)[0], 0.7, rtol=1e-12)
    self.assertEqual(fit.statuses["rates[0]"], "at a bound")
    self.assertTrue(onp.isnan(fit.standard_errors["rates"][0]))
    self.assertGreater(fit.standard_errors["rates"][1], 0.0)

  def test_probabilities_that_come_back_from_zero(self):
    where = coordinates.Coordinates(pd.Hyperexponential([0.25, 0.75], [1, 2.0]))
    # The others had taken its mass over.
    found = mle._balanced(where, onp.asarray([1e-3, 1.0, 1.0, 2.0]))
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
    # No time is short: none leaves from the first phase.
    self.assertEqual(fit.statuses["exit_rates[0]"], "on the boundary (zero)")
    self.assertTrue(onp.isnan(fit.standard_errors["exit_rates"][0]))
    self.assertEqual(float(self.host(fit.distribution.exit_rates)[0]), 0.0)

  def test_not_identified(self):
    data = inference.Observations([0.5, 1.0, 2.0, 2.5, 0.1, 0.3])
    # Two ways to the same law: what matters is the sum of the rates.
    start = pd.PhaseType.from_graph(
      graphs.Graph.from_transitions(
        lambda n: [(graphs.ABSORBED, {"one": 1.0, "other": 1.0})],
        initial=1,
        params=("one", "other"),
      ),
      {"one": 0.3, "other": 0.5},
    )
    fit = inference.fit_mle(start, data)
    self.assertEqual(set(fit.statuses.values()), {"not identified"})
    self.assertTrue(onp.all(onp.isnan(fit.standard_errors["params"])))
    # The mean is known all the same.
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


class ComparisonTest(test_case.TestCase):
  """Choices, starts and densities."""

  def test_choice(self):
    chosen = inference.choose_num_phases(
      lambda p: pd.Erlang(p, 1.0 * p),
      inference.Observations([0.8, 0.9, 1.1, 1.2, 1.3, 1.0]),
      (1, 16, 32, 64),
    )
    highest = max(chosen.fits.values(), key=lambda fit: fit.log_likelihood)
    self.assertIs(chosen.best, highest)

  def test_growing(self):
    data = inference.Observations(_TIMES)
    small = inference.fit_mle(inference.start_of(data, 1, "coxian"), data)
    grown = inference.with_one_more_phase(small.distribution)
    large = inference.fit_mle(grown[0], data, starts=grown[1:])
    self.assertGreater(large.log_likelihood, small.log_likelihood)
    with self.assertRaisesRegex(TypeError, "must be a Coxian"):
      inference.with_one_more_phase(pd.Erlang(1, 1.0))

  def test_hyper_erlang_starts(self):
    data = inference.Observations(_TIMES)
    found = inference.hyper_erlang_starts(data, 4)
    self.assertLen(found, 2)
    start = inference.start_of(data, 4)
    fit = inference.fit_mle(start, data, starts=found)
    # A case of theirs.
    two = pd.HyperErlang([0.5, 0.5], (2, 2), [1.0, 3.0])
    self.assertGreaterEqual(
      fit.log_likelihood, inference.fit_mle(two, data).log_likelihood - 1e-6
    )
    with self.assertRaisesRegex(ValueError, "num_phases is 1: it must be at"):
      inference.hyper_erlang_starts(data, 1)

  @parameterized.parameters(
    "acyclic", "coxian", "general", "hyper-erlang", "hyperexponential"
  )
  def test_starts_have_the_mean_of_the_data(self, form):
    data = inference.Observations(_TIMES)
    for phases in _SIZES:
      dist = inference.start_of(data, phases, form)
      self.assertEqual(dist.num_phases, phases)
      self.assert_close(dist.mean(), onp.mean(_TIMES), rtol=1e-10)

  def test_density(self):
    data = inference.observations_of_density(
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
    with self.assertRaisesRegex(ValueError, "a mass of"):
      inference.observations_of_density(lambda t: onp.exp(-2.0 * t))


class MistakesTest(test_case.TestCase):
  """Every failure says what to do."""

  def test_increasing_rates(self):
    dist = pd.AcyclicPhaseType([0.5, 0.5], [1.0, 4.0])
    with self.assertRaisesRegex(ValueError, "bounds has 'rates': rates that"):
      inference.fit_mle(dist, _DATA, bounds={"rates": (0.1, 1.5)})
    with self.assertRaisesRegex(ValueError, "tied has 'rates': rates that"):
      inference.fit_mle(dist, _DATA, tied=[("rates",)])

  def test_left_censored(self):
    data = inference.Observations([-1.0, -1.0, 0.0], [1.0, 2.0, 3.0])
    with self.assertRaisesRegex(ValueError, "all observations are left-cens"):
      inference.fit_mle(pd.Erlang(1, 1.0), data)

  def test_starts_and_steps(self):
    with self.assertRaisesRegex(ValueError, "num_starts is 0"):
      inference.fit_em(pd.Erlang(1, 1.0), _DATA, num_starts=0)
    with self.assertRaisesRegex(ValueError, "max_steps is -1"):
      inference.fit_em(pd.Erlang(1, 1.0), _DATA, max_steps=-1)

  def test_moments_of_too_many_phases(self):
    with self.assertRaisesRegex(ValueError, "needs .* phases: at most 1000"):
      inference.match_moments(1.0, 1.0 + 1e-10)

  def _refused(self, message, dist, data, **options):
    with self.assertRaisesRegex((TypeError, ValueError), message):
      inference.fit_mle(dist, data, **options)

  def test_data(self):
    start = pd.Hypoexponential([1.0, 2.0])
    censored = inference.Observations([1.0, 2.0], [math.inf, math.inf])
    self._refused("a fit needs an event", start, censored)
    zeros = inference.Observations([0.0, 1.0, 2.0])
    self._refused("start from one with prob_zero > 0", start, zeros)
    few = inference.Observations([1.0, 1.0])
    self._refused("fewer phases, or fix", pd.Coxian([1.0], [0.5, 1.0]), few)
    none = inference.Observations([1.0], weights=[0.0])
    self._refused("no observations", start, none)
    self._refused("must be inference.Obs", start, [1.0, 2.0])

  def test_start(self):
    data = inference.Observations(_TIMES)
    batch = pd.Erlang(2, [1.0, 2.0])
    self._refused("index the batch", batch, data)
    zero = pd.PhaseType([1.0], [[0.0]])
    self._refused("nothing to fit", zero, data)
    start = pd.Hypoexponential([1.0, 2.0])
    self._refused("nothing to fit", start, data, fixed=["rates"])
    mixed = pd.Hyperexponential([1.0, 1.0], [0.4, 3.0])
    self._refused("probs.*sum", mixed, data)
    cut = pd.TruncatedPhaseType(start, 0.0, 0.5)
    self._refused("or leave the observation out", cut, data)
    self._refused("distribution is int: it must be", 3, data)

  def test_names(self):
    data = inference.Observations(_TIMES)
    start = pd.Hypoexponential([1.0, 2.0])
    self._refused(
      "no such parameter; there are rates", start, data, fixed=["r"]
    )
    self._refused("sequence of names", start, data, fixed="rate")
    self._refused("sequence of names", start, data, tied=["rates"])
    self._refused("bounds has 'x'", start, data, bounds={"x": (0, 1)})
    self._refused("in this order", start, data, bounds={"rates": (2, 1)})
    mixed = pd.Hyperexponential([0.5, 0.5], [0.4, 3.0])
    self._refused("cannot be tied", mixed, data, tied=[["probs"]])
    self._refused("sum to one", mixed, data, bounds={"probs": (0, 0.5)})


if __name__ == "__main__":
  absltest.main()
