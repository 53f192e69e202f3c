"""Exact derivatives in ball arithmetic."""
