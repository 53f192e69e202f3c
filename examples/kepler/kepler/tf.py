"""Kepler's equation for TensorFlow."""

from kepler import library
from kepler import rules
from phasic.substrates.tf import binding

kepler = binding.bind_native(
  library.PATH, "kepler", jvp=rules.jvp, vjp=rules.vjp
)
