"""The class `Graph`, and functions that evaluate graphs."""
