"""Objects as JSON text, which is not trusted, and as pickles."""
