"""Loops of calls under jit: phasic's, a user's op, a bare XLA call, none."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from benchmarks import native_library
from phasic.substrates.jax import binding
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
  """Functions to time: "phasic", "op", "bare", "bare of one" and "none".

  phasic evaluates the smallest model there is, at one time; the bare call has
  operands of the same shapes. The op hands its one operand on, as the bare call
  of one operand does.
  """
  library = native_library.load("bare_call", [jax.ffi.include_dir()])
  capsule = jax.ffi.pycapsule(library.BareCall)
  jax.ffi.register_ffi_target(_TARGET, capsule, platform="cpu")
  bare = jax.ffi.ffi_call(_TARGET, jax.ShapeDtypeStruct((1,), jnp.float64))
  library = native_library.compiled(
    "native_op",
    [jax.ffi.include_dir(), binding.include_dir()],
    ["PHASIC_WITH_XLA"],
  )
  op = binding.bind_native(library, "benchmark_native_op")
  one, matrix, absent = jnp.ones(1), -jnp.ones((1, 1)), jnp.zeros(0)
  return {
    "phasic": _loop(lambda t: PhaseType(one, matrix, one).log_prob(t)),
    "op": _loop(op),
    "bare": _loop(lambda t: bare(one, matrix, one, absent, t)),
    "bare of one": _loop(bare),
    "none": _loop(lambda t: t),
  }


def marginal(seconds: dict[str, float]) -> dict[str, float]:
  """Seconds of one call of each, without the loop's."""
  return {
    name: (own - seconds["none"]) / CALLS for name, own in seconds.items()
  }
