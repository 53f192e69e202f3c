"""The portable path: what the kernel computes, in array code."""
