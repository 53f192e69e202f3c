"""Users' Python functions and native libraries as array functions."""
