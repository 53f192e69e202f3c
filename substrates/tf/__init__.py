"""The seam: what differs from substrate to substrate, here for TensorFlow."""

from phasic.substrates.tf.internal import frameworks

frameworks.require("tensorflow")
