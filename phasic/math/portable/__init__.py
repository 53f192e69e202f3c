"""The portable path: the kernel's functions in array code, not native code."""
