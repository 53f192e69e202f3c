"""Maximum likelihood by gradient methods."""
