"""Conversion of models to the widest precision."""

from __future__ import annotations

import math

import numpy as np

from phasic.internal import static
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_solves
from phasic.math.elimination import killed_chains
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model


def widened(model: Model, discrete: bool) -> Model:
  """Converts a model's four arguments to the widest available precision.

  Exits, the mass at zero and the tolerances are derived in the given precision:
  so the chain stays the same.

  Args:
    model: initial masses, a matrix or edges, exits or None, mass at zero or
      None; as `operands.convert` returns them.
    discrete: whether time is discrete.

  Returns:
    The four arguments, with edges in place of the matrix if the precision was
    lower; NaN for invalid values.
  """
  initial, matrix, exits, atom = model
  wide = static.wide_float()
  if static.dtype_name(initial) == wide:
    return model
  names = operands.argument_names(discrete)
  given, _, _, dtype = chain_arguments.convert(
    initial, matrix, exits, atom, names=names
  )
  system = chain_solves.derive(given, discrete, dtype)
  has_stays = discrete and not operands.is_edges(matrix)
  option = killed_chains.Option(discrete, has_stays)
  kind = edge_probs.EdgeProbs if discrete else edge_rates.EdgeRates
  good = np.where(system.bad, math.nan, 1.0)
  edges = kind(*killed_chains.edges(option, system))
  return system.initial * good[..., None], edges, None, system.atom
