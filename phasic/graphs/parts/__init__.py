"""Building blocks of graphs: states, weights, parameters and checks."""
