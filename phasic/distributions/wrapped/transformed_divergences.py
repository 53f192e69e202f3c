"""Divergences of two transformed phase-type distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal.arrays import Array

MODE = "numpy"


def kl_divergence(p: Any, q: Any) -> Array:
  """Computes KL(p, q) of two distributions of the class `TransformedPhaseType`.

  Where both apply the same function this is the divergence of the wrapped ones.
  """
  comparable.check_same_kind("kl_divergence", p, q)
  own, others = p._own(), q._own()
  if type(p) is not type(q) or not _are_known_equal(own, others):
    return comparable.kl_divergence(p, q)
  found = p.distribution.kl_divergence(q.distribution)
  batch = static.broadcast_shapes(p._batch_shape(), q._batch_shape())
  found = np.broadcast_to(found, batch)
  if MODE == "numpy":
    return found
  else:
    # The values of parameters that are differentiated are known here.
    arrays = [*own.values(), *others.values()]
    return _with_derivatives(found, comparable.kl_divergence(p, q), arrays)


def _are_known_equal(own: dict[str, Array], others: dict[str, Array]) -> bool:
  for name, x in own.items():
    known = static.concrete(x), static.concrete(others[name])
    if known[0] is None or known[1] is None or onp.any(known[0] != known[1]):
      return False
  return True


def _with_derivatives(found: Array, other: Array, arrays: list[Array]) -> Array:
  """Returns the values of `found` with the derivatives of `other`.

  Where the values of `other` are not finite, the derivatives are those of
  `found`, and NaN with respect to `arrays`.
  """
  fixed = autodiff.stop_gradient
  lost = np.logical_not(np.isfinite(fixed(other)))
  zero = np.zeros_like(found)
  for x in arrays:
    zero = zero + 0.0 * x
  # The square root of zero has the derivative inf, and inf times zero is NaN.
  unknown = np.sqrt(np.where(lost, zero, 1.0))
  change = np.where(lost, 0.0, other)
  return np.where(lost, found + unknown, fixed(found) + change - fixed(change))
