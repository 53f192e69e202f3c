"""The seam: what differs from substrate to substrate, here for JAX."""

from phasic.substrates.jax.internal import frameworks

frameworks.require("jax")
