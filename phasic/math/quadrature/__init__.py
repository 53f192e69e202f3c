"""Quadrature: entropies, divergences, expectations; and modes."""
