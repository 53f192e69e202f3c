"""Builds edges by exploring transitions, or from matrices."""
