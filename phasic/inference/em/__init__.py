"""Maximum likelihood by the EM algorithm."""
