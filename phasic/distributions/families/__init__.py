"""Named families of phase-type distributions."""
