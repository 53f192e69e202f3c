"""Transforms graphs: lumping, time reversal, embedded jump chains and more."""
