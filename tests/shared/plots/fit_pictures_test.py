"""Plots of fits: bands against the delta method by hand."""

import functools
import math
import statistics
from unittest import mock
import warnings

from absl.testing import absltest
import numpy as onp

from phasic import inference
from phasic.distributions import DiscretePhaseType
from phasic.distributions import Erlang
from phasic.distributions import MatrixWeibull
from phasic.inference.plots import drawing
from tests.helpers import test_case

_TIMES = onp.asarray([0.3, 0.5, 0.9, 1.4, 2.0, 2.2, 3.1, 4.0])
_SEEN = onp.asarray([1, 1, 0, 1, 1, 1, 0, 1])
_NORMAL = statistics.NormalDist().inv_cdf(0.95)  # of intervals of 90 %
_COUNTS = onp.asarray([1.0, 1.0, 2.0, 1.0, 3.0, 5.0, 1.0, 2.0])
_FIGURE = drawing.new_axes().figure


def _new_axes():
  """Returns new axes in the only figure, as matplotlib warns of many."""
  for axes in _FIGURE.axes:
    axes.remove()
  return _FIGURE.subplots()


def _data(entry=None):
  return inference.Observations.right_censored(_TIMES, _SEEN, entry=entry)


@functools.cache
def _exponential():
  return inference.fit_mle(Erlang(1, 1.0), _data())


@functools.cache
def _unfinished():
  """Returns a fit that has not converged."""
  start = MatrixWeibull(Erlang(1, 9.0), 3.0)
  with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    return inference.fit_mle(start, _data(), max_steps=1)


def _line(axes, label):
  (line,) = [x for x in axes.get_lines() if x.get_label() == label]
  return line.get_data()


def _band(axes, label):
  """Returns the corners of a band without steps: times, lower and upper ends."""
  (drawn,) = [x for x in axes.collections if x.get_label() == label]
  (path,) = drawn.get_paths()
  # First and last corners, of both ends, are there twice.
  size = (len(path.vertices) - 3) // 2
  low, high = path.vertices[1 : size + 1], path.vertices[size + 2 : -1]
  return low[:, 0], low[:, 1], high[::-1, 1]


def _survival_ends(times, rate, num_events):
  """Computes intervals of exp(-rate t), of 90 %, on the scale of log odds."""
  survival = onp.exp(-rate * times)
  odds = survival / (1.0 - survival)
  # d log odds / d rate = -t / (1 - S), and the variance of a rate is rate^2 / d.
  spread = times / (1.0 - survival) * rate / math.sqrt(num_events)
  factor = onp.exp(_NORMAL * spread)
  return odds / (odds + factor), odds / (odds + 1.0 / factor)


class FitPicturesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.object(drawing, "new_axes", _new_axes))

  def test_survival_of_an_exponential(self):
    axes = inference.plot_survival(_exponential(), confidence_level=0.9)
    rate = 6 / onp.sum(_TIMES)
    times, survival = _line(axes, "fit")
    self.assertEqual(times[-1], 1.05 * 4.0)
    self.assert_close(survival, onp.exp(-rate * times), 1e-7)
    at, low, high = _band(axes, "fit, 90 %")
    self.assert_close(at, times)
    self.assertEqual((low[0], high[0]), (1.0, 1.0))
    known = _survival_ends(times[1:], rate, 6)
    self.assert_close(low[1:], known[0], 1e-6)
    self.assert_close(high[1:], known[1], 1e-6)
    estimate = inference.kaplan_meier(_data())
    _, steps = _line(axes, "Kaplan-Meier")
    self.assert_close(steps[1:-1], estimate.survival)
    # The band of the estimate has the same level.
    (drawn,) = [x for x in axes.collections if x.get_label() == "90 %"]
    highest = estimate.survival[0] + _NORMAL * estimate.standard_errors[0]
    self.assertIn(min(highest, 1.0), drawn.get_paths()[0].vertices[:, 1])

  def test_times_of_ones_own(self):
    times = [0.5, 1.0, 7.0]
    axes = inference.plot_survival(
      _exponential(), times=times, confidence_level=0.9
    )
    at, low, _ = _band(axes, "fit, 90 %")
    self.assert_close(at, times)
    known, _ = _survival_ends(onp.asarray(times), 6 / onp.sum(_TIMES), 6)
    self.assert_close(low, known, 1e-6)
    for times, error, message in (
      ([1.0, 1.0], ValueError, r"times\[1\] is 1: .* ascending"),
      ([-1.0], ValueError, r"times\[0\] is -1: .* not negative"),
      (2.0, ValueError, r"times has shape \(\): it must be \(k,\)"),
      (["a"], TypeError, "times is .*: it must be a list of numbers"),
    ):
      with self.assertRaisesRegex(error, message):
        inference.plot_survival(_exponential(), times=times)

  def test_survival_given_entry(self):
    data = _data(entry=onp.full(8, 0.2))
    fit = inference.fit_mle(Erlang(1, 1.0), data)
    axes = inference.plot_survival(fit, confidence_level=0.9)
    rate = 6 / onp.sum(_TIMES - 0.2)
    times, survival = _line(axes, "fit")
    self.assertEqual(times[0], 0.2)
    self.assert_close(survival, onp.exp(-rate * (times - 0.2)), 1e-7)
    _, low, high = _band(axes, "fit, 90 %")
    known = _survival_ends(times[1:] - 0.2, rate, 6)
    self.assert_close(low[1:], known[0], 1e-6)
    self.assert_close(high[1:], known[1], 1e-6)
    self.assertEqual((low[0], high[0]), (1.0, 1.0))

  def test_hazard_of_an_exponential(self):
    axes = inference.plot_hazard(_exponential(), confidence_level=0.9)
    rate = 6 / onp.sum(_TIMES)
    times, hazard = _line(axes, "fit")
    self.assertEqual(times[-1], 4.0)  # The last event.
    self.assert_close(hazard, onp.full(len(times), rate), 1e-7)
    factor = math.exp(_NORMAL / math.sqrt(6))
    _, low, high = _band(axes, "fit, 90 %")
    self.assert_close(low, onp.full(len(times), rate / factor), 1e-6)
    self.assert_close(high, onp.full(len(times), rate * factor), 1e-6)
    names = [x.get_text() for x in axes.get_legend().get_texts()]
    self.assertIn("events by time at risk, 90 %", names)

  def test_a_weibull(self):
    fit = inference.fit_mle(MatrixWeibull(Erlang(1, 1.0), 1.0), _data())
    rate = float(fit.distribution.distribution.rate)
    shape = float(fit.distribution.concentration)
    axes = inference.plot_survival(fit, confidence_level=0.9)
    times, survival = _line(axes, "fit")
    cumulative = rate * times[1:] ** shape
    self.assert_close(survival[1:], onp.exp(-cumulative), 1e-10)
    names, covariance = fit.covariance()
    # In logarithms, where slopes of log H are 1 / rate and log t.
    slopes = {
      "distribution.rate": onp.full(len(cumulative), 1.0 / rate),
      "concentration": onp.log(times[1:]),
    }
    slope = onp.stack([slopes[name] for name in names])
    error = onp.sqrt(onp.einsum("it,ij,jt->t", slope, covariance, slope))
    odds = 1.0 / onp.expm1(cumulative)
    factor = onp.exp(_NORMAL * error * cumulative / -onp.expm1(-cumulative))
    _, low, high = _band(axes, "fit, 90 %")
    self.assert_close(low[-399:], odds / (odds + factor), 1e-8)
    self.assert_close(high[-399:], odds / (odds + 1.0 / factor), 1e-8)

  def test_discrete_time(self):
    data = inference.Observations(_COUNTS)
    fit = inference.fit_mle(DiscretePhaseType([1.0], [[0.5]]), data)
    prob, size = len(_COUNTS) / onp.sum(_COUNTS), len(_COUNTS)
    # The variance of the estimate is p^2 (1 - p) / n, the slope of its log odds
    # 1 / p (1 - p).
    factor = math.exp(_NORMAL / math.sqrt(size * (1.0 - prob)))
    odds = prob / (1.0 - prob)
    with mock.patch.object(drawing, "draw_band") as band:
      inference.plot_hazard(fit, confidence_level=0.9)
      inference.plot_survival(fit.distribution)
    self.assertEqual(band.call_count, 1)
    _, times, low, high, step = band.call_args.args
    self.assert_close(times, onp.arange(6.0))
    self.assertEqual(step, "mid")
    ends = odds / factor / (1.0 + odds / factor), odds * factor
    self.assert_close(low[1:], onp.full(5, ends[0]), 1e-6)
    self.assert_close(high[1:], onp.full(5, ends[1] / (1.0 + ends[1])), 1e-6)

  def test_a_second_fit_does_not_repeat_data(self):
    axes = inference.plot_survival(_exponential())
    other = inference.fit_mle(Erlang(2, 1.0), _data())
    inference.plot_survival(other, axes=axes, label="other")
    names = [x.get_text() for x in axes.get_legend().get_texts()]
    self.assertEqual(names.count("Kaplan-Meier"), 1)
    self.assertIn("other, 95 %", names)
    inference.plot_survival(other, _data(), axes)
    names = [x.get_text() for x in axes.get_legend().get_texts()]
    self.assertEqual(names.count("Kaplan-Meier"), 2)
    axes = inference.plot_hazard(_exponential())
    inference.plot_hazard(other, axes=axes, label="other")
    self.assertLen(axes.containers, 1)

  def test_quantiles(self):
    fit = _exponential()
    axes = inference.plot_quantiles(fit)
    known = inference.plot_quantiles(fit.distribution, _data())
    self.assert_close(
      axes.get_lines()[1].get_xydata(), known.get_lines()[1].get_xydata()
    )
    with self.assertRaisesRegex(TypeError, "observations is None: a dist"):
      inference.plot_quantiles(fit.distribution)

  def test_without_a_standard_error(self):
    fit = _unfinished()
    self.assertFalse(fit.record.converged)
    for draw in (inference.plot_survival, inference.plot_hazard):
      axes, warned = self.caught(functools.partial(draw, fit))
      self.assertLen(warned, 1)
      self.assertRegex(
        str(warned[0].message),
        "no standard error at .* first at .*: con.* is 'unknown .* left out",
      )
      labels = [x.get_label() for x in axes.collections]
      self.assertNotIn("fit, 95 %", labels)
      self.assertLen(_line(axes, "fit")[0], 400)

  def test_intervals_have_no_estimate(self):
    data = inference.Observations([0.5, 1.0, 2.0], [1.0, 2.0, 3.5])
    fit = inference.fit_mle(Erlang(1, 1.0), data)
    for draw in (inference.plot_survival, inference.plot_hazard):
      axes, warned = self.caught(functools.partial(draw, fit))
      self.assertLen(warned, 1)
      self.assertRegex(str(warned[0].message), "drawn without its data: obs")
      self.assertAlmostEqual(
        _band(axes, "fit, 95 %")[0][-1], axes.get_xlim()[1]
      )
      self.assertIn(axes.get_xlim()[1], (3.5, 1.05 * 3.5))
    with self.assertRaisesRegex(ValueError, "exact or right-censored"):
      inference.plot_quantiles(fit)

  @mock.patch.object(drawing, "new_axes")
  def test_what_is_wrong_opens_no_figure(self, new):
    fit = _exponential()
    for draw in (inference.plot_survival, inference.plot_hazard):
      with self.assertRaisesRegex(TypeError, "distribution is Fit: leave them"):
        draw(fit, covariates={"a": [1]})
      with self.assertRaisesRegex(
        TypeError, "distribution is Erlang: leave th"
      ):
        draw(fit.distribution, covariates={"a": [1]})
      with self.assertRaisesRegex(
        ValueError, "confidence_level is 95: it must"
      ):
        draw(fit, confidence_level=95)
    self.assertFalse(new.called)


if __name__ == "__main__":
  absltest.main()
