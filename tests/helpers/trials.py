"""Waiting for a number of successes, as discrete phase-type models."""

import numpy as onp

from phasic import math as pm


def dense(p, prob):
  """Phases that are left by a success each: alpha and T."""
  matrix = (1 - prob) * onp.eye(p) + prob * onp.diag(onp.ones(p - 1), 1)
  return onp.eye(p)[0], matrix


def edges(p, prob, loops=False):
  """The same as edges with one parameter; loops may be left out."""
  sources, targets = onp.arange(p), onp.arange(p) + 1
  constants, coefficients = onp.zeros(p), onp.ones((p, 1))
  if loops:
    sources = onp.concatenate([sources, sources[:p]])
    targets = onp.concatenate([targets, onp.arange(p)])
    constants = onp.concatenate([constants, onp.ones(p)])
    coefficients = onp.concatenate([coefficients, -onp.ones((p, 1))])
  return pm.EdgeProbs(
    sources, targets, onp.asarray([prob]), coefficients, constants
  )
