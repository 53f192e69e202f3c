"""Fits of chains whose rates change at known times."""

import math

from absl.testing import absltest
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from tests.helpers import test_case

MODE = "numpy"

_INF = math.inf
# Exact times, and times of censoring, before and after the change at one.
_TIMES = onp.asarray([0.1, 0.4, 0.5, 0.9, 1.2, 1.25, 1.6, 2.5, 0.7, 3.0])
_ENDS = onp.append(_TIMES[:8], [_INF, _INF])
# Those of three causes; the last two are not known.
_CAUSES = onp.asarray([0, 1, 0, 0, 1, 0, 1, 1, -1, -1])


def _pair(first, second, boundary=1.0):
  graph = graphs.models.kingman(2)
  return pd.Epochs(graph, [[first], [second]], [boundary])


def _risks(first, second):
  names = ("failure", "sale")
  ends = [
    (graphs.ABSORBED("failure"), [1.0, 0.0]),
    (graphs.ABSORBED("sale"), [0.0, 1.0]),
  ]
  graph = graphs.Graph.from_transitions(lambda _: ends, "running", names)
  params = [dict(zip(names, x, strict=True)) for x in (first, second)]
  return pd.Epochs(graph, params, [1.0])


def _exposures(times):
  return onp.asarray(
    [onp.sum(onp.minimum(times, 1.0)), onp.sum(onp.maximum(times - 1.0, 0.0))]
  )


