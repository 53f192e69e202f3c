"""Checks of values."""

from typing import Any

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import static


def check(condition: Any, message: str, x: Any) -> Any:
  """Returns `x` if the condition is true everywhere.

  Args:
    condition: a boolean array; under tracing its shape must broadcast to that
      of `x`.
    message: names the argument and the rule.
    x: the array that depends on the condition.

  Raises:
    ValueError: the condition fails. Under tracing JAX cannot raise and makes
      the entries of `x` NaN instead; TensorFlow raises InvalidArgumentError
      when the function runs.
  """
  known = static.concrete(condition)
  if known is not None:
    if not onp.all(known):
      raise ValueError(message)
    return x
  assertion = tf.debugging.Assert(tf.reduce_all(condition), [message])
  # Without the dependency the assertion could run after, or not at all.
  with tf.control_dependencies([assertion]):
    return tf.identity(x)


def check_not_empty(x: Any, name: str) -> Any:
  """Returns the array `x` if it has entries.

  Raises:
    ValueError: it has none. Where TensorFlow learns the shape only when the
      function runs, InvalidArgumentError is raised then.
  """
  shape = tuple(x.shape)
  message = f"{name} has shape {shape}: it must not be empty"
  if 0 in shape:
    raise ValueError(message)
  return check(tf.size(x) > 0, message, x) if None in shape else x
