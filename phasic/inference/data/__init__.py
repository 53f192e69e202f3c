"""Observations, exact, censored, truncated and weighted; their likelihoods."""
