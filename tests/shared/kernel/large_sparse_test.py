"""Large sparse models, of which a chain reaches few phases in its first steps."""

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import math as pm
from phasic.math.calls import gradients
from tests.helpers import test_case

# Sides of the grid of phases: steps up, to the right, and down to absorption.
_ROWS, _COLUMNS = 40, 6
_GRID = _ROWS * _COLUMNS
# Phases that no step from the grid leads to, except at a rate of zero.
_OTHERS = 1500
_KINDS = ("log_prob", "log_survival_function", "log_cdf")
_TIMES = onp.asarray([0.02, 1.5, 40.0])


def _grid(order):
  """Builds sources and targets of a grid whose phase i is number order[i].

  The last target of each list is absorption. One edge leads to the phase after
  the grid, and one from there to absorption.
  """
  absorbed = len(order)
  steps = []
  for i in range(_ROWS):
    for j in range(_COLUMNS):
      here = i * _COLUMNS + j
      if i + 1 < _ROWS:
        steps.append((here, here + _COLUMNS))
      if j + 1 < _COLUMNS:
        steps.append((here, here + 1))
      if i > 0:
        steps.append((here, here - _COLUMNS))
      elif j % 2:
        steps.append((here, None))
  steps += [(7, _GRID), (_GRID, None)]
  return tuple(
    onp.asarray([absorbed if x is None else order[x] for x in row])
    for row in zip(*steps, strict=True)
  )


def _models():
  """Returns the grid alone, and among many other phases in any order."""
  rng = onp.random.default_rng(5)
  order = rng.permutation(_GRID + 1 + _OTHERS)
  inside, outside = order[: _GRID + 1], order[_GRID + 1 :]
  small, large = _grid(onp.arange(_GRID + 1)), _grid(order)
  rates = rng.uniform(0.25, 1.5, len(small[0]))
  rates[-2] = 0.0
  # The others lead to each other and to the grid, but not from it.
  targets = onp.append(outside[1:], inside[3])
  more = onp.full(len(outside), 0.5)
  large = tuple(
    onp.concatenate(pair)
    for pair in zip(large, (outside, targets), strict=True)
  )
  start = onp.zeros(_GRID + 1)
  start[0], start[_COLUMNS] = 0.75, 0.25
  starts = onp.zeros(len(order))
  starts[inside] = start
  return (start, small, rates), (starts, large, onp.append(rates, more)), inside


class LargeSparseTest(test_case.TestCase):
  """Results are those of the small model, whose steps leave out nothing."""

  def setUp(self):
    super().setUp()
    self.require_kernel()
    self.small, self.large, self.inside = _models()

  def _value(self, kind, model, times=_TIMES):
    start, (sources, targets), rates = model

    def value(start, rates):
      edges = pm.EdgeRates(sources, targets, rates)
      none = 0.0 * rates[0]
      function = getattr(pm.phase_type, kind)
      return function(np.asarray(times), start, edges, prob_zero=none)

    return value, [np.asarray(start), np.asarray(rates)]

  @parameterized.parameters(*_KINDS)
  def test_values_and_cotangents(self, kind):
    found = []
    for model in (self.small, self.large):
      for time in _TIMES:
        value, arrays = self._value(kind, model, onp.asarray([time]))
        y, (starts, rates) = gradients.value_and_gradient(value, *arrays)
        found.append([self.host(x) for x in (y, starts, rates)])
        # Without cotangents of alpha fewer phases are needed.
        alone = gradients.value_and_gradient(
          lambda x, f=value, a=arrays[0]: f(a, x), arrays[1]
        )[1]
        size = onp.max(onp.abs(found[-1][2]))
        self.assert_close(alone, found[-1][2], 1e-12, 1e-15 * size)
    count = len(self.small[2])
    for small, large in zip(found[:3], found[3:], strict=True):
      self.assert_close(large[0], small[0], 1e-13, 1e-15)
      self.assert_close(large[1][self.inside], small[1], 1e-11)
      size = onp.max(onp.abs(small[2]))
      self.assert_close(large[2][:count], small[2], 1e-10, 1e-13 * size)
      # Nothing leaves a phase that is not reached.
      self.assert_close(large[2][count:], onp.zeros(_OTHERS))
      self.assertNotEqual(small[2][-2], 0.0)

  def test_directions(self):
    rng = onp.random.default_rng(6)
    along = [rng.normal(size=len(x)) for x in (self.small[0], self.small[2])]
    wide = [rng.normal(size=len(x)) for x in (self.large[0], self.large[2])]
    wide[0] = onp.zeros(len(self.large[0]))
    wide[0][self.inside] = along[0]
    wide[1][: len(along[1])] = along[1]
    for kind in _KINDS:
      rows = []
      for model, tangents in ((self.small, along), (self.large, wide)):
        value, arrays = self._value(kind, model)
        tangents = [np.asarray(x) for x in tangents]
        rows.append(gradients.jvp(value, arrays, tangents)[1])
      self.assert_close(rows[1], self.host(rows[0]), 1e-10)


if __name__ == "__main__":
  absltest.main()
