"""Survival data, and regressions of them by other programs and in 50 digits."""
