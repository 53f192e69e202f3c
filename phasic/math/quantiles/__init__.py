"""Quantiles, with their log versions and bounds."""
