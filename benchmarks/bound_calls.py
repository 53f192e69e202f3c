"""Rows of the table on Python functions in compiled loops."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import jaxbind
import numpy as onp

from benchmarks import timing
from benchmarks.results import Row
from phasic.substrates.jax import binding

_SIZE = 4
# pure_callback is slow, and the others are quick next to an empty loop.
_CALLS = {"none": 20000, "phasic": 20000, "jaxbind": 20000, "pure": 500}


def in_a_loop(repeats: int) -> Iterator[Row]:
  """A bound function's call in a jitted loop, against other ways."""
  bound = binding.bind(onp.sin, abstract=lambda x: x)
  like = jax.ShapeDtypeStruct((_SIZE,), jnp.float64)
  steps: dict[str, Callable[[Any], Any]] = {
    "none": lambda x: x,
    "phasic": bound,
    "jaxbind": _jaxbind_step(),
    "pure": lambda x: jax.pure_callback(onp.sin, like, x),
  }
  seconds = timing.interleaved(
    {name: _loop(step, _CALLS[name]) for name, step in steps.items()}, repeats
  )
  each = {name: seconds[name] / _CALLS[name] for name in steps}
  ours = each["phasic"] - each["none"]
  for name, what in (("pure", "jax.pure_callback"), ("jaxbind", "JAXbind")):
    yield Row(
      "sine of 4 numbers by NumPy: a call in a jitted loop",
      ours,
      each[name] - each["none"],
      what,
    )


def _loop(step: Callable[[Any], Any], calls: int) -> Callable[[], jax.Array]:
  # Each call needs the one before, so that none is moved out of the loop.
  @jax.jit
  def run(start):
    return jax.lax.fori_loop(0, calls, lambda _, x: step(x) + 1.0, start)

  start = jnp.ones(_SIZE)
  return lambda: run(start).block_until_ready()


def _jaxbind_step() -> Callable[[Any], Any]:
  def sine(out, args, kwargs_dump):
    del kwargs_dump
    out[0][()] = onp.sin(args[0])

  def abstract(x, **kwargs):
    del kwargs
    return ((x.shape, x.dtype),)

  call = jaxbind.get_nonlinear_call(sine, (None, None), abstract, None)
  return lambda x: call(x)[0]
