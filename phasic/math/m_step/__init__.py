"""The M-step of EM: likeliest parameters, given what paths are expected to do."""
