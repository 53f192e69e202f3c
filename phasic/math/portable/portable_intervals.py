"""Probabilities of intervals, on the portable path, without a subtraction.

P(t < X <= u) is the product of the masses of the phases at time t with the cdfs
from there after u - t, a sum of nonnegative numbers. A difference of cdfs has no
digits where the interval is short, or far in a tail. Each interval has a power
sequence of its own, so this is for few of them.
"""

from __future__ import annotations

from collections.abc import Callable
import math

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.model import chain as chain_lib
from phasic.math.portable import portable

# The largest number of intervals that are computed together.
MOST = 256


def log_mass(
  chain: chain_lib.Chain, lower: Array, upper: Array
) -> tuple[Callable[..., Array], Array]:
  """Prepares log P(lower < X <= upper), with 0 <= lower < upper < inf.

  Args:
    chain: the chain; its batch dimensions are those of the times.
    lower: (..., n).
    upper: (..., n).

  Returns:
    A differentiable function of the first five fields of the chain, and where
    its results (..., n) are out of range.
  """
  wide = static.wide_float()
  length = upper - lower
  fixed = chain_lib.Chain(*(autodiff.stop_gradient(x) for x in chain))
  _, steps = portable.evaluate("survival", (*operands(fixed), lower))

  def masses(chain: chain_lib.Chain) -> Array:
    """Returns the masses of the phases at the lower bounds, (..., n, p)."""
    ends = structures.cast(onp.eye(static.shape(chain.off)[-1]), wide)
    varied = _with_axis(chain)
    varied = varied._replace(atom=np.zeros_like(varied.atom))
    value, _ = portable.of_chain(
      "density", steps, varied, lower[..., None, :], wide, ends
    )
    return np.moveaxis(value, -1, -2)

  def after(chain: chain_lib.Chain) -> chain_lib.Chain:
    """Returns the chains that start at the lower bounds."""
    start = masses(chain)
    atom = np.zeros_like(start[..., 0])
    return _with_axis(chain)._replace(initial=start, atom=atom)

  later = after(fixed)
  size = np.sum(later.initial, axis=-1)
  later = with_batch(later, static.shape(size))
  value, more = portable.evaluate(
    "log_cdf", (*operands(later), length[..., None])
  )
  # Smaller masses may have lost digits by underflow.
  tiny = 2.0**80 * float(onp.finfo(wide).tiny)
  lost = np.logical_not((value[..., 0] > -math.inf) & (size > tiny))

  def values(*fields: Array) -> Array:
    later = after(chain_lib.Chain(*(*fields, fixed.bad)))
    value, _ = portable.of_chain(
      "log_cdf", more, later, length[..., None], wide
    )
    return value[..., 0]

  return values, lost


def with_batch(chain: chain_lib.Chain, batch: static.Shape) -> chain_lib.Chain:
  """Gives the fields of a chain the batch shape."""
  p = static.shape(chain.off)[-1]
  events = ((p,), (p, p), (p,), (p,), (), ())
  return chain_lib.Chain(
    *(
      np.broadcast_to(x, (*batch, *event))
      for x, event in zip(chain, events, strict=True)
    )
  )


def operands(chain: chain_lib.Chain) -> tuple[Array, ...]:
  """Returns the first four operands of `portable.phase_type`."""
  return chain.initial, chain.off, chain.exits, chain.atom[..., None]


def _with_axis(chain: chain_lib.Chain) -> chain_lib.Chain:
  """Appends a batch dimension of size one to the fields of a chain."""
  initial, off, totals, exits, atom, bad = chain
  return chain_lib.Chain(
    initial[..., None, :],
    off[..., None, :, :],
    totals[..., None, :],
    exits[..., None, :],
    atom[..., None],
    bad[..., None],
  )
