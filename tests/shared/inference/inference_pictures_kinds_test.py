"""Plots of distributions and data of several kinds, and errors."""

from unittest import mock
import warnings

from absl.testing import absltest
import numpy as onp

from phasic import inference
from phasic.distributions import DiscretePhaseType
from phasic.distributions import Erlang
from phasic.distributions import MultivariatePhaseType
from phasic.distributions import PhaseType
from phasic.distributions import TruncatedPhaseType
from phasic.inference.plots import drawing
from phasic.inference.plots import hazard_pictures
from phasic.inference.results import survival_estimates
from tests.helpers import test_case

# Expected counts of 1000 geometric values: 500 are 0, 250 are 1.
_HALVES = onp.repeat([0.0, 1.0, 2.0, 3.0], [500, 250, 125, 125])


def _line(axes, label):
  (line,) = [x for x in axes.get_lines() if x.get_label() == label]
  return line


def _rates(axes):
  """Returns midpoints, half widths, rates and upper ends of the bars."""
  ((_, _, (across, along)),) = [x.lines for x in axes.containers]
  ends = onp.asarray(across.get_segments())
  tops = onp.asarray(along.get_segments())[:, 1, 1]
  half = (ends[:, 1, 0] - ends[:, 0, 0]) / 2
  return ends[:, :, 0].mean(axis=1), half, ends[:, 0, 1], tops


class InDiscreteTimeTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    # P(X = k) = 0.5^(k + 1).
    self.law = DiscretePhaseType([0.5], [[0.5]])
    self.data = inference.Observations.exact(_HALVES)

  def test_survival_functions_fall_by_steps(self):
    axes = inference.plot_survival(self.law, self.data)
    drawn = _line(axes, "fit")
    self.assertEqual(drawn.get_drawstyle(), "steps-post")
    self.assert_close(drawn.get_ydata(), [0.5, 0.25, 0.125, 0.0625])
    estimate = inference.kaplan_meier(self.data)
    self.assert_close(estimate.survival[:3], [0.5, 0.25, 0.125], 1e-12)

  def test_rates_have_zeros_in_them(self):
    axes = inference.plot_hazard(self.law, self.data, num_groups=4)
    middles, half, rates, tops = _rates(axes)
    # The upper half of the events is zeros, the last group is at its end.
    onp.testing.assert_array_equal(middles, [0.0, 1.0, 2.5])
    onp.testing.assert_array_equal(half, [0.5, 0.5, 1.0])
    self.assert_close(rates, [0.5, 0.5, 250 / 375], 1e-12)
    self.assertLessEqual(tops.max(), 1.0)
    self.assertLess(axes.get_xlim()[0], 0.0)
    self.assert_close(_line(axes, "fit").get_ydata(), [0.5] * 4)

  def test_rates_without_zeros(self):
    # P(X = k) = 0.5^k from 1 on, and zero is impossible.
    law = DiscretePhaseType([1.0], [[0.5]])
    data = inference.Observations.exact(_HALVES + 1)
    middles, _, rates, _ = _rates(inference.plot_hazard(law, data))
    onp.testing.assert_array_equal(middles, [1.0, 2.0, 3.0, 4.0])
    self.assert_close(rates, [0.5, 0.5, 0.5, 1.0], 1e-12)

  def test_entries_and_ends_between_steps(self):
    data = inference.Observations.right_censored(
      [3.0, 2.5], [1, 0], entry=[1.5, -1.0]
    )
    edges, counts, exposures = hazard_pictures.grouped(data, 1, True, True)
    onp.testing.assert_array_equal(edges, [-1.0, 3.0])
    # At risk are steps 2 and 3 of the one, 0 to 2 of the other.
    onp.testing.assert_array_equal(counts, [1.0])
    onp.testing.assert_array_equal(exposures, [5.0])

  def test_predictions_fall_by_steps(self):
    draws = DiscretePhaseType([[0.5]] * 40, [[[0.5]]] * 40)
    axes = inference.plot_posterior_predictive(draws, self.data, seed=3)
    middle = _line(axes, "predicted, median")
    onp.testing.assert_array_equal(middle.get_xdata(), onp.arange(4.0))
    self.assert_close(middle.get_ydata(), [0.5, 0.25, 0.125, 0.0625], atol=0.02)

  def test_predicted_zeros_and_entries(self):
    # Half of the data are zeros, the others are above 1.
    entry = onp.tile([-1.0, 1.0], 500)
    data = inference.Observations.exact(entry + 1.0, entry=entry)
    draws = DiscretePhaseType([[0.5]] * 30, [[[0.5]]] * 30)
    found = survival_estimates.predicted_survival(
      draws, 30, data, onp.asarray([0.0, 1.0, 2.0, 2.5]), seed=5
    )
    self.assert_close(found.mean(axis=0), [0.5, 0.25, 0.125, 0.125], atol=0.02)

  def test_many_steps_are_drawn_by_some(self):
    law = DiscretePhaseType([1.0], [[1 - 1e-6]])
    data = inference.Observations.exact([1e6, 3e6])
    times = _line(inference.plot_survival(law, data), "fit").get_xdata()
    self.assertLessEqual(len(times), 1000)
    onp.testing.assert_array_equal(times, onp.round(times))


