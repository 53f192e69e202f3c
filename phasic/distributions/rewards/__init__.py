"""Rewards that accumulate on the way to absorption."""
