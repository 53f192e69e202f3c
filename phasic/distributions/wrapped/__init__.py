"""Distributions made from another one: transformed, truncated, residual."""
