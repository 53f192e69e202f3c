"""Observations: exact, censored, truncated, weighted."""
