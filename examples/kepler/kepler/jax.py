"""Kepler's equation for JAX."""

from phasic.substrates.jax import binding

from kepler import library
from kepler import rules

kepler = binding.bind_native(
  library.PATH, "kepler", jvp=rules.jvp, vjp=rules.vjp
)
