"""Chains without absorption, in the long run."""
