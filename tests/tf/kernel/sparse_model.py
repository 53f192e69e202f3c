"""A sparse model, and the same as a subgenerator, for the tests of edges.

Coefficients, constants and parameters are short binary fractions: the rates of
edges are exact in float32 too, in whatever order they are summed.
"""

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import kernel_ops

PHASES = 8
INDICES = onp.array(
  [
    # A ring, shortcuts, exits of three phases, and a phase to itself.
    [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 5, 6, 1, 4, 7, 3],
    [1, 2, 3, 4, 5, 6, 7, 0, 4, 0, 2, 1, 8, 8, 8, 3],
  ],
  onp.int32,
)
EDGES = INDICES.shape[1]
THETA = onp.array([0.75, 1.5, 0.25])
DIRECTION = onp.array([0.5, -1.25, 2.0])
THETAS = onp.array([[0.75, 1.5, 0.25], [1.0, 0.5, 2.0]])
TIMES = onp.array([0.125, 1.0, 4.5, 0.0])
INITIAL_PROBS = onp.array([0.5, 0.0, 0.25, 0.0, 0.0, 0.125, 0.0, 0.125])
# Some are zero: not every edge depends on every parameter.
COEFFICIENTS = onp.random.default_rng(1).integers(0, 9, (EDGES, 3)) / 8.0
CONSTANTS = onp.random.default_rng(2).integers(0, 5, EDGES) / 16.0


def edges(dtype=tf.float64, batch_rank=0):
  """The three arrays, with batch dimensions of size one."""
  lead = (1,) * batch_rank
  return (
    tf.constant(INDICES[(None,) * batch_rank]),
    tf.constant(onp.reshape(CONSTANTS, (*lead, EDGES)), dtype),
    tf.constant(onp.reshape(COEFFICIENTS, (*lead, EDGES, 3)), dtype),
  )


def operands(theta, initial_probs=None, times=None):
  """The five operands of a sparse call; theta (..., d)."""
  theta = tf.convert_to_tensor(theta)
  lead = (1,) * (theta.shape.rank - 1)
  default = lambda x, value: (
    tf.reshape(tf.cast(value, theta.dtype), (*lead, -1)) if x is None else x
  )
  absent = tf.zeros((*lead, 0), theta.dtype)
  return [
    default(initial_probs, INITIAL_PROBS),
    theta,
    absent,
    absent,
    default(times, TIMES),
  ]


def sparse(kind, theta, initial_probs=None, times=None):
  """The kernel's function of edges."""
  theta = tf.convert_to_tensor(theta)
  return kernel_ops.phase_type(
    kind,
    operands(theta, initial_probs, times),
    None,
    edges(theta.dtype, theta.shape.rank - 1),
  )


def dense(kind, theta, initial_probs=None, times=None):
  """The same of a subgenerator with exit rates, by TensorFlow's algebra."""
  theta = tf.convert_to_tensor(theta)
  rates = tf.cast(CONSTANTS, theta.dtype) + tf.einsum(
    "ec,...c->...e", tf.cast(COEFFICIENTS, theta.dtype), theta
  )
  sources, targets = INDICES
  place = onp.zeros((EDGES, PHASES, PHASES + 1))
  place[onp.arange(EDGES), sources, targets] = sources != targets
  table = tf.einsum("...e,eij->...ij", rates, tf.cast(place, theta.dtype))
  five = operands(theta, initial_probs, times)
  five[1], five[2] = table[..., :PHASES], table[..., PHASES]
  return kernel_ops.phase_type(kind, five, None)


def with_arrays(theta, constants=None, coefficients=None, indices=None):
  """The log density, with some of the arrays of edges replaced."""
  given = indices, constants, coefficients
  arrays = [y if x is None else x for x, y in zip(given, edges(), strict=True)]
  return kernel_ops.phase_type("log_density", operands(theta), None, arrays)
