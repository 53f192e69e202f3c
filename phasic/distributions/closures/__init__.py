"""Sums, mixtures, extremes and order statistics of distributions."""
