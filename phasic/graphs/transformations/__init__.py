"""Makes graphs from graphs: lumping, time reversal, embedded jump chains."""
