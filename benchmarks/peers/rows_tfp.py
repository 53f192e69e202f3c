"""Rows of TensorFlow Probability's Gamma, eagerly, in double precision.

Parameters are tensors that exist beforehand.
"""

import tensorflow as tf
from tensorflow_probability import distributions


def _make():
  concentration = tf.constant(3.0, tf.float64)
  rate = tf.constant(2.0, tf.float64)
  return lambda: distributions.Gamma(concentration, rate)


def log_prob(times):
  dist, times = _make()(), tf.constant(times, tf.float64)
  return lambda: dist.log_prob(times)


def mean():
  dist = _make()()
  return lambda: dist.mean()


def constructed_log_prob(times):
  make, times = _make(), tf.constant(times, tf.float64)
  return lambda: make().log_prob(times)


def constructed_mean():
  make = _make()
  return lambda: make().mean()
