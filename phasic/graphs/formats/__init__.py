"""Text, JSON, networkx and plots of graphs."""
