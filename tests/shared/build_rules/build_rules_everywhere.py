"""A module for every substrate."""

PRESENT = True
