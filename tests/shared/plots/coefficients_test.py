"""Forest plots against estimates and errors by hand."""

import functools
import math
import statistics
from unittest import mock

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import inference
from phasic.distributions import Erlang
from phasic.distributions import MatrixWeibull
from phasic.inference.plots import drawing
from tests.helpers import test_case

_NORMAL = statistics.NormalDist().inv_cdf(0.95)  # of intervals of 90 %
_FIRST, _SECOND = onp.asarray([1.0, 2.0, 6.0]), onp.asarray([0.5, 0.7])
_FIGURE = drawing.new_axes().figure


def _new_axes():
  """Returns new axes in the only figure, as matplotlib warns of many."""
  for axes in _FIGURE.axes:
    axes.remove()
  return _FIGURE.subplots()


class _TwoGroups(inference.LikelihoodModel):
  """Exponential times of two groups."""

  @property
  def parameters(self):
    return {"rate": 1.0, "effect": onp.zeros(1)}

  @property
  def bounds(self):
    return {"effect": (-math.inf, math.inf)}

  @property
  def labels(self):
    return {"effect": ("group",)}

  def log_likelihood_terms(self, parameters, data):
    log_rate = np.log(parameters["rate"])
    log_rate = log_rate + parameters["effect"][0] * data["group"]
    return log_rate - np.exp(log_rate) * data["time"]


@functools.cache
def _two_groups():
  data = {
    "time": np.asarray(onp.concatenate([_FIRST, _SECOND])),
    "group": np.asarray(onp.asarray([0.0, 0.0, 0.0, 1.0, 1.0])),
  }
  return inference.fit_mle(_TwoGroups(), data)


class CoefficientsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.object(drawing, "new_axes", _new_axes))
    # The ratio of rates, and the variance of its logarithm.
    self.effect = math.log(onp.mean(_FIRST) / onp.mean(_SECOND))
    self.error = math.sqrt(1 / 3 + 1 / 2)

  def drawn(self, axes):
    """Returns the reference, names, estimates and ends of a forest plot."""
    reference, points = axes.get_lines()
    names = [x.get_text() for x in axes.get_yticklabels()]
    ends = onp.asarray([x[:, 0] for x in axes.collections[0].get_segments()])
    self.assert_close(points.get_ydata(), onp.arange(len(names)))
    return reference.get_xdata()[0], names, points.get_xdata(), ends

  def test_real_numbers(self):
    axes = inference.plot_coefficients(_two_groups(), confidence_level=0.9)
    line, names, points, ends = self.drawn(axes)
    self.assertEqual((line, names), (0.0, ["effect[group]"]))
    self.assert_close(points, [self.effect], 1e-6)
    distance = _NORMAL * self.error
    known = [[self.effect - distance, self.effect + distance]]
    self.assert_close(ends, known, 1e-6)
    self.assertEqual(axes.get_xlabel(), "estimate, 90 %")

  def test_exponentials_and_robust_errors(self):
    axes = inference.plot_coefficients(
      _two_groups(), exponentiate=True, confidence_level=0.9, robust=True
    )
    line, _, points, ends = self.drawn(axes)
    self.assertEqual((line, axes.get_xscale()), (1.0, "log"))
    self.assert_close(points, [math.exp(self.effect)], 1e-6)
    # The score of the log rate of a group is 1 - t / mean, its information d.
    variance = sum(
      onp.sum((1.0 - times / onp.mean(times)) ** 2) / len(times) ** 2
      for times in (_FIRST, _SECOND)
    )
    factor = math.exp(_NORMAL * math.sqrt(variance))
    known = math.exp(self.effect)
    self.assert_close(ends, [[known / factor, known * factor]], 1e-6)

  def test_names(self):
    names = ["effect[group]", "rate"]
    axes = inference.plot_coefficients(
      _two_groups(), names, drawing.new_axes(), confidence_level=0.9
    )
    _, shown, points, ends = self.drawn(axes)
    self.assertEqual(shown, names)
    self.assert_close(points, [self.effect, 1 / 3], 1e-6)
    # Of three events; the interval is on the scale of logarithms.
    factor = math.exp(_NORMAL / math.sqrt(3))
    self.assert_close(ends[1], [1 / 3 / factor, factor / 3], 1e-6)
    # The first name is at the top.
    self.assertGreater(*axes.get_ylim())

  def test_without_a_standard_error(self):
    data = inference.Observations([0.3, 0.5, 0.9, 1.4, 2.0, 2.2])
    start = MatrixWeibull(Erlang(1, 9.0), 3.0)
    fit, _ = self.caught(lambda: inference.fit_mle(start, data, max_steps=1))
    axes, warned = self.caught(
      lambda: inference.plot_coefficients(fit, ["concentration"])
    )
    self.assertLen(warned, 1)
    self.assertRegex(
      str(warned[0].message),
      "concentration is 'unknown .* without intervals, 1 of 1",
    )
    points = axes.get_lines()[1].get_xdata()
    self.assert_close(points, [float(fit.distribution.concentration)])

  @mock.patch.object(drawing, "new_axes")
  def test_what_is_wrong(self, new):
    fit = _two_groups()
    exponential = inference.fit_mle(
      Erlang(1, 1.0), inference.Observations(_FIRST)
    )
    draw = inference.plot_coefficients
    for arguments, error, message in (
      ((Erlang(1, 1.0),), TypeError, "fit is Erlang: it must be a fit"),
      ((fit, "rate"), TypeError, "names is 'rate': it must be a list"),
      ((fit, ["age"]), ValueError, r"names\[0\] is 'age': it must be one of"),
      ((fit, []), ValueError, "names is empty"),
      ((fit, None, "axes"), TypeError, "axes is str: it must be axes of"),
      ((exponential,), ValueError, "no real numbers.* of .'rate'."),
    ):
      with self.assertRaisesRegex(error, message):
        draw(*arguments)
    with self.assertRaisesRegex(ValueError, "'rate', which has bounds"):
      draw(fit, ["rate"], exponentiate=True)
    with self.assertRaisesRegex(TypeError, "robust is 1: it must be True or"):
      draw(fit, robust=1)
    for draw in (inference.plot_survival, inference.plot_hazard):
      with self.assertRaises(NotImplementedError):
        draw(fit)
    self.assertFalse(new.called)


if __name__ == "__main__":
  absltest.main()
