"""Automatic differentiation of NumPy code, by traced arrays."""
