"""Functions of one tensor to their derivatives."""

import tensorflow as tf


def gradient_of(function):
  """Returns the gradient, by reverse mode."""

  def gradient(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      value = function(x)
    return tape.gradient(value, x)

  return gradient


def along_ones(function):
  """Returns the derivative along ones, by forward mode."""

  def tangent(x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
      value = function(x)
    return accumulator.jvp(value)

  return tangent
