"""Builds the edges of a graph from transitions, edge lists or matrices."""
