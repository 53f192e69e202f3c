"""Products of the exponential of a subgenerator with vectors of any sign.

References:
  A. H. Al-Mohy, N. J. Higham, Computing the action of the matrix exponential,
    SIAM Journal on Scientific Computing 33, 2011.
  N. J. Higham, The scaling and squaring method for the matrix exponential
    revisited, SIAM Journal on Matrix Analysis and Applications 26, 2005.
"""

from __future__ import annotations

import numpy as np

from phasic.internal import array_ops
from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model import operands
from phasic.math.model.model_types import Model, SubgeneratorLike
from phasic.math.moments import phase_vectors
from phasic.math.moments import weighted_models
from phasic.math.numeric import array_utils


def expm_multiply(
  vectors: ArrayLike,
  value: ArrayLike,
  subgenerator: SubgeneratorLike,
  exit_rates: ArrayLike | None = None,
  transposed: bool = False,
) -> Array:
  """Computes exp(S t) v, or v exp(S t), for vectors of any sign.

  No matrix exponential is formed: memory and work grow with the number of
  edges, as in the method of Al-Mohy and Higham (2011). Unlike there and in
  scaling and squaring (Higham, 2005), all terms are nonnegative
  (uniformization), for the positive and the negative part of v: the error is
  small against exp(S t) |v| in each entry. Entries below 1e-262 of the largest
  one have an error of 1e-277 of that.

  Args:
    vectors: v, (..., p), finite.
    value: t, (...), finite and >= 0, else results are NaN.
    subgenerator: S, (..., p, p), or `EdgeRates`.
    exit_rates: s, (..., p), or None. If given, the diagonal of S is not read.
    transposed: whether to compute v exp(S t).

  Returns:
    An array (..., p), where (...) is the common batch shape of vectors, times
    and model.

  Raises:
    TypeError: dtypes differ, or are complex or bool.
    ValueError: shapes do not fit, or there are no phases.

  Example: two stages; the first column of exp(S), minus the second one.

    >>> from phasic import math as pm
    >>> edges = pm.EdgeRates([0, 1], [1, 2], [1.0, 1.0])
    >>> x = pm.phase_type.expm_multiply([2.0, -1.0], 1.0, edges)
    >>> [f"{float(x_i):.6f}" for x_i in x]
    ['0.367879', '-0.367879']
  """
  raw_arguments.check_flags(transposed=transposed)
  names = ("vectors", *operands.argument_names(False, "value")[1:])
  converted = operands.convert(
    vectors, subgenerator, value, exit_rates, None, names=names
  )
  operands.canonical(converted, names)  # Raises if shapes do not broadcast.
  vectors, matrix, times, exits, _ = converted
  wide = static.wide_float()
  dtype = static.dtype_name(vectors)
  start = structures.constant(
    [1.0] + [0.0] * (static.shape(vectors)[-1] - 1), dtype
  )
  result = _run(
    transposed,
    (start, matrix, exits, None),
    structures.cast(times, wide),
    structures.cast(vectors, wide),
  )
  return structures.cast(result, dtype)


def _evaluate(
  transposed: bool, model: Model, times: Array, vectors: Array
) -> Array:
  """Computes v exp(S t) if `transposed`, else exp(S t) v."""
  _, edges, _, good = weighted_models.listed(model, False)
  fixed = autodiff.stop_gradient(vectors)
  # Vectors of any size are scaled to one.
  largest = np.max(np.abs(fixed), axis=-1)
  n = array_ops.binary_exponent(np.where(largest > 0.0, largest, 1.0))
  vectors = vectors * array_ops.power_of_two(-n)[..., None]
  unit = weighted_models.unit_of(edges, False)

  def product(part: Array) -> Array:
    if transposed:
      return phase_vectors.rows(False, part, edges, times, unit)
    return phase_vectors.columns(False, edges, times, part)

  if array_utils.are_true(fixed >= 0.0):
    result = product(vectors)
  else:
    # An entry of zero belongs to the positive part alone, so that derivatives
    # count it once.
    is_positive = fixed >= 0.0
    result = product(np.where(is_positive, vectors, 0.0))
    result = result - product(np.where(is_positive, 0.0, -vectors))
  result = result * array_ops.power_of_two(n)[..., None]
  return result if good is None else result * good[..., None]


_run = control_flow.compiled(_evaluate, static_argnums=(0,))
