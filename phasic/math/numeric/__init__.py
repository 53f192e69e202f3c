"""Arithmetic on arrays: exact and scaled sums, special functions."""
