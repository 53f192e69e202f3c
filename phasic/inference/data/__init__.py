"""Observations: exact, censored, truncated and weighted data."""
