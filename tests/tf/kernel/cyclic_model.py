"""The function that `uses_test` differentiates, and its derivatives.

f(theta, t) is the log density of a cyclic model with three phases and three
parameters, at four times. The reference is the matrix exponential, of nilpotent
perturbations for derivatives.
"""

import functools

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf import distributions as pd

ALPHA = onp.array([0.5, 0.3, 0.2])
EXITS = onp.array([0.3, 0.2, 0.7])
THETA = onp.array([1.0, 2.0, 3.0])
TIMES = onp.array([0.1, 0.5, 1.0, 2.0])
WEIGHTS = onp.array([1.0, 0.5, 2.0, -1.0])
DIRECTION = onp.array([0.3, -0.7, 1.1])
BATCH = onp.array([[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]])


def subgenerator(theta):
  """Rates round a cycle of three phases, (..., 3, 3)."""
  a, b, c = tf.unstack(tf.convert_to_tensor(theta), axis=-1)
  exits = [tf.cast(s, a.dtype) for s in EXITS]
  zero = tf.zeros_like(a)
  rows = [
    tf.stack([-(a + exits[0]), a, zero], -1),
    tf.stack([zero, -(b + exits[1]), b], -1),
    tf.stack([c, zero, -(c + exits[2])], -1),
  ]
  return tf.stack(rows, -2)


def f(theta, t):
  """theta (..., 3) and t (..., n) to log densities (..., n)."""
  matrix = subgenerator(theta)[..., None, :, :]
  alpha = tf.constant(ALPHA, matrix.dtype)
  return pd.PhaseType(alpha, matrix).log_prob(t)


def expm(matrix):
  """Matrix exponential by scaling, Taylor's series and squaring."""
  matrix = matrix / 64
  term = power = tf.eye(matrix.shape[-1], dtype=matrix.dtype)
  for k in range(1, 20):
    term = term @ matrix / k
    power = power + term
  for _ in range(6):
    power = power @ power
  return power


def reference(theta, t):
  """The same by the matrix exponential."""
  matrix = subgenerator(theta)[..., None, :, :]
  power = expm(matrix * tf.convert_to_tensor(t)[..., None, None])
  exits = -tf.reduce_sum(matrix, -1)
  return tf.math.log(
    tf.einsum("i,...ij,...j->...", tf.constant(ALPHA), power, exits)
  )


def jacobian(function, theta, pfor=False):
  """The Jacobian of a function of one array."""
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(theta)
    value = function(theta)
  return tape.jacobian(value, theta, experimental_use_pfor=pfor)


@functools.cache
def expected(order):
  """Derivatives of f at THETA, (4, 3, ..., 3), by nilpotent perturbations.

  A parameter's e with e * e = 0 is a matrix N with N @ N = 0: up to three of
  them, in all directions, are eight blocks of one matrix function on the host.
  """
  one, nil = onp.eye(2), onp.array([[0.0, 1.0], [0.0, 0.0]])
  units = [
    functools.reduce(onp.kron, [nil if i == j else one for j in range(3)])
    for i in range(3)
  ]
  slopes = _slopes()
  base = onp.tensordot(THETA, slopes, 1) - onp.diag(EXITS)
  result = onp.zeros((len(TIMES),) + (3,) * order)
  for index in onp.ndindex(*result.shape):
    matrix = onp.kron(base, onp.eye(8))
    for slot, parameter in enumerate(index[1:]):
      matrix = matrix + onp.kron(slopes[parameter], units[slot])
    power = expm(tf.constant(matrix * TIMES[index[0]])).numpy()
    blocks = onp.reshape(power, (3, 8, 3, 8))
    density = onp.einsum("i,iajb,j->ab", ALPHA, blocks, EXITS)
    value = density[0, 0]
    rest = density / value - onp.eye(8)
    square = rest @ rest
    logarithm = rest - square / 2 + square @ rest / 3
    column = (0, 4, 6, 7)[order]
    result[index] = logarithm[0, column] if order else onp.log(value)
  return result


def _slopes():
  """Derivatives of the subgenerator in the parameters, (3, 3, 3)."""
  slopes = onp.zeros((3, 3, 3))
  for i in range(3):
    slopes[i, i, i], slopes[i, i, (i + 1) % 3] = -1, 1
  return slopes
