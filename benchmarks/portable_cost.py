"""Prints how many times slower ordinary calls are on the portable path.

    python -m benchmarks.portable_cost SUBSTRATE

The last line is the median over the rows, which the substrate names where its
kernel is missing (`slowdown` of `kernel_common.Kernel`). Calls of both paths take
turns, compiled in JAX and TensorFlow; medians of processor times are compared.
"""

from collections.abc import Callable
import importlib
import statistics
import sys
import time
from typing import Any

import numpy as np

_ROUNDS = 7
_MINIMUM = 0.005  # seconds of a measurement


def _rows(
  ph: Any, compiled: Callable[..., Any]
) -> dict[str, Callable[[], Any]]:
  """Returns the calls, by name."""
  few, many = np.array([0.4, 1.0, 2.5]), np.linspace(0.05, 20.0, 200)
  rates = np.array([2.0, 1.5, 1.0, 0.5])

  def coxian(scale: Any) -> Any:
    return ph.distributions.PhaseType(
      np.array([1.0, 0.0, 0.0, 0.0]),
      np.diag(rates[:-1], 1) * scale,
      np.array([0.1, 0.2, 0.3, 0.5]) * scale,
    )

  def large(scale: Any) -> Any:
    p = 20
    return ph.distributions.PhaseType(
      np.full(p, 1.0 / p),
      (np.ones((p, p)) - np.eye(p)) * (0.2 * scale),
      np.linspace(0.1, 2.0, p) * scale,
    )

  def row(function: Callable[[Any], Any]) -> Callable[[], Any]:
    ready = compiled(function)
    return lambda: ready(np.float64(1.25))

  rows = {
    "log density, 4 phases, 3 times": row(lambda s: coxian(s).log_prob(few)),
    "log density, 4 phases, 200 times": row(lambda s: coxian(s).log_prob(many)),
    "log density, 20 phases, 200 times": row(lambda s: large(s).log_prob(many)),
    "survival, 20 phases, 3 times": row(
      lambda s: large(s).survival_function(few)
    ),
    "cdf, 4 phases, 200 times": row(lambda s: coxian(s).cdf(many)),
    "mean, 20 phases": row(lambda s: large(s).mean()),
    "variance, 4 phases": row(lambda s: coxian(s).variance()),
    "median, 4 phases": row(lambda s: coxian(s).quantile(0.5)),
    "expected statistics, 4 phases, 200 times": row(
      lambda s: (
        ph.math.phase_type.expected_statistics(
          many,
          np.array([1.0, 0.0, 0.0, 0.0]),
          np.diag(rates[:-1], 1) * s,
          np.array([0.1, 0.2, 0.3, 0.5]) * s,
        ).sojourns
      )
    ),
  }
  return rows


def _compilers(substrate: str) -> Callable[..., Any]:
  if substrate == "jax":
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
      program = jax.jit(f)
      return lambda x: jax.block_until_ready(program(x))

    return compiled
  if substrate == "tf":
    tf = importlib.import_module("tensorflow")
    return lambda f: tf.function(lambda x: f(tf.convert_to_tensor(x)))
  return lambda f: f


def _seconds(call: Callable[[], Any], repeats: int) -> float:
  begin = time.process_time()
  for _ in range(repeats):
    call()
  return (time.process_time() - begin) / repeats


def main() -> None:
  substrate = sys.argv[1]
  ph = importlib.import_module(f"phasic.substrates.{substrate}")
  compiled = _compilers(substrate)
  calls = {}
  for path in ("kernel", "portable"):
    with ph.config.use_path(path):
      calls[path] = _rows(ph, compiled)
      for call in calls[path].values():
        call()
  factors = []
  for name in calls["kernel"]:
    medians = []
    for path in ("kernel", "portable"):
      with ph.config.use_path(path):
        call = calls[path][name]
        repeats = max(1, int(_MINIMUM / max(_seconds(call, 1), 1e-7)))
        medians.append(
          statistics.median(_seconds(call, repeats) for _ in range(_ROUNDS))
        )
    factors.append(medians[1] / medians[0])
    print(f"{name}: {medians[0]:.2e} s, {medians[1]:.2e} s, {factors[-1]:.0f}")
  print(f"{substrate}: {statistics.median(factors):.0f} times slower")


if __name__ == "__main__":
  main()
