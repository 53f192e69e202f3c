"""Rows of the table about mean and variance, for new parameters."""

from collections.abc import Callable, Iterator
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as onp

from benchmarks import comparison
from benchmarks import models
from benchmarks import splu_moments
from benchmarks import subject
from benchmarks import timing
from benchmarks.results import Row

_BATCH = 96
_NAMES = {
  "moments": "mean and variance",
  "moments_and_gradient": "mean, variance, gradient",
}
# The order that users get, and that of the states, which may be better.
_ORDERS = {
  "SciPy splu": "COLAMD",
  "SciPy splu, states as they come": "NATURAL",
}


def _phasic(model: models.Model) -> dict[str, Callable]:
  """phasic's functions of theta by the names of `SpluMoments`."""
  both = subject.mean_and_variance(model)
  return {
    # One array: a call takes a microsecond for each array that it returns.
    "moments": lambda x: jnp.stack(both(x)),
    "moments_and_gradient": jax.value_and_grad(lambda x: sum(both(x))),
  }


def splu(repeats: int) -> Iterator[Row]:
  """Against SciPy's splu and solves, at other parameters in every call."""
  for lineages in (10, 20):
    model = models.kingman(lineages)
    thetas = models.thetas(model, _BATCH)
    ours = _phasic(model)
    methods = {
      name: splu_moments.SpluMoments(model, order)
      for name, order in _ORDERS.items()
    }
    for what, name in _NAMES.items():
      title = f"{model.name}: {name}"
      one = {"phasic": _each(jax.jit(ours[what]), jnp.asarray(thetas))}
      all_ = {"phasic": _ready(jax.jit(jax.vmap(ours[what])), thetas)}
      for key, method in methods.items():
        one[key] = _each(getattr(method, what), thetas)
        all_[key] = _batch(method, thetas, what)
      yield from _rows(title, one, 1, repeats)
      # The same without what a call from Python costs.
      loop = jax.jit(functools.partial(jax.lax.map, ours[what]))
      title = f"{model.name}, in a compiled loop: {name}"
      looped = {**all_, "phasic": _ready(loop, thetas)}
      yield from _rows(title, looped, _BATCH, repeats)
      title = f"{model.name}, batch of {_BATCH}: {name}"
      yield from _rows(title, all_, _BATCH, repeats)


def _each(function, thetas):
  """A function that is called with one theta after the other."""
  after = itertools.cycle(list(thetas))
  return lambda: _wait(function(next(after)))


def _ready(function, thetas):
  thetas = jnp.asarray(thetas)
  return lambda: _wait(function(thetas))


def _wait(found):
  """Waits for JAX: a single array has a method for it."""
  if isinstance(found, jax.Array):
    return found.block_until_ready()
  return jax.block_until_ready(found)


def _batch(method, thetas, what):
  return lambda: method.batch(thetas, what)


def _rows(title, functions, count, repeats) -> Iterator[Row]:
  seconds = timing.interleaved(functions, repeats, budget=4.0, check=_check)
  ours = seconds.pop("phasic") / count
  for name, reference in seconds.items():
    yield Row(title, ours, reference / count, name)


def _check(found) -> None:
  """As `comparison.check`, where one method has one array for a pair."""
  if isinstance(found["phasic"], jax.Array):
    found = {
      name: onp.stack(x, axis=-1) if isinstance(x, tuple) else x
      for name, x in found.items()
    }
  comparison.check(found)
