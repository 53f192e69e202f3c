"""The modules that differ between array libraries, here for NumPy."""
