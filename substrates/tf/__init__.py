"""The modules that differ between array libraries, here for TensorFlow."""

from phasic.substrates.tf.internal import frameworks

frameworks.require("tensorflow")
