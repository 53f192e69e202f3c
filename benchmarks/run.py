"""Prints how fast phasic is next to other ways to the same numbers.

One process, one thread, pinned to one core: each model's methods take turns,
and medians are compared. All methods start from parameters theta and give
log f at 100 times; the gradient is that of its sum in two parameters.
"""

import os

# Before anything that starts threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
  os.environ[_name] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if hasattr(os, "sched_setaffinity"):
  os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

from collections.abc import Sequence  # noqa: E402
import importlib.metadata  # noqa: E402
import platform  # noqa: E402

from absl import app  # noqa: E402
from absl import flags  # noqa: E402
import jax  # noqa: E402
import numpy as onp  # noqa: E402

from benchmarks import alternatives  # noqa: E402
from benchmarks import models  # noqa: E402
from benchmarks import per_time_method  # noqa: E402
from benchmarks import subject  # noqa: E402
from benchmarks import timing  # noqa: E402

_REPEATS = flags.DEFINE_integer(
  "repeats", 7, "Rounds of which medians are taken."
)
_TIMES = flags.DEFINE_integer("times", 100, "Times at which log f is computed.")

SUBJECT = "phasic, JAX"
PER_TIME = "per-time uniformization"
METHODS = {
  SUBJECT: subject.phasic_jax,
  "phasic, NumPy": subject.PhasicNumpy,
  PER_TIME: per_time_method.PerTimeMethod,
  "jax expm, vmapped": alternatives.jax_expm,
  "jax scan, shared": alternatives.jax_scan,
  "scipy expm": alternatives.ScipyMethod,
}
_GRADIENTS = {
  SUBJECT: "exact",
  "phasic, NumPy": "exact, vjp",
  PER_TIME: "central differences",
  "jax expm, vmapped": "autodiff",
  "jax scan, shared": "autodiff",
  "scipy expm": "expm_frechet",
}


def _machine() -> str:
  """The processor's name, as the system tells it."""
  try:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
      for line in lines:
        if line.startswith("model name"):
          return line.split(":", 1)[1].strip()
  except OSError:
    pass
  return platform.processor() or platform.machine()


def _check_agreement(name: str, method, reference) -> None:
  """All methods must compute the same before their speed is compared."""
  onp.testing.assert_allclose(
    method.log_prob(), reference.log_prob(), rtol=1e-6, atol=1e-6, err_msg=name
  )
  _, gradient = method.value_and_gradient()
  _, expected = reference.value_and_gradient()
  onp.testing.assert_allclose(
    gradient, expected, rtol=1e-4, atol=1e-3, err_msg=name
  )


def compare(model: models.Model, count: int, repeats: int) -> float:
  """Prints one model's table; returns the gradient's ratio to the seed's."""
  times = model.times(count)
  methods = {name: make(model, times) for name, make in METHODS.items()}
  for name, method in methods.items():
    _check_agreement(name, method, methods[SUBJECT])
  values = timing.interleaved(
    {name: m.log_prob for name, m in methods.items()}, repeats
  )
  both = timing.interleaved(
    {name: m.value_and_gradient for name, m in methods.items()}, repeats
  )
  print(
    f"\n{model.name}: {len(model.states)} phases, "
    f"{int(onp.sum(onp.any(model.rates != 0, axis=2)))} rates, "
    f"{count} times up to {times[-1]:.3g}, 2 parameters"
  )
  print(
    f"  {'':24} {'log_prob':>11} {'ratio':>8} {'+ gradient':>13} {'ratio':>8}"
  )
  for name in METHODS:
    print(
      f"  {name:24} {1e3 * values[name]:8.3f} ms"
      f" {values[name] / values[SUBJECT]:7.1f}x"
      f" {1e3 * both[name]:10.3f} ms"
      f" {both[name] / both[SUBJECT]:7.1f}x  {_GRADIENTS[name]}",
      flush=True,
    )
  return both[PER_TIME] / both[SUBJECT]


def main(argv: Sequence[str]) -> None:
  del argv
  jax.config.update("jax_enable_x64", True)
  versions = ", ".join(
    f"{package} {importlib.metadata.version(package)}"
    for package in ("jax", "jaxlib", "numpy", "scipy")
  )
  print(
    f"{_machine()}, one core; Python {platform.python_version()}, {versions}"
  )
  print(
    "Medians of CPU time; ratios are to 'phasic, JAX': above one, phasic is "
    "faster."
  )
  ratios = {}
  for model in (models.erlang(), models.kingman(), models.dense()):
    ratios[model.name] = compare(model, _TIMES.value, _REPEATS.value)
  print(
    "\nValue and gradient against per-time uniformization with differences:"
  )
  for name, ratio in ratios.items():
    print(f"  {name:12} {ratio:7.1f}x")


if __name__ == "__main__":
  app.run(main)
