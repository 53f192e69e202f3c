"""A module for NumPy and TensorFlow."""

PRESENT = True
