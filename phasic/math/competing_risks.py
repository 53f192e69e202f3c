"""Absorption by one of several causes.

The law of the time and one cause is that of a defective model: edges to other
causes lead to one extra phase that nothing leaves. Its density is that of the
time and the cause, its cdf the cumulative incidence. So a cause needs no
numerics of its own.

Reference: J. D. Kalbfleisch, R. L. Prentice, The statistical analysis of
  failure time data, 2002, ch. 8.
"""

import math

import numpy as np

from phasic.internal import control_flow
from phasic.internal import static
from phasic.math import chain_arguments
from phasic.math import chain_solves


def of_cause(cause, initial_probs, edges, exits, prob_zero, has_atom):
  """Returns the model of absorption by one cause.

  Args:
    cause: its number c.
    initial_probs: alpha, (..., p).
    edges: EdgeRates or EdgeProbs whose targets p + c are absorption by cause
      c, as those of a graph.
    exits: None, there are only edges.
    prob_zero: z, (...), or None to derive it.
    has_atom: whether the mass at zero belongs to the cause.

  Returns:
    Initial masses (..., p + 1), edges, None and mass at zero, as functions of
    `math` take them.
  """
  p = static.shape(initial_probs)[-1]
  none = np.zeros_like(initial_probs[..., :1])
  targets = np.where(edges.targets == p + cause, p + 1, edges.targets)
  trapped = (edges.targets >= p) & (edges.targets != p + cause)
  targets = np.where(trapped, p, targets)
  return (
    np.concatenate([initial_probs, none], axis=-1),
    edges._replace(targets=np.asarray(targets, dtype="int32")),
    exits,
    prob_zero if has_atom else none[..., 0],
  )


def cause_probs(
  initial_probs, edges, prob_zero, count, cause_of_atom, discrete=False
):
  """Returns the probabilities of the causes, (..., count).

  That of cause c is alpha U w_c, with U = (-S)^-1 and w_c the weights of the
  edges to it, and with the mass at zero where that belongs to the cause.

  Args:
    initial_probs: alpha, (..., p).
    edges: EdgeRates or EdgeProbs whose targets p + c are absorption by cause
      c.
    prob_zero: z, (...), or None to derive it.
    count: the number of causes.
    cause_of_atom: the number of the cause that the mass at zero belongs to, or
      None.
    discrete: whether time is.
  """
  p = static.shape(initial_probs)[-1]
  clipped = edges._replace(targets=np.minimum(edges.targets, p))
  matrix = "subtransition" if discrete else "subgenerator"
  exits = "exit_probs" if discrete else "exit_rates"
  model, _, batch, dtype = chain_arguments.convert(
    initial_probs,
    clipped,
    None,
    prob_zero,
    names=("initial_probs", matrix, exits, "prob_zero"),
  )
  found = _run(count, cause_of_atom, discrete, dtype, model, edges.targets)
  return np.broadcast_to(found, (*batch, count))


def _cause_probs(count, cause_of_atom, discrete, dtype, model, targets):
  system = chain_solves.derive(model, discrete, dtype)
  y = chain_solves.sojourns(system)
  # A trap has no edges to absorption.
  y = np.where(y == math.inf, 0.0, y)
  flows = system.weights * chain_solves.at_sources(system, y)
  p = static.shape(y)[-1]
  found = []
  for cause in range(count):
    prob = np.sum(np.where(targets == p + cause, flows, 0.0), axis=-1)
    prob = prob + system.atom if cause == cause_of_atom else prob
    found.append(chain_solves.checked(system, prob))
  return np.asarray(np.stack(found, axis=-1), dtype=dtype)


_run = control_flow.compiled(_cause_probs, static_argnums=(0, 1, 2, 3))
