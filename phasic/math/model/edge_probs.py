"""Sparse discrete models: probabilities of edges, linear in parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.internal.arrays import ArrayField


class EdgeProbs(NamedTuple):
  """The probabilities of a sparse chain's edges, linear in parameters.

  In each step edge e leads from sources[e] to targets[e] with probability

      prob_e = constants[e] + sum_c coefficients[e, c] parameters[..., c].

  Target p, the number of phases, is absorption. Parallel edges add up. The
  probability of staying in a phase is one minus the probabilities of its edges
  to other phases and to absorption. So edges from a phase to itself may be left
  out. A deficit of a row up to 4 p eps counts as rounding; a row above one
  gives NaN. Derivatives follow this rule: the derivative in an edge from a
  phase to itself is zero by definition, and any other edge moves the
  probability of staying too. Derivatives exist in `parameters`. To
  differentiate in coefficients or constants, compute the probabilities yourself
  and pass them as parameters without coefficients.

  Attributes:
    sources: (m,), integers in [0, p).
    targets: (m,), integers in [0, p].
    parameters: theta, (..., d); without coefficients the probabilities, (...,
      m). Every probability must be >= 0, else values are NaN.
    coefficients: (m, d), or None.
    constants: (m,), or None for zeros.

  Example: three heads, where a head comes with probability 1/4.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> edges = pm.EdgeProbs([0, 1, 2], [1, 2, 3], [0.25], [[1.0]] * 3)
    >>> value = pm.discrete_phase_type.prob(4, [1.0, 0.0, 0.0], edges)
    >>> print(f"{float(value):.6f}")
    0.035156
  """

  sources: ArrayField
  targets: ArrayField
  parameters: ArrayField
  coefficients: ArrayField | None = None
  constants: ArrayField | None = None

  def __repr__(self) -> str:
    return text_of(self)


def text_of(edges: tuple[object, ...]) -> str:
  """Returns the text of a sparse model for `repr`: its class and shapes."""
  names = EdgeProbs._fields
  shapes = [
    f"{name}={getattr(x, 'shape', None) or onp.shape(onp.asarray(x))}"
    for name, x in zip(names, edges, strict=True)
    if x is not None
  ]
  return f"<{type(edges).__name__} of shapes {', '.join(shapes)}>"
