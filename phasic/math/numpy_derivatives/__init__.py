"""Derivatives that NumPy users call by name."""
