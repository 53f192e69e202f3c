"""Computes log likelihoods of single observations from arrays."""
