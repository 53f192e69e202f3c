"""Kepler's equation for NumPy."""

from kepler import library
from kepler import rules
from phasic.substrates.numpy import binding

kepler = binding.bind_native(
  library.PATH, "kepler", jvp=rules.jvp, vjp=rules.vjp
)
