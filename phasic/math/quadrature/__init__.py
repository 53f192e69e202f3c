"""Quadrature: entropies, divergences, modes, expectations."""
