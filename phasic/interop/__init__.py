"""Adapters to other libraries: import the one that is needed, by its name.

Each is there for the substrates where its library lives, and imports it:
`interop.scipy` for NumPy, `interop.numpyro` for JAX, `interop.tfp` for JAX and
TensorFlow. All have `wrap(distribution)`.
"""
