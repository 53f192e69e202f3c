"""Plots of data and fitted distributions."""
