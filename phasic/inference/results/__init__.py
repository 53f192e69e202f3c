"""Results of a fit: estimates, uncertainty, predictions."""
