"""The M-step of EM: the likeliest parameters, given sufficient statistics."""
