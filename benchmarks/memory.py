"""Peak memory of one value and gradient, in a process of its own."""

from collections.abc import Sequence
import os
import subprocess
import sys

from absl import app
import jax
import jax.numpy as jnp
import numpy as onp

from benchmarks import comparison
from benchmarks import models
from benchmarks import process_memory
from benchmarks import subject


def _kingman():
  model = models.kingman(20)
  return subject.log_prob(model), model.theta, model.times()


def _large():
  model = models.large()
  # Nine deviations after the mean of the last time's steps is the 10,000th.
  mean = ((4.0 * 10_000 + 81.0) ** 0.5 - 9.0) ** 2 / 4.0
  times = mean / model.rate * onp.arange(1, 101) / 100.0
  return subject.edges_log_prob(model), model.theta, times


# Functions that make log f, theta and the times.
_MODELS = {
  "Kingman-20, 100 times": _kingman,
  "100,000 states, 300,000 edges, 10,000 steps, 100 times": _large,
}


def peaks() -> dict[str, str]:
  """Measures memory above a baseline, in a process of its own for each model.

  The baseline has the model, JAX and the compiled function.

  Returns:
    What was measured, and megabytes; empty where the system has no such number.
  """
  found = {}
  environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
  for name in _MODELS if process_memory.available() else ():
    command = [sys.executable, "-m", "benchmarks.memory", name]
    result = subprocess.run(
      command, env=environment, check=True, capture_output=True, text=True
    )
    what = f"{name}: {comparison.NAMES[comparison.GRADIENT]}"
    found[what] = f"{int(result.stdout) / 1e6:.3g} MB"
  return found


def main(argv: Sequence[str]) -> None:
  jax.config.update("jax_enable_x64", True)
  log_prob, theta, times = _MODELS[argv[1]]()
  both = jax.jit(
    jax.value_and_grad(lambda theta, times: jnp.sum(log_prob(theta, times)))
  )
  arguments = jnp.asarray(theta), jnp.asarray(times)
  compiled = both.lower(*arguments).compile()
  print(
    process_memory.bytes_above_baseline(
      lambda: jax.block_until_ready(compiled(*arguments))
    )
  )


if __name__ == "__main__":
  app.run(main)
