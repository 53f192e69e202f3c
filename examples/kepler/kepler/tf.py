"""Kepler's equation for TensorFlow."""

from phasic.substrates.tf import binding

from kepler import library
from kepler import rules

kepler = binding.bind_native(
  library.PATH, "kepler", jvp=rules.jvp, vjp=rules.vjp
)
