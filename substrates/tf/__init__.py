"""The seam: what differs from substrate to substrate, here for TensorFlow."""
