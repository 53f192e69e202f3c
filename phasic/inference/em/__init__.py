"""Maximum likelihood by expectation and maximization."""
