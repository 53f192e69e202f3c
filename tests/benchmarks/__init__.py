"""Tests of the benchmark's models and methods."""
