"""The seam: the parts that differ between substrates, here for JAX."""

from phasic.substrates.jax.internal import frameworks

frameworks.require("jax")
