"""Gradients of long chains, whose entries span more than the range of doubles.

The derivative in the initial probability of a phase is the function from that
phase on. Of an Erlang distribution, and of a hypoexponential one whose rates are
multiples of one rate, it has a closed form.
"""

from collections.abc import Callable, Sequence
import itertools

from absl.testing import absltest
from absl.testing import parameterized
import mpmath
import numpy as onp

from tests.accuracy import kernel_calls

_TOLERANCE = 1e-12
# Below the first of these sizes losses are ordinary underflow.
_SMALLEST, _LARGEST = mpmath.mpf(10) ** -277, mpmath.mpf(2) ** 1024

# The function from phase i on is that of `phases - i` phases.
_Function = Callable[[int, float], list[mpmath.mpf]]


def _erlang_density(phases: int, x: float) -> list[mpmath.mpf]:
  """The densities of 1, 2, ... phases of rate one."""
  result = [mpmath.exp(-mpmath.mpf(x))]
  for k in range(1, phases):
    result.append(result[-1] * x / k)
  return result


def _erlang_survival(phases: int, x: float) -> list[mpmath.mpf]:
  return list(itertools.accumulate(_erlang_density(phases, x)))


def _erlang_cdf(phases: int, x: float) -> list[mpmath.mpf]:
  terms = _erlang_density(phases + 5000, x)
  return list(itertools.accumulate(reversed(terms[1:])))[::-1][:phases]


_ERLANG = {
  "log_density": _erlang_density,
  "log_survival": _erlang_survival,
  "log_cdf": _erlang_cdf,
}


def _bars(
  kind: str,
  rates: onp.ndarray,
  times: Sequence[float],
  weights: Sequence[float],
  matrix: bool,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Derivatives in the initial probabilities and in the rates of a chain."""
  p = len(rates)
  start = onp.eye(1, p)[0]
  code = kernel_calls.kind_code(kind)
  adjoint = kernel_calls.module().adjoint
  rest = [onp.zeros(1), onp.asarray(times)]
  if matrix:
    exits = onp.append(onp.zeros(p - 1), rates[-1])
    arrays = [
      start,
      onp.diag(rates[:-1], 1),
      exits,
      *rest,
      onp.asarray(weights),
    ]
    bars = adjoint(code, 1, arrays)
    jumps = onp.diag(onp.reshape(bars[1], (p, p)), 1)
    return onp.ravel(bars[0]), onp.append(jumps, onp.ravel(bars[2])[-1])
  indices = onp.stack([onp.arange(p), onp.arange(1, p + 1)]).astype(onp.int32)
  edges = (indices, onp.zeros(0), onp.zeros((p, 0)))
  arrays = [start, rates, onp.zeros(0), *rest, onp.asarray(weights)]
  bars = adjoint(code, 1, arrays, edges)
  return onp.ravel(bars[0]), onp.ravel(bars[1])


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class LongChainsTest(parameterized.TestCase):
  @parameterized.product(
    x=(32.0, 64.0, 200.0, 600.0, 1024.0, 2048.0, 3000.0),
    rate=(1.0, 0.75),
    kind=("log_density", "log_survival", "log_cdf"),
  )
  def test_erlang(self, x, rate, kind):
    initial, rates = _bars(kind, onp.full(626, rate), [x / rate], [1.0], False)
    self._check_initial(initial, _ERLANG[kind], [x], [1.0])
    if kind == "log_density":
      # The density is a symmetric function of the rates.
      self._check_rates(rates, 1 / rate, x / 626 / rate)

  @parameterized.parameters(*(2.0**k for k in range(9, 13)))
  def test_several_times(self, x):
    times, weights = [x, 0.8 * x, 0.5 * x], [1.0, 2.0, 0.5]
    initial, rates = _bars(
      "log_density", onp.full(626, 1.0), times, weights, False
    )
    self._check_initial(initial, _erlang_density, times, weights)
    total = onp.dot(times, weights) / 626
    self._check_rates(rates, sum(weights), total)

  # Beyond 2^15 times go by a ladder of squares. A row's rate of decay is known
  # to 2^-55 of itself.
  @parameterized.parameters(*(2.0**k for k in range(12, 20)), 3.0 * 2**17)
  def test_erlang_of_a_matrix(self, x):
    initial, rates = _bars("log_density", onp.ones(41), [x], [1.0], True)
    tolerance = max(_TOLERANCE, 2.0**-55 * x)
    self._check_initial(initial, _erlang_density, [x], [1.0], tolerance)
    self._check_rates(rates, 1, x / 41)

  @parameterized.parameters(*(2.0**k for k in range(7, 13)))
  def test_hypoexponential(self, t):
    # The time to the j-th largest of 626 exponential numbers, j = i, ..., 1.
    p = 626
    multiples = onp.arange(1, p + 1)
    initial, rates = _bars("log_density", multiples / p, [t], [1.0], False)
    with mpmath.workdps(40):
      u = mpmath.exp(-mpmath.mpf(t) / p)
      slope = t / p * ((p - 1) * u / (1 - u) - 1)

    def density(p: int, _) -> list[mpmath.mpf]:
      result = [mpmath.mpf(1)]
      for i in range(1, p):
        result.append(result[-1] * u / (1 - u) * (p - i) / i)
      return result[::-1]

    self._check_initial(initial, density, [t], [1.0])
    # A change of the unit of time.
    terms = rates * multiples / p
    error = abs(onp.sum(terms) - float(1 + slope))
    self.assertLess(error, _TOLERANCE * (p + onp.sum(onp.abs(terms))))

  def _check_initial(
    self, actual, function: _Function, times, weights, tolerance=_TOLERANCE
  ):
    p = len(actual)
    with mpmath.workdps(40):
      functions = [function(p, x) for x in times]
      for i in range(p):
        truth = mpmath.fsum(
          w * f[p - 1 - i] / f[p - 1]
          for w, f in zip(weights, functions, strict=True)
        )
        if truth > _LARGEST:
          self.assertEqual(actual[i], onp.inf, i)
        elif truth < _SMALLEST:
          self.assertBetween(actual[i], 0.0, 2e-277, i)
        else:
          error = abs(mpmath.mpf(float(actual[i])) - truth)
          self.assertLess(error, tolerance * truth, (i, actual[i]))

  def _check_rates(self, actual, jumps: float, stays: float):
    """Against jumps - stays, of which each is the mean of positive terms."""
    error = onp.max(onp.abs(actual - (jumps - stays)))
    self.assertLess(error, _TOLERANCE * (jumps + stays))


if __name__ == "__main__":
  absltest.main()
