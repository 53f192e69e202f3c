"""The base class of tests that are written once."""

from collections.abc import Callable
import functools
from typing import Any
import warnings

from absl.testing import parameterized
import numpy as onp

from phasic.internal import kernel_ops
from phasic.internal import static

MODE = "numpy"
if MODE == "jax":
  import jax

  jax.config.update("jax_enable_x64", True)


def of_bad_values(test: Callable[..., None]) -> Callable[..., None]:
  """Marks a test with invalid models, whose warnings are not errors."""

  @functools.wraps(test)
  def run(*args: Any, **kwargs: Any) -> None:
    with warnings.catch_warnings():
      warnings.simplefilter("ignore", RuntimeWarning)
      test(*args, **kwargs)

  return run


class TestCase(parameterized.TestCase):
  """Comparisons of backend arrays with host values."""

  def host(self, x: Any) -> onp.ndarray:
    """Returns the values of `x` on the host."""
    value = static.concrete(x)
    assert value is not None
    return onp.asarray(value)

  def assert_close(
    self, actual: Any, expected: Any, rtol: float = 1e-12, atol: float = 0.0
  ) -> None:
    """Asserts equal shapes and close values; NaN equals NaN."""
    expected = self.host(expected)
    actual = self.host(actual)
    self.assertEqual(onp.shape(actual), onp.shape(expected))
    onp.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)

  def caught(
    self, function: Callable[[], Any]
  ) -> tuple[Any, list[warnings.WarningMessage]]:
    """Returns the result of a call, and its warnings of values and NaN."""
    with warnings.catch_warnings(record=True) as caught:
      warnings.simplefilter("always")
      found = function()
    return found, [w for w in caught if issubclass(w.category, RuntimeWarning)]

  def paths(self) -> tuple[str, ...]:
    """Returns the paths that can run here.

    The portable path is the same code in all substrates. JAX and TensorFlow
    take long to compile or to run its loops, and have `portable_test`.
    """
    paths: tuple[str, ...] = ("kernel",)
    if MODE == "numpy":
      paths = ("portable", "kernel")
    return ("portable",) if kernel_ops.unavailable_reason() else paths

  def require_kernel(self) -> None:
    """Skips the test if the native kernel cannot run."""
    reason = kernel_ops.unavailable_reason()
    if reason:
      self.skipTest(reason)
