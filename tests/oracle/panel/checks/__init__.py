"""Tests of the figures and of the reference likelihood of panel data."""
