"""Calls of the kernel, or of the portable path where it cannot run."""
