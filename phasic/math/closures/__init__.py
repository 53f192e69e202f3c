"""Models of sums, extremes, mixtures and order statistics of random times."""
