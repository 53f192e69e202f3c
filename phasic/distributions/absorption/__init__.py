"""Absorption times of Markov chains: `PhaseType` and `DiscretePhaseType`."""
