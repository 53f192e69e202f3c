"""Comparison of fits, and the choice of the number of phases."""