class EpochFitsTest(test_case.TestCase):
  """Tests fits against closed forms of piecewise constant rates."""

  def test_rates(self):
    # The estimates are events over exposure.
    data = inference.Observations(_TIMES, _ENDS)
    fit = inference.fit_mle(_pair(2.0, 0.2), data)
    events = onp.asarray([4.0, 4.0])
    rates = events / _exposures(_TIMES)
    for k in range(2):
      self.assert_close(fit.distribution.params[k], rates[k : k + 1], 1e-8)
      self.assert_close(
        fit.standard_errors[f"params[{k}]"],
        rates[k : k + 1] / onp.sqrt(events[k]),
        1e-8,
      )
    self.assertEqual(onp.asarray(fit.distribution.boundaries).tolist(), [1.0])
    self.assertTrue(onp.all(onp.isnan(fit.standard_errors["boundaries"])))
    self.assertEqual(set(fit.statuses.values()), {"identified"})
    # A common rate is events over time; it is a special case.
    same = inference.fit_mle(
      _pair(2.0, 0.2), data, tied=[("params[0]", "params[1]")]
    )
    for params in same.distribution.params:
      self.assert_close(params, [8.0 / onp.sum(_TIMES)], 1e-8)
    ratio = inference.likelihood_ratio(same, fit)
    self.assert_close(
      ratio.statistic, 2.0 * (fit.log_likelihood - same.log_likelihood), 1e-9
    )
    kept = inference.fit_mle(_pair(2.0, 0.2), data, fixed=["params[1]"])
    self.assert_close(kept.distribution.params[0], rates[:1], 1e-8)
    self.assert_close(kept.distribution.params[1], [0.2])

  def test_causes(self):
    data = inference.Observations(_TIMES, _ENDS, cause=_CAUSES)
    start = _risks([1.0, 1.0], [1.0, 1.0])
    fit = inference.fit_mle(start, data)
    exposures = _exposures(_TIMES)
    for k, events in enumerate(([3.0, 1.0], [1.0, 3.0])):
      for name, count in zip(("failure", "sale"), events, strict=True):
        rate = count / exposures[k]
        self.assert_close(fit.distribution.params[k][name], rate, 1e-8)
        error = fit.standard_errors[f"params[{k}][{name}]"]
        self.assert_close(error, rate / math.sqrt(count), 1e-8)

  def test_terms_of_causes(self):
    dist = _risks([1.0, 2.0], [3.0, 0.5])
    data = inference.Observations(
      [0.5, 1.5, 1.5, 2.0],
      [0.5, 1.5, 1.5, _INF],
      entry=[0.25, 0.5, 1.25, 1.0],
      cause=[1, 0, 1, -1],
    )
    exact = [
      math.log(2.0) - 0.75,
      math.log(3.0) - 1.5 - 1.75,
      math.log(0.5) - 0.875,
      -3.5,
    ]
    self.assert_close(data.log_likelihood_terms(dist), exact, 1e-13)

  def test_intervals_of_causes(self):
    first, second = [1.0, 2.0], [3.0, 0.5]
    dist = _risks(first, second)
    # Within an epoch, over the boundary, from zero, left-censored, after an
    # entry in the interval, and narrow ones in the tail.
    lower = onp.asarray([0.25, 0.5, 1.0, 0.0, -1.0, 0.5, 40.0, 0.75])
    upper = onp.asarray([0.75, 2.0, 1.5, 1.0, 1.25, 2.0, 40.0 + 2.0**-40, 0.75])
    cause = onp.asarray([0, 1, 0, 1, 1, 0, 1, 0])
    entry = onp.asarray([-1.0, -1.0, -1.0, -1.0, -1.0, 1.25, 10.0, 0.5])

    def mass(k, low, high, number):
      # Of an interval within epoch k, given that the epoch is reached.
      total, own = sum((first, second)[k]), (first, second)[k][number]
      since = low - k
      alive = math.exp(-total * since - (3.0 if k else 0.0))
      return own / total * alive * -math.expm1(-total * (high - low))

    exact = [
      mass(0, 0.25, 0.75, 0),
      mass(0, 0.5, 1.0, 1) + mass(1, 1.0, 2.0, 1),
      mass(1, 1.0, 1.5, 0),
      mass(0, 0.0, 1.0, 1),
      mass(0, 0.0, 1.0, 1) + mass(1, 1.0, 1.25, 1),
      mass(1, 1.25, 2.0, 0) / math.exp(-3.0 - 3.5 * 0.25),
      mass(1, 40.0, 40.0 + 2.0**-40, 1) / math.exp(-3.0 - 3.5 * 9.0),
      1.0 * math.exp(-3.0 * 0.25),
    ]
    data = inference.Observations(lower, upper, entry=entry, cause=cause)
    self.assert_close(data.log_likelihood_terms(dist), onp.log(exact), 1e-13)
    unknown = inference.Observations(lower, upper, cause=0 * cause - 1)
    every = inference.Observations(lower, upper)
    self.assert_close(
      unknown.log_likelihood_terms(dist),
      every.log_likelihood_terms(dist),
      1e-15,
    )
    # Before the entry it cannot have been seen.
    early = inference.Observations([0.5], [0.75], entry=[0.6], cause=[0])
    late = inference.Observations([0.6], [0.75], entry=[0.6], cause=[0])
    self.assert_close(
      early.log_likelihood(dist), self.host(late.log_likelihood(dist)), 1e-15
    )

  def test_narrow_intervals_in_the_tail(self):
    dist = _pair(1.0, 4.0)
    lower = onp.asarray([200.0, 0.5])
    data = inference.Observations(lower, lower + 2.0**-44)
    exact = [
      math.log(-math.expm1(-4.0 * 2.0**-44)) - 1.0 - 4.0 * 199.0,
      math.log(-math.expm1(-(2.0**-44))) - 0.5,
    ]
    self.assert_close(data.log_likelihood_terms(dist), exact, 1e-13)

  def test_fits_of_grouped_causes(self):
    # Inspections at the boundary, and at two: numbers of each cause.
    numbers = onp.asarray([[20.0, 10.0], [15.0, 30.0]])
    data = inference.Observations(
      [0.0, 0.0, 1.0, 1.0, 2.0],
      [1.0, 1.0, 2.0, 2.0, _INF],
      onp.asarray([*numbers.reshape(-1), 25.0]),
      cause=[0, 1, 0, 1, -1],
    )
    start = _risks([1.0, 1.0], [1.0, 1.0])
    fits = [inference.fit_em(start, data)]
    if MODE == "numpy":
      fits.append(inference.fit_mle(start, data))
    left = [100.0, 70.0, 25.0]
    for fit in fits:
      for k in range(2):
        total = -math.log(left[k + 1] / left[k])
        shares = numbers[k] / onp.sum(numbers[k])
        for name, share in zip(("failure", "sale"), shares, strict=True):
          found = fit.distribution.params[k][name]
          self.assert_close(found, total * share, 1e-7)

  def test_a_free_boundary(self):
    # As many groups as parameters: fitted probabilities are the frequencies.
    counts = onp.asarray([39.0, 32.0, 11.0, 18.0])
    ends = onp.asarray([0.0, 0.5, 1.5, 2.5, _INF])
    data = inference.Observations(ends[:-1], ends[1:], counts)
    start = _pair(1.0, 0.5)
    fit = inference.fit_mle(start, data, free=["boundaries"])
    cdf = self.host(fit.distribution.cdf(ends[1:-1]))
    # From 1.5 on there is one rate, before 0.5 another one.
    late = -math.log(18.0 / 29.0)
    early = -math.log(0.61) / 0.5
    boundary = (-math.log(0.29) - 1.5 * late) / (early - late)
    self.assertBetween(boundary, 0.5, 1.5)
    self.assert_close(fit.distribution.boundaries, [boundary], 1e-8)
    self.assert_close(cdf, [0.39, 0.71, 0.82], 1e-8)
    self.assertEqual(fit.statuses["boundaries[0]"], "identified")
    self.assertEqual(fit.num_parameters, 3)

  def test_inspections_at_the_boundary(self):
    # The estimates are those of a binomial and an exponential distribution.
    both = inference.Observations(
      [0.0, 1.0, 2.0], [1.0, 2.0, _INF], onp.asarray([40.0, 30.0, 30.0])
    )
    fit = inference.fit_mle(_pair(1.0, 0.5), both)
    self.assert_close(fit.distribution.params[0], [-math.log(0.6)], 1e-8)
    self.assert_close(fit.distribution.params[1], [math.log(2.0)], 1e-8)
    # The variance of -log(1 - q) is q / (n (1 - q)), n = 100 and 60.
    self.assert_close(
      fit.standard_errors["params[0]"], [math.sqrt(0.4 / 60.0)], 1e-7
    )
    self.assert_close(
      fit.standard_errors["params[1]"], [math.sqrt(1.0 / 60.0)], 1e-7
    )
    self.assertEqual(set(fit.statuses.values()), {"identified"})

  def test_unconstrained(self):
    start = _pair(2.0, 0.5, 0.25)
    free, to_distribution = inference.unconstrained(
      start, fixed=["params[1]"], free=["boundaries"]
    )
    self.assert_close(free, [math.log(2.0), math.log(0.25)], 1e-15)
    found = to_distribution(free + 1.0)
    self.assert_close(found.params[0], [2.0 * math.e], 1e-14)
    self.assert_close(found.params[1], [0.5])
    self.assert_close(found.boundaries, [0.25 * math.e], 1e-14)

  def test_mistakes(self):
    start = _pair(1.0, 0.5)
    exact = inference.Observations(_TIMES, _ENDS)
    with self.assertRaisesRegex(ValueError, "observation 0 is exactly 0.1"):
      inference.fit_mle(start, exact, free=["boundaries"])
    with self.assertRaisesRegex(ValueError, "which is always fitted"):
      inference.unconstrained(start, free=["params[0]"])
    with self.assertRaisesRegex(ValueError, "free has 'rates': there is no"):
      inference.unconstrained(start, free=["rates"])
    with self.assertRaisesRegex(ValueError, "starts.0. has other boundaries"):
      inference.fit_mle(start, exact, starts=[_pair(1.0, 0.5, 0.75)])
    grouped = inference.Observations([0.0, 0.5, 1.5], [0.5, 1.5, 2.5])
    with self.assertRaisesRegex(
      ValueError, "differences of its entries are fitted"
    ):
      inference.fit_mle(
        start, grouped, free=["boundaries"], bounds={"boundaries": (0.1, 2.0)}
      )
    three = pd.Epochs(
      graphs.models.kingman(2), [[1.0], [0.5], [1.0]], [1.0, 2.0]
    )
    with self.assertRaisesRegex(
      ValueError, "name the difference, 'boundaries.1. - bound"
    ):
      inference.unconstrained(three, free=["boundaries[1]"])
    risks = _risks([1.0, 2.0], [3.0, 0.5])
    other = inference.Observations([0.5], [0.5], cause=[2])
    with self.assertRaisesRegex(ValueError, "there are 2 causes"):
      other.log_likelihood(risks)


if __name__ == "__main__":
  absltest.main()
