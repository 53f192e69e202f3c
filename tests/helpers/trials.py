"""Trials until a number of successes, as discrete phase-type models."""

import numpy as onp

from phasic import math as pm


def dense(p, prob):
  """Returns alpha and T; each success leads to the next phase."""
  matrix = (1 - prob) * onp.eye(p) + prob * onp.diag(onp.ones(p - 1), 1)
  return onp.eye(p)[0], matrix


def edges(p, prob, loops=False):
  """Returns the edges with one parameter, optionally without loops."""
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
