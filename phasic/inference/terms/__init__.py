"""Log likelihoods of single observations, as functions of arrays."""
