"""Graphs in the long run."""
