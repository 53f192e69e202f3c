"""Native ops as the tests bind them for TensorFlow, and ways to run them."""

import tensorflow as tf

from phasic.substrates.tf import binding
from tests.native_ops import libraries

MODES = {
  "eager": lambda f: f,
  "graph": lambda f: tf.function(f, autograph=False),
  "xla": lambda f: tf.function(f, autograph=False, jit_compile=True),
}


def bind(name, **rules):
  """Binds one of the test ops."""
  return binding.bind_native(
    libraries.ops(), name, tf_library=libraries.ops_tf(), **rules
  )


def scale_vjp(inputs, outputs, cotangents):
  """The reverse rule of test_scale."""
  (factor, x), (ct,) = inputs, cotangents
  return tf.reduce_sum(ct * x, axis=-1), factor[..., None] * ct
