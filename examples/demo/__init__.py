"""The parts of the strikes demo."""

import jax

# JAX computes in single precision unless told otherwise before it is used.
jax.config.update("jax_enable_x64", True)
