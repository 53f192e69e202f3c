"""The seam: the parts that differ between substrates, here for TensorFlow."""

from phasic.substrates.tf.internal import frameworks

frameworks.require("tensorflow")
