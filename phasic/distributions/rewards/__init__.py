"""Rewards that a chain accumulates until absorption."""
