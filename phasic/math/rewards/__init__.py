"""Reward transforms and joint distributions of rewards."""
