"""Plots of data beside fitted distributions."""
