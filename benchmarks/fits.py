"""What fits to data cost: a gradient, a step of SVGD and one of EM.

The references do the same with what a user has without phasic: central
differences of a density per time, a scan of JAX, and SciPy's exponential of
matrices, one for each observation.
"""

from collections.abc import Callable, Iterator
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as onp
import optax
import scipy.linalg

from benchmarks import comparison
from benchmarks import jax_scan
from benchmarks import models
from benchmarks import per_time_method
from benchmarks import subject
from benchmarks import timing
from benchmarks.results import Row
from phasic.substrates.numpy import distributions
from phasic.substrates.numpy import inference

_PARTICLES = 100


def gradient(repeats: int) -> Iterator[Row]:
  """One log likelihood of 10,000 exact observations with its gradient."""
  model = models.kingman()
  times = onp.random.default_rng(5).permutation(model.times(10_000))
  methods = {
    "phasic": subject.phasic_data(model, times),
    "per time": per_time_method.PerTimeMethod(model, times),
  }
  seconds = comparison.compare(methods, comparison.GRADIENT, repeats)
  yield Row(
    f"{model.name}, 10,000 observations: log likelihood and gradient",
    seconds["phasic"],
    seconds["per time"],
    per_time_method.DIFFERENCES,
  )


def svgd(repeats: int) -> Iterator[Row]:
  """A step of BlackJAX's SVGD on 200 observations."""
  model = models.kingman()
  times = onp.random.default_rng(5).permutation(model.times(200))
  ours = subject.log_likelihood(model, times)
  steps = {"phasic": _svgd_step(model, ours)}
  ways = {
    f"{jax_scan.VMAPPED}, own rates": jax_scan.at_own_rates,
    jax_scan.VMAPPED: jax_scan.at_times,
  }
  forms = {**jax_scan.SPARSE, **jax_scan.DENSE}
  for way, at in ways.items():
    for name, form in forms.items():
      scan = at(form, model, times)
      steps[f"{way}: {name}"] = _svgd_step(
        model, lambda z, scan=scan: jnp.sum(scan(z[None]))
      )
  seconds = timing.interleaved(
    steps, repeats, budget=40.0, check=comparison.check
  )
  phasic = seconds.pop("phasic")
  for way in ways:
    names = (name for name in seconds if name.startswith(f"{way}:"))
    best = min(names, key=seconds.__getitem__)
    yield Row(
      f"{model.name}, 200 observations: SVGD, {_PARTICLES} particles, one step",
      phasic,
      seconds[best],
      best,
    )


def _svgd_step(
  model: models.Model, log_likelihood: Callable[[Any], Any]
) -> Callable[[], Any]:
  """A compiled step; parameters are logarithms over the model's own."""
  own = jnp.asarray(model.theta)

  def log_density(z):
    return log_likelihood(own * jnp.exp(z)) - 0.5 * jnp.sum(z * z)

  sampler = blackjax.svgd(jax.grad(log_density), optax.adam(1e-2))
  # Not above the rate that the scans are made for.
  starts = -jnp.abs(
    0.1 * jax.random.normal(jax.random.key(0), (_PARTICLES, len(own)))
  )
  state = sampler.init(starts)
  step = jax.jit(lambda state: sampler.step(state).particles)
  return lambda: jax.block_until_ready(step(state))


def em(repeats: int) -> Iterator[Row]:
  """A step of EM of a general phase-type distribution."""
  model = models.dense(10)
  times = onp.random.default_rng(5).permutation(model.times(1000))
  matrix, exits = model.at(model.theta)
  start = distributions.PhaseType(model.initial_probs, matrix)
  data = inference.Observations(times)

  def ours() -> tuple[onp.ndarray, onp.ndarray]:
    step = inference.em_step(start, data).distribution
    return step.subgenerator, step.exit_rates

  functions = {
    "phasic": ours,
    "expm": lambda: _em_by_expm(model.initial_probs, matrix, exits, times),
  }
  seconds = timing.interleaved(
    functions, repeats, budget=10.0, check=comparison.check
  )
  yield Row(
    f"{model.name}, 1,000 observations: a step of EM",
    seconds["phasic"],
    seconds["expm"],
    "SciPy expm, NumPy",
  )


def starts(repeats: int) -> Iterator[Row]:
  """A fit from the starts that data suggest, beside one from a single start."""
  times = onp.random.default_rng(1).lognormal(0.0, 1.2, 300)
  data = inference.Observations(times)
  for p in (2, 4):
    rates = p / onp.mean(times) * onp.ones(p)
    start = distributions.Coxian(rates[1:], 0.1 * rates)

    def ours(p: int = p) -> float:
      guess = inference.initial_guess(data, p, "coxian")
      return inference.fit_mle(guess, data).log_likelihood

    def from_one(start: distributions.Coxian = start) -> float:
      return inference.fit_mle(start, data, starts=()).log_likelihood

    seconds = timing.interleaved(
      {"phasic": ours, "one": from_one}, repeats, budget=20.0
    )
    yield Row(
      f"Coxian-{p}, 300 observations: guess and fit",
      seconds["phasic"],
      seconds["one"],
      "fit from one start",
      "Starts are compared by some steps of EM, and two of them are polished.",
    )


def _em_by_expm(
  initial_probs: onp.ndarray,
  matrix: onp.ndarray,
  exits: onp.ndarray,
  times: onp.ndarray,
) -> tuple[onp.ndarray, onp.ndarray]:
  """The step's formula, with an exponential of twice the size per time."""
  p = len(exits)
  block = onp.zeros((2 * p, 2 * p))
  block[:p, :p] = block[p:, p:] = matrix
  block[:p, p:] = onp.outer(exits, initial_probs)
  jumps, absorbed = onp.zeros((p, p)), onp.zeros(p)
  for t in times:
    power = scipy.linalg.expm(block * t)
    reached = initial_probs @ power[:p, :p]
    density = reached @ exits
    jumps += power[:p, p:].T / density
    absorbed += reached / density
  spent = onp.diag(jumps).copy()
  rates = matrix * jumps / spent[:, None]
  leaving = exits * absorbed / spent
  onp.fill_diagonal(rates, 0.0)
  return rates - onp.diag(rates.sum(axis=1) + leaving), leaving
