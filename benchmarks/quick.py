"""Three small models, each against everything that computes the same."""

import numpy as onp

from benchmarks import alternatives
from benchmarks import comparison
from benchmarks import models
from benchmarks import per_time_method
from benchmarks import subject

SUBJECT = "phasic, JAX"
PER_TIME = "per-time uniformization"
METHODS = {
  SUBJECT: subject.phasic_jax,
  "phasic, NumPy": subject.PhasicNumpy,
  PER_TIME: per_time_method.PerTimeMethod,
  "jax expm, vmapped": alternatives.jax_expm,
  "jax scan, shared": alternatives.jax_scan_dense,
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


def _compare(model: models.Model, count: int, repeats: int) -> float:
  """Prints one model's table; returns the gradient's ratio to per-time."""
  times = model.times(count)
  methods = {name: make(model, times) for name, make in METHODS.items()}
  values = comparison.compare(methods, comparison.FORWARD, repeats)
  both = comparison.compare(methods, comparison.GRADIENT, repeats)
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


def print_comparison(count: int, repeats: int) -> None:
  """Prints a table for each model, with `count` times."""
  ratios = {}
  for model in (models.erlang(), models.kingman(), models.dense()):
    ratios[model.name] = _compare(model, count, repeats)
  print(
    "\nValue and gradient against per-time uniformization with differences:"
  )
  for name, ratio in ratios.items():
    print(f"  {name:12} {ratio:7.1f}x")
