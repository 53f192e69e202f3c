"""Array functions that NumPy lacks, as this backend computes them.

Exponents and powers of two are constants for derivatives. tf.bitcast is not
used, as tf.vectorized_map does not support it.
"""

from __future__ import annotations

import math

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Array, ArrayLike


def binary_exponent(x: ArrayLike) -> Array:
  """Returns floor(log2(|x|)) as a float, possibly off by one."""
  x = tf.abs(tf.stop_gradient(tf.convert_to_tensor(x)))
  least = float(onp.finfo(x.dtype.as_numpy_dtype).minexp)
  return tf.maximum(tf.floor(tf.math.log(x) / math.log(2.0)), least)


def power_of_two(n: ArrayLike) -> Array:
  """Computes 2^n, with 0 for subnormal powers and inf for overflow."""
  n = tf.stop_gradient(tf.convert_to_tensor(n))
  info = onp.finfo(n.dtype.as_numpy_dtype)
  least, most = int(info.minexp) - 1, int(info.maxexp)
  powers = onp.ldexp(info.dtype.type(1), onp.arange(least + 1, most))
  powers = onp.concatenate([[0.0], powers, [math.inf]]).astype(info.dtype)
  indices = tf.cast(tf.clip_by_value(n, least, most), tf.int32) - least
  return tf.gather(powers, indices)


def segment_sum(x: ArrayLike, indices: ArrayLike, size: int) -> Array:
  """Computes, for each i < size, the sum of the entries with index i."""
  x = tf.convert_to_tensor(x)
  rank = len(x.shape)
  columns = tf.transpose(x, [rank - 1, *range(rank - 1)])
  sums = tf.math.unsorted_segment_sum(columns, indices, size)
  return tf.transpose(sums, [*range(1, rank), 0])


def check(
  condition: ArrayLike, message: str, x: Array, what: ArrayLike | None = None
) -> Array:
  """Returns `x` after checking that a condition is true everywhere."""
  known = static.concrete(condition)
  if known is not None:
    if not onp.all(known):
      raise ValueError(message)
    return x
  told = [message]
  if what is not None:
    told = [message, "found", _first_bad(condition, what)]
  assertion = tf.debugging.Assert(tf.reduce_all(condition), told)
  # The control dependency makes the assertion run before x is used.
  with tf.control_dependencies([assertion]):
    return tf.identity(x)


def _first_bad(condition: Array, what: ArrayLike) -> Array:
  """Returns the first value that violates the condition; zero if none."""
  what = tf.convert_to_tensor(what)
  shape = tf.broadcast_dynamic_shape(tf.shape(condition), tf.shape(what))
  bad = tf.logical_not(tf.broadcast_to(condition, shape))
  # Append a True entry, whose value is zero: argmax finds it if no value is
  # bad.
  bad = tf.concat([tf.reshape(bad, [-1]), [True]], axis=0)
  values = tf.reshape(tf.broadcast_to(what, shape), [-1])
  values = tf.concat([values, tf.zeros([1], what.dtype)], axis=0)
  return values[tf.argmax(tf.cast(bad, tf.int32))]
