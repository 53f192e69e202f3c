"""Functions and native libraries of users, bound as operations."""
