"""Rewrites source written once for NumPy into one package per substrate."""
