"""Kepler's equation for NumPy, JAX and TensorFlow.

Import the one you use: `from kepler.jax import kepler`, `from kepler.tf import
kepler` or `from kepler.numpy import kepler`.
"""
