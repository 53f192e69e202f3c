"""Absorption times of chains whose rates change at known times."""
