"""Calls of the kernel, or of the portable path if it cannot run."""
