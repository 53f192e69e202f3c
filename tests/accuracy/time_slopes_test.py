"""Derivatives in time where rates times times are huge: right, or NaN."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

_LARGEST_X = 2e15  # q may be twice the largest rate; 2^52 is 4.5e15


def _model(alpha, rates, exits) -> oracle.Operands:
  rates, exits = onp.array(rates, float), onp.array(exits, float)
  subgenerator = rates - onp.diag(onp.sum(rates, axis=1) + exits)
  return oracle.Operands(onp.asarray(alpha, float), subgenerator, exits, 0.0, 1)


def _pair(fast: float, slow: tuple) -> oracle.Operands:
  """Two phases that change places all the time."""
  return _model([0.5, 0.5], [[0, fast], [fast, 0]], slow)


def _stiff() -> oracle.Operands:
  rates = onp.diag([1.0, 2.0**-9, 2.0**9], 1)
  rates += onp.diag([2.0**9, 2.0**-5, 2.0**-20], -1)
  return _model([1.0, 0, 0, 0], rates, [0, 2.0**-40, 0, 2.0**-35])


def _ring() -> oracle.Operands:
  rates = onp.roll(onp.eye(9), 1, axis=1)
  return _model(onp.eye(9)[0], rates, 2.0**-41 * onp.eye(9)[8])


# Rates and times: the fast rate times the time is x.
_MODELS = {
  "pair": _pair(1.0, (2.0**-44, 3 * 2.0**-44)),
  "no_memory": _pair(1.0, (2.0**-43, 2.0**-43)),
  "stiff": _stiff(),
  "ring": _ring(),
  "stages": models.hypoexponential(2.0 ** onp.linspace(0, 32, 12).round()),
}


def _at(operands: oracle.Operands, x: float) -> oracle.Operands:
  rate = onp.max(-onp.diag(onp.asarray(operands.subgenerator)))
  return operands._replace(time=x / rate)


def _along_time(operands: oracle.Operands) -> oracle.Operands:
  """The direction in which the logarithm of the time grows."""
  return oracle.Operands(
    *(None if x is None else onp.zeros(onp.shape(x)) for x in operands)
  )._replace(time=operands.time)


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class TimeSlopesTest(parameterized.TestCase):
  def _truth(self, kind, operands, order):
    moves = (_along_time(operands),) * order
    return float(oracle.directional(kind, operands, moves)[0].mid())

  @parameterized.parameters(
    *itertools.product(
      _MODELS,
      ("log_density", "log_survival", "log_cdf", "density"),
      (5e3, 1e6, 1e9, 1e12, 1e14, _LARGEST_X),
    )
  )
  def test_slopes(self, name, kind, x):
    if name == "stages":
      x = min(x, 1e12)  # nothing is left after that
    operands = _at(_MODELS[name], x)
    truth = self._truth(kind, operands, 1)
    forward = kernel_calls.directional(
      kind, operands, (_along_time(operands),)
    )[0]
    reverse = kernel_calls.gradient(kind, operands).time[0] * operands.time
    size = 1.0
    if kind == "density":
      size = kernel_calls.directional(kind, operands)[0]
    bound = 1e-11 * max(size, abs(truth))
    self.assertLessEqual(abs(forward - truth), bound, (forward, truth))
    self.assertLessEqual(abs(reverse - truth), bound, (reverse, truth))

  def test_rates_of_a_hundred_million_millions(self):
    operands = _pair(1e14, (0.01, 0.03))
    slope = kernel_calls.gradient("log_density", operands).time[0]
    self.assertAlmostEqual(slope, -0.02, delta=1e-12)

  @parameterized.parameters(
    *itertools.product(
      _MODELS,
      ("log_density", "log_survival", "log_cdf"),
      (5e3, 1e6, 1e9, 1e12, 1e14),
    )
  )
  def test_second_derivatives(self, name, kind, x):
    if name == "stages":
      x = min(x, 1e12)
    operands = _at(_MODELS[name], x)
    along = _along_time(operands)
    actual = kernel_calls.directional(kind, operands, (along, along))[0]
    truth = self._truth(kind, operands, 2)
    if x > 2e13 and kind == "log_density":
      self.assertTrue(onp.isnan(actual))
      return
    # (log f)'' = f'' / f - (f' / f)^2, with an error of either.
    slope = self._truth(kind, operands, 1)
    bound = max(1e-10, 1e-29 * x**2) * max(1.0, abs(truth), slope**2)
    self.assertLessEqual(abs(actual - truth), bound, (actual, truth))
    # Its direction stays as it is.
    reverse = kernel_calls.gradient(kind, operands, (along,)).time[0]
    reverse = reverse * operands.time
    self.assertLessEqual(abs(reverse - truth), bound, (reverse, truth))

  @parameterized.parameters(1e11, 1e13)
  def test_mixed_derivatives_are_right_or_unknown(self, x):
    operands = _at(_MODELS["pair"], x)
    along = _along_time(operands)
    rates = onp.array([[0.0, 1.0], [0.5, 0.0]])
    move = along._replace(time=0.0, subgenerator=rates)
    for kind in ("log_density", "density"):
      mixed = [
        kernel_calls.directional(kind, operands, moves)[0]
        for moves in ((along, move), (move, along))
      ]
      mixed.append(
        kernel_calls.gradient(kind, operands, (move,)).time[0] * operands.time
      )
      mixed.append(
        kernel_calls.gradient(kind, operands, (along,)).subgenerator[1]
      )
      if x > 1e12:
        self.assertTrue(onp.all(onp.isnan(mixed)), mixed)
      else:
        self.assertTrue(onp.all(onp.isfinite(mixed)), mixed)
        truth, scale = oracle.directional(kind, operands, (along, move))
        self.assertLessEqual(
          abs(mixed[0] - float(truth.mid())), 1e-14 * scale, kind
        )

  def test_what_is_unknown_touches_nothing_else(self):
    operands = _at(_MODELS["pair"], 1e14)
    still = _along_time(operands)._replace(time=0.0)
    rates = onp.array([[0.0, 1.0], [0.5, 0.0]])
    move = still._replace(subgenerator=rates)
    for kind in oracle.KINDS:
      value = kernel_calls.directional(kind, operands, (move, move))[0]
      self.assertTrue(onp.isfinite(value), kind)
      bars = kernel_calls.gradient(kind, operands, (move,))
      self.assertTrue(onp.all(onp.isfinite(bars.subgenerator)))
    # Other times of the same call, and a cotangent of zero.
    times = onp.array([1.0, operands.time])
    arrays = kernel_calls.inputs(operands._replace(time=times))
    arrays += kernel_calls.inputs(move._replace(time=onp.zeros(2)))
    bars = kernel_calls.module().adjoint(0, 2, arrays + [onp.array([1.0, 0.0])])
    self.assertTrue(onp.all(onp.isfinite(bars[4])), bars[4])
    bars = kernel_calls.module().adjoint(0, 2, arrays + [onp.array([1.0, 1.0])])
    onp.testing.assert_array_equal(onp.isnan(bars[4]), [False, True])

  @parameterized.parameters(1e5, 3e7)
  def test_third_order(self, x):
    # Two of them in time: known to 1e-3 up to almost a million.
    operands = _at(_MODELS["stiff"], x)
    along = _along_time(operands)
    rates = onp.ones((4, 4)) - onp.eye(4)
    move = along._replace(time=0.0, subgenerator=rates)
    value = kernel_calls.directional(
      "log_density", operands, (along, along, move)
    )[0]
    truth, scale = oracle.directional(
      "log_density", operands, (along, along, move)
    )
    if x < 1e6:
      self.assertLessEqual(abs(value - float(truth.mid())), 1e-12 * scale)
    else:
      self.assertTrue(onp.isnan(value))


if __name__ == "__main__":
  absltest.main()
