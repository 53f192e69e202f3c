"""Methods side by side: whether they agree, and which is faster."""

from typing import Any

import jax
import numpy as onp

from benchmarks import timing

# The functions that a method has.
FORWARD, GRADIENT = "log_prob", "value_and_gradient"
NAMES = {FORWARD: "log density", GRADIENT: "log density and gradient"}


def check(found: dict[str, Any]) -> None:
  """All methods must compute the same before their speed is compared.

  Args:
    found: results by method, arrays or pairs of a value and a gradient.

  Raises:
    AssertionError: they differ, or a value is NaN.
  """
  first = next(iter(found.values()))
  for name, result in found.items():
    for x, y in zip(jax.tree.leaves(result), jax.tree.leaves(first)):
      x, y = onp.ravel(x), onp.ravel(y)
      # Central differences have no more digits.
      scale = 1.0 + float(onp.max(onp.abs(y)))
      onp.testing.assert_allclose(
        x, y, rtol=1e-4, atol=1e-5 * scale, equal_nan=False, err_msg=name
      )


def compare(
  methods: dict[str, Any], what: str, repeats: int
) -> dict[str, float]:
  """Seconds of one function, FORWARD or GRADIENT, of each method."""
  functions = {name: getattr(m, what) for name, m in methods.items()}
  return timing.interleaved(functions, repeats, budget=4.0, check=check)


def fastest(methods: dict[str, Any], what: str) -> str:
  """The name of the method whose function takes least time."""
  seconds = compare(methods, what, 2)
  return min(seconds, key=seconds.__getitem__)
