"""Log likelihoods of panel data."""
