"""Initial guesses for fits, and checks of starts and data."""
