"""Maps between distributions and unconstrained parameters."""
