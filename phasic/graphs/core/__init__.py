"""The class `Graph` and its evaluation."""
