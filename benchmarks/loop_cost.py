"""Loops of calls under jit: phasic's, a bare XLA call, and none."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from benchmarks import native_library
from phasic.substrates.jax.distributions import PhaseType

CALLS = 2000
_TARGET = "phasic_benchmark_bare_call"


def _loop(step) -> Callable[[], jax.Array]:
  # Each call needs the one before, so that none is moved out of the loop.
  @jax.jit
  def run(start):
    return jax.lax.fori_loop(
      0, CALLS, lambda _, t: 1.0 + 0.125 * step(t), start
    )

  start = jnp.ones(1)
  return lambda: run(start).block_until_ready()


def loops() -> dict[str, Callable[[], jax.Array]]:
  """Functions to time: "phasic", "bare" and "none".

  phasic evaluates the smallest model there is, at one time; the bare call has
  operands of the same shapes.
  """
  library = native_library.load("bare_call", [jax.ffi.include_dir()])
  capsule = jax.ffi.pycapsule(library.BareCall)
  jax.ffi.register_ffi_target(_TARGET, capsule, platform="cpu")
  bare = jax.ffi.ffi_call(_TARGET, jax.ShapeDtypeStruct((1,), jnp.float64))
  one, matrix, absent = jnp.ones(1), -jnp.ones((1, 1)), jnp.zeros(0)
  return {
    "phasic": _loop(lambda t: PhaseType(one, matrix, one).log_prob(t)),
    "bare": _loop(lambda t: bare(one, matrix, one, absent, t)),
    "none": _loop(lambda t: t),
  }


def marginal(seconds: dict[str, float]) -> tuple[float, float]:
  """Seconds of one call of phasic and of a bare one, without the loop's."""
  return (
    (seconds["phasic"] - seconds["none"]) / CALLS,
    (seconds["bare"] - seconds["none"]) / CALLS,
  )
