"""Adapters to other libraries, each a module to import by name.

Each is there for the substrates where its library lives, and imports it:
`interop.scipy` for NumPy, `interop.numpyro` for JAX, `interop.tfp` for JAX and
TensorFlow. All have `wrap(distribution)`.
"""
