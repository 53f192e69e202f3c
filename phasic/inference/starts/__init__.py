"""Initial guesses for fits, from the data."""
