"""Speed of phasic next to other ways to the same numbers."""
