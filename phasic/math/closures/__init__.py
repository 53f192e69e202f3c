"""Sums, extremes and order statistics of phase-type distributions."""
