"""Phase-type distributions for NumPy, JAX and TensorFlow.

The public packages are `phasic.substrates.numpy`, `phasic.substrates.jax` and
`phasic.substrates.tf`; importing `phasic` gives the version and nothing heavy.
"""

__version__ = "0.1.0"
