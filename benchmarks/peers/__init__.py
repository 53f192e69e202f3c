"""Compares phasic with what users would take instead."""
