"""Rows of phasic in TensorFlow, and of its native op without phasic.

Parameters are tensors that exist beforehand. The loops are in a `tf.function`
with the model as its arguments; a call from Python would take longer than what
it computes. The bare op is what `log_prob` calls in the end.
"""

import tensorflow as tf

from phasic.substrates import tf as ph
from phasic.substrates.tf.internal import kernel_common
from phasic.substrates.tf.internal import phase_type_op


def _make():
  start = tf.constant([1.0, 0.0, 0.0], tf.float64)
  subgenerator = tf.constant(
    [[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0], [0.0, 0.0, -2.0]], tf.float64
  )
  return lambda: ph.distributions.PhaseType(start, subgenerator)


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


def _loop(step, times, calls):
  """Returns a call of a program whose steps each need the one before."""
  dist, times = _make()(), tf.constant(times, tf.float64)
  model = (dist.initial_probs, dist.subgenerator)

  @tf.function
  def compiled(times, initial_probs, subgenerator):
    for _ in tf.range(calls):
      times = 1.0 + 0.125 * step(times, initial_probs, subgenerator)
    return times

  return lambda: compiled(times, *model)


def loop(times, calls):
  def step(times, initial_probs, subgenerator):
    dist = ph.distributions.PhaseType(initial_probs, subgenerator)
    return dist.log_prob(times)

  return _loop(step, times, calls)


def loop_of_op(times, calls):
  kind = kernel_common.KINDS.index("log_density")

  def step(times, initial_probs, subgenerator):
    exit_rates = tf.constant([0.0, 0.0, 2.0], tf.float64)
    no_mass_at_zero = tf.zeros([0], tf.float64)
    operands = (initial_probs, subgenerator, exit_rates, no_mass_at_zero)
    return phase_type_op.forward(kind, 0, [[*operands, times]])

  return _loop(step, times, calls)
