"""Chains that are killed at a rate in each phase."""

import numpy as np
import numpy as onp

from phasic.internal import gradients
from phasic.internal import static
from phasic.math import chain_solves


def killed(system, rates):
  """Returns the system with edges to absorption at rates, and its exits.

  Where the chain may stay for ever without being killed it is absorbed.

  Args:
    system: of a continuous chain.
    rates: killing rates, (..., p), in the system's unit.

  Returns:
    The system; and right-hand sides at its edges, (..., m, 1), with which the
    solution is the probability that the chain is absorbed, not killed.
  """
  p = static.shape(rates)[-1]
  sources, targets = system.indices[0], system.indices[1]
  phases = onp.arange(p, dtype=onp.int32)
  indices = np.concatenate(
    [
      np.stack([sources, targets]),
      np.asarray(onp.stack([phases, onp.full(p, p, onp.int32)])),
    ],
    axis=1,
  )
  exits = np.where(targets == p, system.weights, 0.0)
  batch = np.zeros_like(system.weights[..., :1]) + np.zeros_like(rates[..., :1])
  weights, exits, rates = system.weights + batch, exits + batch, rates + batch
  fixed = gradients.stop_gradient
  leaving = system._replace(
    indices=indices, weights=fixed(np.concatenate([weights, rates], axis=-1))
  )
  ends = np.concatenate([exits, rates], axis=-1)[..., None]
  none = np.zeros_like(rates)[..., None]
  never = chain_solves.solve(leaving, none, fixed(ends))[..., 0] == 0
  held = np.where(never, 1.0, 0.0)
  weights = np.concatenate([weights, rates + held], axis=-1)
  ends = np.concatenate([exits, held], axis=-1)[..., None]
  return system._replace(indices=indices, weights=weights), ends
