"""Log likelihoods of data and their derivatives."""
