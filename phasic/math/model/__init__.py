"""Checks the arguments of a model and lays them out for the kernel."""
