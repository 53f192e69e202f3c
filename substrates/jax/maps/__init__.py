"""phasic's own functions as maps that `multilinear` binds."""
