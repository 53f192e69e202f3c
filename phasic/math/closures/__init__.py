"""Chains of sums, extremes, mixtures and order statistics of times."""
