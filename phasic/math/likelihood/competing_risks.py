"""Absorption by one of several causes.

The time of absorption by one cause has a defective model: edges to other causes
lead to an extra phase that is never left. Its density is the joint density of
time and cause, and its cdf is the cumulative incidence. So causes use the
functions of ordinary models.

Reference: J. D. Kalbfleisch, R. L. Prentice, The statistical analysis of
  failure time data, 2002, ch. 8.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.model.model_types import Edges, Model
from phasic.math.numeric import array_utils


def model_of_cause(
  cause: int,
  initial_probs: Array,
  edges: Edges,
  exits: None,
  prob_zero: Array | None,
  has_atom: bool,
) -> Model:
  """Builds the defective model of the time until absorption by one cause.

  Args:
    cause: its number c.
    initial_probs: alpha, (..., p).
    edges: EdgeRates or EdgeProbs whose targets p + c are absorption by cause c,
      as in graphs.
    exits: None, as edges lead to absorption.
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
    edges._replace(targets=structures.cast(targets, "int32")),
    exits,
    prob_zero if has_atom else none[..., 0],
  )


def cause_probs(
  initial_probs: Array,
  edges: Edges,
  prob_zero: Array | None,
  count: int,
  cause_of_atom: int | None,
  discrete: bool = False,
) -> Array:
  """Computes the probabilities of the causes, an array of shape (..., count).

  They are sums of expected passages of edges to absorption.

  Args:
    initial_probs: alpha, (..., p).
    edges: EdgeRates or EdgeProbs whose targets p + c are absorption by cause
      c.
    prob_zero: z, (...), or None to derive it.
    count: the number of causes.
    cause_of_atom: the number of the cause that the mass at zero belongs to, or
      None.
    discrete: whether time is discrete.
  """
  p = static.shape(initial_probs)[-1]
  clipped = edges._replace(targets=np.minimum(edges.targets, p))
  jumps = chain_calls.value(
    chain_passages.exit_jumps,
    (initial_probs, clipped, None, prob_zero),
    discrete,
  )
  probs = [
    np.sum(np.where(edges.targets == p + cause, jumps, 0.0), axis=-1)
    for cause in range(count)
  ]
  if cause_of_atom is not None:
    # If prob_zero is None, the cdf at zero gives the mass that the kernel
    # derives.
    arguments = (initial_probs, clipped, 0.0, None, prob_zero)
    atom = evaluation.value("cdf", arguments, discrete)
    probs = [x + atom if c == cause_of_atom else x for c, x in enumerate(probs)]
  return array_utils.at_most(np.stack(probs, axis=-1), 1.0)
