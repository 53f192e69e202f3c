"""Resamples of the data of a fit, and fits to them: the bootstrap."""
