"""The seam: the parts that differ between substrates, here for NumPy."""
