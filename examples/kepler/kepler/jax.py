"""Kepler's equation for JAX."""

from kepler import library
from kepler import rules
from phasic.substrates.jax import binding

kepler = binding.bind_native(
  library.PATH, "kepler", jvp=rules.jvp, vjp=rules.vjp
)
