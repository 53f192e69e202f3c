"""Compares fits and chooses the number of phases."""
