"""Absorption times of chains: `PhaseType` and its discrete twin."""
