"""Linear predictors of effects."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic import distributions
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.regression import parts
from phasic.regression import reading
from phasic.regression import specs
from phasic.regression import terms


def effects_of(
  spec: specs.Spec,
  parameters: reading.Parameters,
  dist: distributions.Distribution,
  matrices: Mapping[str, Any],
  offsets: Mapping[str, Any],
) -> terms.Effects:
  """Computes linear predictors from columns and offsets.

  Args:
    spec: of the regression.
    parameters: its parameters, with coefficients by name of the effect.
    dist: the distribution at covariates zero.
    matrices: columns (..., k), by name of the effect.
    offsets: (...), by name of the effect.
  """
  eta = {
    name: _predictor(name, parameters, matrices, offsets)
    for name in {*matrices, *offsets}
  }
  time, intensity = eta.get("time"), eta.get("intensity")
  if intensity is not None and not parts.is_wrapped(spec.distribution):
    # A homogeneous chain that is faster ends earlier.
    time = -intensity if time is None else time - intensity
    intensity = None
  params = {
    name: (link, eta[key])
    for key, (name, link) in spec.links.items()
    if key in eta
  }
  odds = eta.get("initial_probs")
  if odds is not None:
    odds = _log_odds(spec, dist, odds)
  return terms.Effects(time, intensity, odds, params)


def _predictor(
  name: str,
  parameters: reading.Parameters,
  matrices: Mapping[str, Any],
  offsets: Mapping[str, Any],
) -> Array:
  """Computes the linear predictor of one effect."""
  offset = structures.cast(offsets[name]) if name in offsets else None
  if name not in matrices:
    assert offset is not None
    return offset
  coefficients = parameters[name]
  columns = structures.cast(matrices[name])
  if name == "initial_probs":
    return np.matmul(columns, coefficients)
  eta = np.matmul(columns, coefficients[:, None])[..., 0]
  return eta if offset is None else eta + offset


def _log_odds(
  spec: specs.Spec, dist: distributions.Distribution, effects: Array
) -> Array:
  """Returns log odds of all phases, (..., p), given effects on some."""
  shares = parts.shares(dist)
  others = spec.others
  size = static.shape(shares)[-1]
  assert isinstance(size, int)
  # A column of zeros stands for the phases without an effect.
  zero = np.zeros_like(effects[..., :1])
  place = {phase: 1 + i for i, phase in enumerate(others)}
  index = onp.asarray([place.get(i, 0) for i in range(size)], onp.int32)
  shifts = np.take(np.concatenate([zero, effects], axis=-1), index, axis=-1)
  known = shares > 0
  logs = np.log(np.where(known, shares, 1.0))
  return np.where(known, logs, -math.inf) + shifts
