"""Linear systems of Markov chains, solved by elimination."""
