"""The modules that differ between array libraries, here for JAX."""

from phasic.substrates.jax.internal import frameworks

frameworks.require("jax")
