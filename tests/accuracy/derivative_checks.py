"""Comparison of the kernel's derivatives with the oracle's."""

from absl.testing import parameterized
import numpy as onp

from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

# Sizes below cannot be told from zero once they have been divided by a small
# density; sizes above may overflow on the way.
_SMALLEST = 1e-290
_LARGEST = 1e290


def shortfall(
  actual: onp.ndarray,
  truth: list,
  scales: list,
  tolerance: float,
  overflow: bool = False,
) -> list[tuple[int, float, float, float]]:
  """The entries that miss tolerance * scale: (index, actual, truth, error/c).

  Args:
    actual: the kernel's entries.
    truth: exact ones.
    scales: their error scales, c.
    tolerance: of an error relative to c.
    overflow: whether other derivatives of the same call leave the range of
      floats; the kernel may then overflow in all of them.

  Returns:
    What misses.
  """
  missed = []
  for k, (x, y, c) in enumerate(zip(actual, truth, scales)):
    if c > _LARGEST or (overflow and not onp.isfinite(x)):
      continue
    error = oracle.error(x, y)
    if not error <= tolerance * c + _SMALLEST:
      missed.append((k, float(x), float(y), error / c if c else error))
  return missed


def contracted(
  gradient: oracle.Gradient, scales: oracle.Gradient, move: oracle.Operands
) -> tuple[object, float]:
  """The derivative along `move`, from the entries, and its scale."""
  total, scale = oracle.exact(0.0), 0.0
  for name in oracle.Gradient._fields:
    entries = getattr(gradient, name)
    if not entries:
      continue
    tangent = onp.ravel(getattr(move, name))
    for x, c, v in zip(entries, getattr(scales, name), tangent, strict=True):
      if v:
        total += oracle.exact(v) * x
        scale += c * abs(v)
  return total, scale


class TestCase(parameterized.TestCase):
  """Assertions on gradients and directional derivatives."""

  def check_gradient(self, kind, operands, directions, tolerance):
    """Every entry of V_k within tolerance times its scale."""
    actual = kernel_calls.gradient(kind, operands, directions)
    truth, scales = oracle.gradient(kind, operands, directions)
    overflow = any(c > _LARGEST for part in scales for c in part)
    for name in oracle.Gradient._fields:
      entries = getattr(actual, name)
      self.assertLen(entries, len(getattr(truth, name)), name)
      missed = shortfall(
        entries,
        getattr(truth, name),
        getattr(scales, name),
        tolerance,
        overflow,
      )
      self.assertEmpty(
        missed[:5], f"d/d {name}: {len(missed)} of {len(entries)} entries miss"
      )

  def check_directions(self, kind, operands, tolerance, count=5):
    """J_1 along random directions against the contracted gradient."""
    truth, scales = oracle.gradient(kind, operands)
    rng = onp.random.default_rng(11)
    for _ in range(count):
      move = models.direction(operands, rng)
      actual = kernel_calls.directional(kind, operands, (move,))
      total, scale = contracted(truth, scales, move)
      self.assertEmpty(shortfall(actual, [total], [scale], tolerance))
