"""Densities, probabilities and hazards as functions of time."""
