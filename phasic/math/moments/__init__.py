"""Moments, transforms and expected passages of absorption times."""
