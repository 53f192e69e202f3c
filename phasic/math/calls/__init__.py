"""Calls of the native kernel, or of array code where the kernel cannot run."""
