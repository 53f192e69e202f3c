"""Peak memory of one value and gradient, in a process of its own."""

from collections.abc import Sequence
import os
import subprocess
import sys

from absl import app
import jax
import jax.numpy as jnp

from benchmarks import models
from benchmarks import process_memory
from benchmarks import subject

MODELS = {"Kingman-20": lambda: models.kingman(20)}


def peak(name: str) -> int:
  """Bytes above the baseline for one of MODELS at 100 times.

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
  model = MODELS[argv[1]]()
  log_prob = subject.log_prob(model)
  both = jax.jit(
    jax.value_and_grad(lambda theta, times: jnp.sum(log_prob(theta, times)))
  )
  arguments = jnp.asarray(model.theta), jnp.asarray(model.times())
  compiled = both.lower(*arguments).compile()
  print(
    process_memory.bytes_above_baseline(
      lambda: jax.block_until_ready(compiled(*arguments))
    )
  )


if __name__ == "__main__":
  app.run(main)
