"""Results of a fit: estimates, uncertainty and predictions."""
