"""Corrects sums of float64 arrays whose entries were rounded to float32.

Numbers that were float32 before do not sum to exactly one, or zero, in float64.
Sums within that rounding are corrected, and the caller gets a message.
"""

from __future__ import annotations

import numpy as np
import numpy as onp

from phasic.internal.arrays import Array
from phasic.math.model import plausible


def mended(
  name: str,
  x: Array,
  known: onp.ndarray,
  constraint: str,
  exits: onp.ndarray | None = None,
  prob_zero: onp.ndarray | None = None,
) -> tuple[Array, onp.ndarray | None, str]:
  """Corrects sums of a float64 array that are off by rounding to float32.

  Args:
    name: the name of the array in messages.
    x: the array.
    known: its values on the host.
    constraint: as in `ParameterProperties`.
    exits: host values of the exits that go with a matrix, or None.
    prob_zero: host values of the mass at zero, or None.

  Returns:
    The array; the divisors for given exits, or for a given mass at zero, or
    None; and a message, "" if nothing was corrected.
  """
  unchanged = x, None, ""
  if known.dtype != onp.float64:
    return unchanged
  if constraint == "subgenerator":
    return (
      unchanged if exits is not None else _with_lower_diagonal(name, x, known)
    )
  sums: onp.ndarray = known.sum(axis=-1) if known.ndim else known
  also = ""
  if constraint == "probabilities":
    below = sums == sums
  elif constraint == "subprobabilities":
    below = plausible.are_single(known) | (prob_zero is not None)
    if prob_zero is not None:
      sums, also = sums + prob_zero, " with prob_zero"
  elif constraint == "subtransition":
    below = (sums == sums) & (exits is not None)
    sums = sums if exits is None else sums + exits
  else:
    return unchanged
  least, most = _tolerances(known)
  if also:
    least = (
      least + least / known.shape[-1]
    )  # The mass at zero is one more number.
  excess = sums - 1.0
  wrong: onp.ndarray = (excess > least) & (excess <= most)
  wrong = wrong | (below & (excess < -least) & (excess >= -most))
  if not onp.any(wrong):
    return unchanged
  divisors: onp.ndarray = onp.where(wrong, sums, 1.0)
  text = (
    f"{name}{also} sums to {_first(sums, wrong)}, which is 1 up to the rounding "
    "of float32: it was divided by this sum"
  )
  return x / np.asarray(divisors[..., None]), divisors, text


def _with_lower_diagonal(
  name: str, x: Array, known: onp.ndarray
) -> tuple[Array, onp.ndarray | None, str]:
  """Lowers the diagonal where rounding made a row sum positive."""
  sums: onp.ndarray = known.sum(axis=-1)
  scale: onp.ndarray = onp.abs(known).max(axis=-1)
  least, most = _tolerances(known)
  wrong: onp.ndarray = (sums > least * scale) & (sums <= most * scale)
  if not wrong.any():
    return x, None, ""
  excess: onp.ndarray = onp.where(wrong, sums, 0.0)[..., None]
  text = (
    f"a row of {name} sums to {_first(sums, wrong)}, which is 0 up to the "
    "rounding of float32: its diagonal was lowered by this sum"
  )
  return x - np.asarray(excess * onp.eye(known.shape[-1])), None, text


def _first(x: onp.ndarray, where: onp.ndarray) -> float:
  return float(onp.broadcast_to(x, where.shape)[where][0])


def _tolerances(x: onp.ndarray) -> tuple[float, float]:
  """Returns error bounds below which a sum is valid, or can be corrected."""
  least = 4 * x.shape[-1] * float(onp.finfo(onp.float64).eps)
  return least, plausible.single_tolerance(x)
