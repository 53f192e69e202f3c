"""Reference results in ball arithmetic for the accuracy tests."""
