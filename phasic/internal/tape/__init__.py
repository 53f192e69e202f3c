"""NumPy code that is differentiated: arrays that remember how they were made."""
