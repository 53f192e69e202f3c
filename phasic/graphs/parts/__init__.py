"""Parts of a graph: states, weights, parameters and their checks."""
