"""On NumPy and TensorFlow."""

PRESENT = True
