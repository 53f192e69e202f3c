"""On every substrate."""

PRESENT = True
