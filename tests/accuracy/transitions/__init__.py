"""Tests of the accuracy that the library promises."""
