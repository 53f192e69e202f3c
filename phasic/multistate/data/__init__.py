"""Panel data from tables, and the columns of effects."""
