"""Peak memory of one value and gradient, in a process of its own."""

from collections.abc import Sequence
import os
import subprocess
import sys

from absl import app
import jax
import jax.numpy as jnp
import numpy as onp

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


# What makes log f, theta and the times; floor and goal in megabytes.
MODELS = {
  "Kingman-20": (_kingman, None, None),
  "100,000 states x 300,000 edges, K = 10,000, 100 times": (_large, 1000, 300),
}


def peak(name: str) -> int:
  """Bytes above the baseline for one of MODELS.

  The baseline has the model, JAX and the compiled function.
  """
  environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
  command = [sys.executable, "-m", "benchmarks.memory", name]
  result = subprocess.run(
    command, env=environment, check=True, capture_output=True, text=True
  )
  return int(result.stdout)


def main(argv: Sequence[str]) -> None:
  jax.config.update("jax_enable_x64", True)
  make, _, _ = MODELS[argv[1]]
  log_prob, theta, times = make()
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
