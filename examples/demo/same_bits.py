"""The same log-likelihood and gradient, by NumPy, JAX and TensorFlow."""

from collections.abc import Callable
import math

import jax
import numpy as np
import tensorflow as tf

from phasic.substrates import jax as ph_jax
from phasic.substrates import numpy as ph_numpy
from phasic.substrates import tf as ph_tf

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Result = tuple[np.ndarray, Arrays]


def by_numpy(model: Arrays, times: np.ndarray) -> Result:
  def log_densities(initial_probs, subgenerator, exit_rates):
    dist = ph_numpy.distributions.PhaseType(
      initial_probs, subgenerator, exit_rates=exit_rates
    )
    return dist.log_prob(times)

  values, pullback = ph_numpy.math.vjp(log_densities, *model)
  return values, pullback(np.ones_like(values))


def by_jax(model: Arrays, times: np.ndarray) -> Result:
  def log_densities(initial_probs, subgenerator, exit_rates):
    dist = ph_jax.distributions.PhaseType(
      initial_probs, subgenerator, exit_rates=exit_rates
    )
    return dist.log_prob(times)

  values, pullback = jax.vjp(log_densities, *map(jax.numpy.asarray, model))
  gradients = pullback(jax.numpy.ones_like(values))
  return np.asarray(values), tuple(np.asarray(g) for g in gradients)


def by_tensorflow(model: Arrays, times: np.ndarray) -> Result:
  initial_probs, subgenerator, exit_rates = map(tf.Variable, model)
  dist = ph_tf.distributions.PhaseType(
    initial_probs, subgenerator, exit_rates=exit_rates
  )
  with tf.GradientTape() as tape:
    values = dist.log_prob(times)
  gradients = tape.gradient(values, [initial_probs, subgenerator, exit_rates])
  return values.numpy(), tuple(g.numpy() for g in gradients)


WAYS: dict[str, Callable[[Arrays, np.ndarray], Result]] = {
  "NumPy": by_numpy,
  "JAX": by_jax,
  "TensorFlow": by_tensorflow,
}


def same(arrays: list[np.ndarray]) -> bool:
  """Whether all arrays have the same dtype, shape and bits."""
  first = arrays[0]
  return all(
    a.dtype == first.dtype
    and a.shape == first.shape
    and a.tobytes() == first.tobytes()
    for a in arrays
  )


def compare(model: Arrays, times: np.ndarray) -> bool:
  """Prints what the three ways give; returns whether the bits are the same."""
  results = [way(model, times) for way in WAYS.values()]
  p = len(model[0])
  rows = [("log-likelihood", [math.fsum(r[0]) for r in results])]
  rows += [
    (f"d / d initial_probs[{i}]", [r[1][0][i] for r in results])
    for i in range(p)
  ]
  rows += [
    (f"d / d subgenerator[{i}, {j}]", [r[1][1][i, j] for r in results])
    for i in range(p)
    for j in range(p)
    if i != j
  ]
  rows += [
    (f"d / d exit_rates[{i}]", [r[1][2][i] for r in results]) for i in range(p)
  ]
  print(f"  {'':24s}" + "".join(f"{name:>25s}" for name in WAYS))
  for label, values in rows:
    numbers = "".join(f"{float(v)!r:>25s}" for v in values)
    print(f"  {label:24s}{numbers}")
    print(f"  {'':24s}" + "".join(f"{float(v).hex():>25s}" for v in values))
  densities_same = same([r[0] for r in results])
  gradients_same = all(same([r[1][i] for r in results]) for i in range(3))
  count = sum(g.size for g in results[0][1])
  print(
    f"  All {len(times)} log densities: "
    f"{'the same bits' if densities_same else 'DIFFERENT BITS'}. "
    f"All {count} derivatives: "
    f"{'the same bits' if gradients_same else 'DIFFERENT BITS'}."
  )
  return densities_same and gradients_same