class GivenTheEntryTest(test_case.TestCase):
  """Tests plots of truncated data, with values above 2 only."""

  def setUp(self):
    super().setUp()
    # Quantiles of 2 + X, where X is exponential with rate 0.5.
    levels = (onp.arange(200) + 0.5) / 200
    self.times = 2.0 - 2.0 * onp.log(levels)
    self.data = inference.Observations.exact(
      self.times, entry=onp.full(200, 2.0)
    )

  def test_survival(self):
    axes = inference.plot_survival(Erlang(1, 0.5), self.data)
    times, values = _line(axes, "fit").get_data()
    self.assertEqual(times[0], 2.0)
    self.assert_close(values, onp.exp(-0.5 * (times - 2.0)), 1e-10)
    self.assertEqual(axes.get_ylabel(), "survival function, given > 2")
    times, steps = _line(axes, "Kaplan-Meier").get_data()
    self.assertEqual((times[0], steps[0]), (2.0, 1.0))

  def test_quantiles(self):
    axes = inference.plot_quantiles(Erlang(1, 0.5), self.data)
    at, found = axes.get_lines()[1].get_data()
    self.assert_close(at, found, 1e-10)

  def test_predictions(self):
    draws = Erlang(1, onp.full(40, 0.5))
    axes = inference.plot_posterior_predictive(draws, self.data, seed=3)
    times, middle = _line(axes, "predicted, median").get_data()
    self.assertEqual(times[0], 2.0)
    self.assert_close(middle, onp.exp(-0.5 * (times - 2.0)), atol=0.02)
    self.assertEqual(axes.get_ylabel(), "survival function, given > 2")


class AxesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.law = Erlang(1, 0.5)
    self.short = inference.Observations.exact([1.0, 2.0])
    self.long = inference.Observations.right_censored([1.0, 8.0], [1, 0])

  def test_a_second_set_of_data_hides_nothing(self):
    axes = inference.plot_survival(self.law, self.long)
    inference.plot_survival(self.law, self.short, axes, label="short")
    self.assert_close(axes.get_xlim(), [0.0, 8.4], 1e-12)
    axes = inference.plot_hazard(self.law, inference.Observations([1.0, 8.0]))
    inference.plot_hazard(self.law, self.short, axes, label="short")
    self.assert_close(axes.get_xlim(), [0.0, 8.0], 1e-12)

  def test_an_estimate_ends_with_the_data(self):
    axes = inference.plot_survival(self.law, self.long)
    times, steps = _line(axes, "Kaplan-Meier").get_data()
    onp.testing.assert_array_equal(times, [0.0, 1.0, 8.0])
    onp.testing.assert_array_equal(steps, [1.0, 0.5, 0.5])

  def test_bands_are_named(self):
    for axes in (
      inference.plot_survival(self.law, self.long),
      inference.plot_hazard(self.law, self.long),
    ):
      named = [x.get_text() for x in axes.get_legend().get_texts()]
      self.assertTrue(any("95 %" in x for x in named), named)

  def test_zeros_have_no_rate_in_continuous_time(self):
    # Half of the values are zero, others have the rate 2.
    law = PhaseType([0.5], [[-2.0]])
    data = inference.Observations.exact([0.0, 0.0, 0.25, 0.75])
    _, _, rates, _ = _rates(inference.plot_hazard(law, data, num_groups=1))
    self.assert_close(rates, [2.0], 1e-12)
    with self.assertRaisesRegex(ValueError, "events at zero only"):
      inference.plot_hazard(law, inference.Observations.exact([0.0, 0.0]))
    axes = inference.plot_survival(law, inference.Observations.exact([0.0]))
    self.assertGreater(axes.get_xlim()[1], 0.0)

  @mock.patch.object(drawing, "new_axes")
  def test_what_is_wrong_is_told_and_opens_no_figure(self, new):
    between = inference.Observations([1.0, 2.0], [1.0, 3.0])
    many = Erlang(1, onp.asarray([0.5, 0.6]))
    pair = MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]])
    for draw in (
      inference.plot_survival,
      inference.plot_quantiles,
      inference.plot_hazard,
    ):
      with self.assertRaisesRegex(TypeError, "axes is str: it must be axes of"):
        draw(self.law, self.long, "axes")
      with self.assertRaisesRegex(ValueError, "exact or right-censored"):
        draw(self.law, between)
      with self.assertRaisesRegex(
        TypeError, "distribution is Mult.* of vectors"
      ):
        draw(pair, self.long)
    with self.assertRaisesRegex(TypeError, "axes is str: it must be axes of"):
      inference.plot_posterior_predictive(many, self.long, "axes", seed=3)
    with self.assertRaisesRegex(ValueError, "exact or right-censored"):
      inference.plot_posterior_predictive(many, between, seed=3)
    with self.assertRaisesRegex(
      TypeError, "num_groups is 2.5: it must be a wh"
    ):
      inference.plot_hazard(self.law, self.long, num_groups=2.5)
    self.assertFalse(new.called)

  @mock.patch.object(drawing, "new_axes")
  @test_case.of_bad_values
  def test_a_law_without_values_is_told(self, new):
    nowhere = Erlang(1, onp.nan)
    for draw in (
      inference.plot_survival,
      inference.plot_quantiles,
      inference.plot_hazard,
    ):
      with self.assertRaisesRegex(ValueError, "distribution has .* = nan"):
        draw(nowhere, self.long)
    below = TruncatedPhaseType(Erlang(1, 0.5), 0.0, 1.0)
    late = inference.Observations.exact([3.0], entry=[2.0])
    for draw in (inference.plot_survival, inference.plot_quantiles):
      with self.assertRaisesRegex(
        ValueError, "distribution has no mass above 2.0"
      ):
        draw(below, late)
    many = Erlang(1, onp.asarray([0.5, onp.nan]))
    for data in (self.long, late):
      with self.assertRaisesRegex(ValueError, r"draws\[1\] has NaN samples"):
        inference.plot_posterior_predictive(many, data, seed=3)
    self.assertFalse(new.called)

  def test_logarithmic_scales(self):
    axes = drawing.new_axes()
    axes.set_xscale("log")
    axes.set_yscale("log")
    with warnings.catch_warnings():
      warnings.simplefilter("error")
      inference.plot_survival(self.law, self.long, axes)
      inference.plot_hazard(self.law, self.long, axes)
    self.assertGreater(axes.get_ylim()[0], 0.0)


if __name__ == "__main__":
  absltest.main()
