"""Checks of values."""

from __future__ import annotations

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal.arrays import Array
from phasic.substrates.tf.internal.arrays import ArrayLike


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
  # A last entry True ensures that argmax finds one; its value is zero.
  bad = tf.concat([tf.reshape(bad, [-1]), [True]], axis=0)
  values = tf.reshape(tf.broadcast_to(what, shape), [-1])
  values = tf.concat([values, tf.zeros([1], what.dtype)], axis=0)
  return values[tf.argmax(tf.cast(bad, tf.int32))]
