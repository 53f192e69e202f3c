"""Samples of absorption times and of paths."""
