"""Exponents and powers of two of floating numbers.

Results are constants for derivatives. tf.bitcast is not used, as
tf.vectorized_map does not support it.
"""

from __future__ import annotations

import math

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal.arrays import Array
from phasic.substrates.tf.internal.arrays import ArrayLike


def exponent(x: ArrayLike) -> Array:
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
