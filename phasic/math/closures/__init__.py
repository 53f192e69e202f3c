"""Closure properties: sums, extremes and order statistics."""
