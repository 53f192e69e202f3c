"""Linear systems of chains, solved by elimination."""
