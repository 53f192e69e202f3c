"""Plots of Kaplan-Meier estimates and fits."""

import math
from unittest import mock

from absl.testing import absltest
import numpy as onp

from phasic import inference
from phasic.distributions import DiscretePhaseType
from phasic.distributions import Erlang
from phasic.inference.plots import drawing
from phasic.inference.plots import hazard_pictures
from phasic.inference.results import survival_estimates
from tests.helpers import test_case

# Weeks of remission with 6-MP (Freireich et al. 1963), and what a textbook has
# for them (Klein and Moeschberger 2003, table 4.1B).
_WEEKS = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32]
_WEEKS += [34, 35]
_RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
_TIMES = [6, 7, 10, 13, 16, 22, 23]
_SURVIVAL = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
_ERRORS = [0.076, 0.087, 0.096, 0.107, 0.114, 0.128, 0.135]


def _observations(scale=1.0):
  weeks = scale * onp.asarray(_WEEKS, "float64")
  return inference.Observations.right_censored(weeks, _RELAPSED)


class KaplanMeierTest(test_case.TestCase):
  def test_textbook(self):
    found = inference.kaplan_meier(_observations())
    onp.testing.assert_array_equal(found.times, _TIMES)
    onp.testing.assert_allclose(found.survival, _SURVIVAL, atol=6e-4)
    onp.testing.assert_allclose(found.standard_errors, _ERRORS, atol=6e-4)

  def test_weights_and_entries(self):
    data = inference.Observations.right_censored(
      [1.0, 2.0, 2.0, 5.0],
      [1, 1, 0, 1],
      weights=[1.0, 2.0, 3.0, 1.0],
      entry=[-1.0, 1.5, 0.5, -1.0],
    )
    found = inference.kaplan_meier(data)
    # At risk are 1 + 3 + 1 at 1, 2 + 3 + 1 at 2, and 1 at 5.
    onp.testing.assert_allclose(found.num_at_risk, [5, 6, 1])
    onp.testing.assert_allclose(found.survival, [4 / 5, 8 / 15, 0.0])
    self.assertEqual(found.standard_errors[-1], 0.0)

  def test_what_it_is_not_for(self):
    between = inference.Observations([1.0, 2.0], [1.0, 3.0])
    with self.assertRaisesRegex(ValueError, r"1 is \(2.0, 3.0\]: it must be"):
      inference.kaplan_meier(between)
    censored = inference.Observations([1.0], [math.inf])
    with self.assertRaisesRegex(ValueError, "at least one must be exact"):
      inference.kaplan_meier(censored)
    with self.assertRaisesRegex(ValueError, r"must be \(n,\), one data set"):
      inference.kaplan_meier(inference.Observations([[1.0]]))
    with self.assertRaisesRegex(TypeError, "must be inference.Obs"):
      inference.kaplan_meier([1.0])


class PicturesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.fit = Erlang(2, 0.06)

  def curve(self, axes, label):
    (line,) = [x for x in axes.get_lines() if x.get_label() == label]
    return line.get_data()

  def test_survival(self):
    axes = inference.plot_survival(self.fit, _observations())
    again = inference.plot_survival(Erlang(1, 0.03), axes=axes, label="other")
    self.assertIs(again, axes)
    times, values = self.curve(axes, "fit")
    self.assertEqual(times[-1], 1.05 * 35)
    self.assert_close(values, (1 + 0.06 * times) * onp.exp(-0.06 * times))
    times, values = self.curve(axes, "other")
    self.assert_close(values, onp.exp(-0.03 * times))
    _, steps = self.curve(axes, "Kaplan-Meier")
    onp.testing.assert_allclose(steps[1:-1], _SURVIVAL, atol=6e-4)

  def test_quantiles(self):
    times = onp.asarray([4.0, 1.0, 2.0])
    fit = Erlang(1, 0.5)
    axes = inference.plot_quantiles(fit, inference.Observations.exact(times))
    at, found = axes.get_lines()[1].get_data()
    onp.testing.assert_array_equal(found, [1.0, 2.0, 4.0])
    self.assert_close(at, -2 * onp.log(1 - onp.asarray([1, 3, 5]) / 6), 1e-10)

  def test_hazard(self):
    axes = inference.plot_hazard(self.fit, _observations(), num_groups=1)
    times, values = self.curve(axes, "fit")
    self.assertEqual(times[-1], 23.0)
    self.assert_close(values, 0.06**2 * times / (1 + 0.06 * times), 1e-10)
    # Nine events in 316 weeks up to the last one.
    ((_, _, (across, _)),) = [x.lines for x in axes.containers]
    ((_, rate),) = across.get_segments()[0][:1]
    self.assertAlmostEqual(rate, 9 / 316, places=12)

  def test_groups_share_events_and_time(self):
    edges, counts, exposures = hazard_pictures.grouped(
      _observations(), 3, False, False
    )
    self.assertEqual(counts.sum(), 9)
    self.assertEqual(exposures.sum(), 316)
    onp.testing.assert_array_equal(edges, [0, 6, 13, 23])
    onp.testing.assert_array_equal(counts, [3, 3, 3])
    onp.testing.assert_array_equal(exposures, [126, 101, 89])

  def test_counts_of_steps(self):
    fit = DiscretePhaseType([1.0], [[0.5]])
    data = inference.Observations.right_censored([1.0, 3.0, 6.0], [1, 1, 0])
    times, values = self.curve(inference.plot_survival(fit, data), "fit")
    onp.testing.assert_array_equal(times, onp.arange(7.0))
    self.assert_close(values, 0.5**times)

  def test_posterior_predictive(self):
    draws = Erlang(2, onp.linspace(0.05, 0.07, 200))
    axes = drawing.new_axes()
    found = inference.plot_posterior_predictive(
      draws, _observations(), axes, seed=3
    )
    self.assertIs(found, axes)
    times, middle = self.curve(axes, "predicted, median")
    exact = (1 + 0.06 * times) * onp.exp(-0.06 * times)
    # A curve of n times has steps of 1 / n. Its median is within a step of the
    # survival function, and the median of 200 draws within another one.
    self.assertLess(onp.max(onp.abs(middle - exact)), 2 / len(_WEEKS))

  def predicted(self, data, rates, at):
    found = survival_estimates.predicted_survival(
      Erlang(1, onp.asarray(rates)), len(rates), data, onp.asarray(at), seed=5
    )
    self.assertEqual(found.shape, (len(rates), len(at)))
    return found

  def test_predicted_data_are_censored(self):
    # The study ends at 2, at 0.5 for some.
    times = onp.repeat([0.4, 1.0, 0.5, 2.0], 100)
    data = inference.Observations.right_censored(
      times, onp.repeat([1, 1, 0, 0], 100)
    )
    found = self.predicted(data, [0.5] * 30, [0.5, 1.9, 2.0, 3.0])
    self.assert_close(
      onp.mean(found, axis=0)[:2], onp.exp([-0.25, -0.95]), atol=0.02
    )
    onp.testing.assert_array_equal(found[:, 2], found[:, 3])
    self.assertGreater(found[:, 3].min(), 0.2)

  def test_predicted_data_have_entries(self):
    entry = onp.tile([-1.0, 0.5, 3.0], 150)
    data = inference.Observations(entry + 2.0, entry=entry)
    found = self.predicted(data, [0.5] * 30, [0.5, 3.0, 5.0])
    exact = onp.exp([-0.25, -1.5, -2.5])
    self.assert_close(onp.mean(found, axis=0), exact, atol=0.02)

  def test_predicted_data_are_as_many_as_counted(self):
    data = inference.Observations([1.0, 2.0], weights=[2.0, 5.0])
    steps = 7 * self.predicted(data, [0.5, 0.7, 0.9], [0.1, 0.5, 2.0])
    onp.testing.assert_allclose(steps, onp.round(steps), atol=1e-12)
    data = inference.Observations([1.0, 2.0], weights=[2.0, 0.5])
    with self.assertRaisesRegex(ValueError, "a weight of 0.5"):
      self.predicted(data, [0.5], [1.0])

  def test_predicted_data_in_parts(self):
    data = _observations()
    with mock.patch.object(survival_estimates, "_AT_ONCE", 45):
      found = self.predicted(data, onp.linspace(0.02, 0.04, 5), [1.0, 9.0])
    self.assertTrue(onp.all((found > 0) & (found <= 1)))

  def test_censoring_times(self):
    times = onp.asarray([1.0, 2.0, 2.0, 3.0, 4.0])
    events = onp.asarray([1, 1, 0, 0, 1], bool)
    entry = onp.full(5, -1.0)
    # One of the three at risk after 2 is censored.
    shares = onp.asarray([[0.65] * 5, [0.68] * 5, [0.3] * 5])
    found = survival_estimates.censoring_times(times, events, entry, shares)
    onp.testing.assert_array_equal(
      found,
      [
        [3, 3, 2, 3, math.inf],
        [2, 2, 2, 3, math.inf],
        [math.inf, math.inf, 2, 3, math.inf],
      ],
    )

  def test_an_estimate_is_no_distribution(self):
    data = inference.Observations([0.5, 1.0, 1.5])
    fit = inference.fit_mle(Erlang(1, 1.0), data)
    estimate = inference.kaplan_meier(data)
    for draw in (
      inference.plot_survival,
      inference.plot_quantiles,
      inference.plot_hazard,
    ):
      with self.assertRaisesRegex(
        TypeError, "is SurvivalEstimate: .* fit.distribution"
      ):
        draw(estimate, data)
    with self.assertRaisesRegex(TypeError, "is Fit: .* fit.distribution"):
      inference.plot_posterior_predictive(fit, data, seed=3)
    with self.assertRaisesRegex(ValueError, "num_groups is 0: it must be >= 1"):
      inference.plot_hazard(fit.distribution, data, num_groups=0)

  def test_one_distribution_or_many(self):
    many = Erlang(2, onp.asarray([0.05, 0.07]))
    for picture in (
      inference.plot_survival,
      inference.plot_quantiles,
      inference.plot_hazard,
    ):
      with self.assertRaisesRegex(ValueError, "plots take"):
        picture(many, _observations())
    with self.assertRaisesRegex(ValueError, r"it must be \(n,\) for n draws"):
      inference.plot_posterior_predictive(self.fit, _observations(), seed=3)


if __name__ == "__main__":
  absltest.main()
