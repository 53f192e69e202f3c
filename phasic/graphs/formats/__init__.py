"""Writes, reads, draws and describes graphs."""
