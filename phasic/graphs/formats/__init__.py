"""Converts graphs to text, JSON, networkx graphs and plots."""
