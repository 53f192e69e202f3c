"""Quantiles of probabilities and of log probabilities."""
