"""Plots of regressions: curves of rows of covariates, partial effects."""

import functools
import math
import statistics
from unittest import mock

from absl.testing import absltest
import numpy as onp

from phasic import inference
from phasic import regression
from phasic.distributions import Erlang
from phasic.distributions import MatrixWeibull
from tests.helpers import test_case

_TIMES = onp.asarray([0.3, 0.5, 0.9, 1.4, 2.0, 2.2, 3.1, 4.0])
_SEEN = onp.asarray([1, 1, 0, 1, 1, 1, 0, 1])
_DRUG = onp.asarray([1, 0, 0, 1, 0, 1, 1, 0])
_AGE = onp.asarray([50.0, 61.0, 48.0, 70.0, 66.0, 58.0, 40.0, 55.0])
_NORMAL = statistics.NormalDist().inv_cdf(0.95)  # of intervals of 90 %
_AT = onp.asarray([0.25, 1.0, 3.0])
_AXES = inference.plot_survival(Erlang(1, 1.0))


def _fit(dist, *names, **kinds):
  data = inference.Observations.right_censored(_TIMES, _SEEN)
  table = {"drug": _DRUG, "age": _AGE}
  kinds = kinds or {"time": list(names)}
  return inference.fit_mle(
    regression.Regression(dist, **kinds), data, covariates=table
  )


@functools.cache
def _by_drug():
  return _fit(Erlang(1, 1.0), "drug")


class PartialEffectsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    _AXES.clear()

  def curves(self, axes):
    """Returns curves by label, and lower and upper ends of their bands."""
    lines = {x.get_label(): x.get_xydata() for x in axes.get_lines()}
    bands = {}
    for drawn in axes.collections:
      (path,) = drawn.get_paths()
      # First and last corners, of both ends, are there twice.
      size = (len(path.vertices) - 3) // 2
      low, high = path.vertices[1 : size + 1], path.vertices[size + 2 : -1]
      bands[drawn.get_label()] = low[:, 1], high[::-1, 1]
    return lines, bands

  def test_two_groups(self):
    # Each group has a rate of its own: events by time at risk.
    axes = inference.plot_survival(
      _by_drug(),
      axes=_AXES,
      covariates={"drug": [0, 1], "age": [50.0, 50.0]},
      confidence_level=0.9,
      times=_AT,
    )
    lines, bands = self.curves(axes)
    self.assertEqual(list(lines), ["drug=0", "drug=1"])
    hazard_axes = inference.plot_hazard(
      _by_drug(), covariates={"drug": [0, 1]}, confidence_level=0.9
    )
    hazards, hazard_bands = self.curves(hazard_axes)
    for drug in (0, 1):
      num_events = onp.sum(_SEEN[drug == _DRUG])
      rate = num_events / onp.sum(_TIMES[drug == _DRUG])
      name, band_name = f"drug={drug}", f"drug={drug}, 90 %"
      survival = onp.exp(-rate * _AT)
      self.assert_close(lines[name][:, 0], _AT)
      self.assert_close(lines[name][:, 1], survival, 1e-6)
      # By the delta method, for log odds and for logarithms.
      spread = rate * _AT / (1.0 - survival) / math.sqrt(num_events)
      odds = survival / (1.0 - survival)
      low, high = (
        x / (1.0 + x)
        for x in odds * onp.exp([-_NORMAL * spread, _NORMAL * spread])
      )
      self.assert_close(bands[band_name][0], low, 1e-6)
      self.assert_close(bands[band_name][1], high, 1e-6)
      times, hazard = onp.transpose(hazards[name])
      self.assertEqual(times[-1], 4.0)
      factor = math.exp(_NORMAL / math.sqrt(num_events))
      whole = onp.full(len(times), rate)
      self.assert_close(hazard, whole, 1e-6)
      self.assert_close(hazard_bands[band_name][0], whole / factor, 1e-6)
      self.assert_close(hazard_bands[band_name][1], whole * factor, 1e-6)

  def test_partial_effects(self):
    fit = _fit(MatrixWeibull(Erlang(1, 1.0), 1.0), "drug", "age")
    axes = regression.plot_partial_effects(
      fit, "age", [45.5, 60], {"drug": [1], "age": [0.0]}, _AXES
    )
    self.assertIs(axes, _AXES)
    lines, bands = self.curves(axes)
    self.assertEqual(list(lines), ["age=45.5", "age=60"])
    self.assertEqual(list(bands), ["age=45.5, 95 %", "age=60, 95 %"])
    dist = fit.parameters["distribution"]
    rate, shape = float(dist.distribution.rate), float(dist.concentration)
    by_drug, by_age = self.host(fit.parameters["time"])
    for age in (45.5, 60):
      times, survival = onp.transpose(lines[f"age={age:g}"])
      self.assertEqual(times[-1], 1.05 * 4.0)
      scaled = times * math.exp(-by_drug - by_age * age)
      self.assert_close(survival, onp.exp(-rate * scaled**shape), 1e-10)
      low, high = bands[f"age={age:g}, 95 %"]
      self.assertTrue(onp.all(low[-399:] < survival[1:]))
      self.assertTrue(onp.all(high[-399:] > survival[1:]))

  def test_one_value_and_arrays(self):
    axes = regression.plot_partial_effects(
      _by_drug(), "drug", [1], {"drug": [0]}, _AXES, times=_AT
    )
    lines, _ = self.curves(axes)
    self.assertEqual(list(lines), ["drug=1"])
    _AXES.clear()
    fit = _fit(Erlang(1, 1.0), time=_DRUG[:, None])
    axes = inference.plot_survival(
      fit, axes=_AXES, covariates={"time": [[0], [1]]}, times=_AT
    )
    self.assertEqual(list(self.curves(axes)[0]), ["row 0", "row 1"])
    forest = inference.plot_coefficients(fit)
    self.assertLen(forest.get_yticklabels(), 1)

  def test_data_beside_curves(self):
    data = inference.Observations.right_censored(_TIMES, _SEEN)
    axes = inference.plot_survival(
      _by_drug(), data, _AXES, covariates={"drug": [0, 1]}
    )
    self.assertEqual(
      list(self.curves(axes)[0]), ["Kaplan-Meier", "drug=0", "drug=1"]
    )

  @mock.patch("matplotlib.pyplot.subplots")
  def test_what_is_wrong(self, new):
    fit, draw = _by_drug(), regression.plot_partial_effects
    one = {"drug": [0]}
    for arguments, error, message in (
      ((Erlang(1, 1.0), "drug", [1], one), TypeError, "fit is Erlang: it must"),
      ((fit, "sex", [1], one), ValueError, r"column is 'sex': .* \['drug'\]"),
      (
        (fit, "drug", [], one),
        ValueError,
        r"values is \[\]: it must be a list",
      ),
      ((fit, "drug", 1, one), ValueError, "values is 1: it must be a list"),
      (
        (fit, "drug", [1], {"drug": [0, 1]}),
        ValueError,
        r"covariates has shape \(2,\) in 'drug': it must have one row",
      ),
      ((fit, "drug", [1], "drug"), TypeError, "covariates is 'drug': it must"),
      ((fit, "drug", [1], one, "axes"), TypeError, "axes is str: it must be"),
    ):
      with self.assertRaisesRegex(error, message):
        draw(*arguments)
    with self.assertRaisesRegex(TypeError, "covariates is None: predictions"):
      inference.plot_survival(fit)
    self.assertFalse(new.called)


if __name__ == "__main__":
  absltest.main()
