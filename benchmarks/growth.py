"""Cost of a value and gradient against each size, doubled four times."""

from collections.abc import Iterator
from typing import Any

import numpy as onp

from benchmarks import models
from benchmarks import results
from benchmarks import subject
from benchmarks import timing

_DOUBLINGS = 4
# Times at which circulants are evaluated: as many steps for all of them.
_TIMES = onp.arange(1, 101)


def _sizes(first: int) -> tuple[int, ...]:
  return tuple(first << k for k in range(_DOUBLINGS + 1))


def _cases() -> Iterator[tuple[str, str, dict[int, Any]]]:
  kingman = models.kingman()
  times = kingman.times()
  unit = times / times[-1] / subject.uniformization_rate(kingman)
  yield (
    "K",
    "mean steps to the last time (Kingman-10, 100 times)",
    {k: subject.phasic_jax(kingman, unit * k) for k in _sizes(256)},
  )
  yield (
    "m",
    "transitions (256 phases, 100 times)",
    {
      m: subject.phasic_jax(models.circulant(256, m // 256), _TIMES)
      for m in _sizes(512)
    },
  )
  yield (
    "n",
    "times (Kingman-10)",
    {n: subject.phasic_jax(kingman, kingman.times(n)) for n in _sizes(1000)},
  )
  yield (
    "p",
    "phases (4 transitions each, 100 times)",
    {p: subject.phasic_jax(models.circulant(p, 4), _TIMES) for p in _sizes(64)},
  )
  yield (
    "B",
    "models of a batch (Kingman-10, 100 times)",
    {
      b: subject.phasic_batch(kingman, times, models.thetas(kingman, b))
      for b in _sizes(6)
    },
  )
  yield (
    "d",
    "parameters (256 phases, 2048 transitions, 100 times)",
    {
      d: subject.phasic_jax(models.circulant(256, 8, d), _TIMES)
      for d in _sizes(1)
    },
  )
  yield (
    "s",
    "states of a tandem queue (mean, variance and gradient)",
    {(c + 1) ** 2 - 1: subject.PhasicMoments(c) for c in (31, 44, 63, 90, 127)},
  )


def curves(repeats: int) -> Iterator[results.Curve]:
  """Measures one curve after the other."""
  for size, meaning, methods in _cases():
    functions = {str(k): m.value_and_gradient for k, m in methods.items()}
    seconds = timing.interleaved(functions, repeats, target=0.02)
    yield results.Curve(size, meaning, tuple(methods), tuple(seconds.values()))
