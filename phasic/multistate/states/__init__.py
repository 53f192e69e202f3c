"""States, transitions and phases of multi-state models."""
