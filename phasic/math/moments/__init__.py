"""Moments and transforms of absorption times; expected visits and jumps."""
