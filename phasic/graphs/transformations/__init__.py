"""Makes graphs from graphs: lumping, reversal, embedding."""
