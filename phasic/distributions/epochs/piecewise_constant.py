"""Rates that change all the time, as steps."""

from __future__ import annotations

from collections.abc import Callable
import itertools
from typing import NamedTuple

import numpy as onp

from phasic.distributions.base import conversions
from phasic.distributions.epochs import epoch_arguments
from phasic.distributions.epochs import epochs as epochs_lib
from phasic.graphs.core import graph as graph_lib
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike

# The number of quadrature points at which a function is averaged over an epoch.
_NODES = 6
_FIRST = 8
# The largest number.
_LARGEST = float(onp.finfo(onp.float64).max)
# The largest number of epochs.
_MOST = 2**11


class PiecewiseConstantLimit(NamedTuple):
  """The limit of a function of `Epochs`, as steps approach a continuous change.

  Attributes:
    distribution: the `Epochs` with most steps.
    value: what the function tends to as steps get shorter, extrapolated.
    error: an estimate of the largest error of `value`, relative to its size.

  Example: the mean lifetime given the hazard 2 t is sqrt(pi) / 2.

    >>> from phasic.distributions import piecewise_constant_limit
    >>> from phasic.graphs import ABSORBED, Graph
    >>> one = Graph.from_edges([("alive", ABSORBED, [1.0])], "alive", 1)
    >>> limit = piecewise_constant_limit(
    ...   one, lambda t: [2.0 * t], 4.0, lambda dist: dist.mean(), 1e-3
    ... )
    >>> print(f"{float(limit.value):.3f}, {limit.error < 1e-3}")
    0.886, True
  """

  distribution: epochs_lib.Epochs
  value: Array
  error: float


def piecewise_constant(
  graph: graph_lib.Graph,
  params: Callable[[float], ArrayLike],
  boundaries: ArrayLike,
) -> epochs_lib.Epochs:
  """Makes `Epochs` from parameters that are a function of time.

  In each epoch the parameters are constant, the means of the function over the
  epoch. From the last boundary on they are as at that boundary. There are
  derivatives in what `params` depends on.

  Args:
    graph: a continuous graph.
    params: maps a time, a Python float, to parameters, (..., d).
    boundaries: K - 1 times, concrete, fewer than 2^16.

  Raises:
    TypeError: an argument has a wrong type, or dtypes differ.
    ValueError: boundaries do not increase or are too many, or shapes do not fit.

  Example: a hazard of 0.1 exp(t / 2), in 64 steps until time 12. The exact mean
    is 2.98670.

    >>> import math
    >>> from phasic.distributions import piecewise_constant
    >>> from phasic.graphs import ABSORBED, Graph
    >>> one = Graph.from_edges([("alive", ABSORBED, [1.0])], "alive", 1)
    >>> dist = piecewise_constant(
    ...   one,
    ...   lambda t: [0.1 * math.exp(t / 2)],
    ...   [12.0 * k / 64 for k in range(1, 65)],
    ... )
    >>> print(f"{float(dist.mean()):.5f}")
    2.98523
  """
  raw_arguments.check_callable(
    "params",
    params,
    " of time that returns parameters; for known ones use Epochs",
  )
  if not isinstance(graph, graph_lib.Graph):
    raise TypeError(
      f"graph is {raw_arguments.shown(graph)}: it must be a continuous Graph"
    )
  known = static.concrete(structures.as_array(boundaries, None, "boundaries"))
  if known is None:
    raise TypeError(
      "boundaries are traced: they must be concrete, as params is called between "
      "them"
    )
  if onp.ndim(known) != 1 or not len(known):
    raise ValueError(
      f"boundaries has shape {onp.shape(known)}: it must be (K - 1,), with at "
      "least one boundary"
    )
  boundaries = structures.as_array(known, None, "boundaries")
  epoch_arguments.epoch_count(boundaries)
  epoch_arguments.check_boundaries(boundaries)
  nodes, weights = onp.polynomial.legendre.leggauss(_NODES)
  starts = [0.0, *known.tolist()]
  means = []
  for start, end in itertools.pairwise(starts):
    middle, half = (start + end) / 2, (end - start) / 2
    values = [
      structures.as_array(params(float(middle + half * x)), None, "params")
      for x in nodes
    ]
    parts = [x * float(w / 2) for x, w in zip(values, weights, strict=True)]
    means.append(sum(parts[1:], parts[0]))
  value = params(starts[-1])
  conversions.warn_of_variables("piecewise_constant", value)
  last = structures.as_array(value, None, "params")
  dtype = static.dtype_name(last)
  dtypes.check_fits(boundaries, "boundaries", dtype, "params")
  ends = structures.as_array(onp.asarray(known, dtype), None, "boundaries")
  return epochs_lib.Epochs(graph, [*means, last], ends)


def piecewise_constant_limit(
  graph: graph_lib.Graph,
  params: Callable[[float], ArrayLike],
  until: float,
  quantity: Callable[[epochs_lib.Epochs], Array],
  tolerance: float | None = None,
) -> PiecewiseConstantLimit:
  """Computes the limit of a function of `Epochs` as steps get shorter.

  Times up to `until` are cut into equal steps, see `piecewise_constant`; from then on
  parameters stay as they are at `until`. The number of steps is doubled until the
  extrapolated values of two successive numbers agree. As errors fall as the
  squares of the lengths of steps, from Q(n) and Q(2 n) it extrapolates
  Q(2 n) + (Q(2 n) - Q(n)) / 3.

  Args:
    graph: a continuous graph.
    params: maps a time, a Python float, to parameters, (..., d), smoothly.
    until: a time from which on the parameters hardly matter, > 0.
    quantity: what is computed of the epochs, an array, e.g. their mean.
    tolerance: the largest change of an extrapolated value, relative to the
      largest size of the values; 1e-8 by default, 1e-5 for values in float32.

  Raises:
    TypeError: an argument has a wrong type, or values are traced.
    ValueError: an argument is out of range, or steps do not suffice.

  Example: the mean of a lifetime with the hazard 0.1 exp(t / 2).

    >>> import math
    >>> from phasic.distributions import piecewise_constant_limit
    >>> from phasic.graphs import ABSORBED, Graph
    >>> one = Graph.from_edges([("alive", ABSORBED, [1.0])], "alive", 1)
    >>> limit = piecewise_constant_limit(
    ...   one, lambda t: [0.1 * math.exp(t / 2)], 12.0, lambda dist: dist.mean(), 1e-5
    ... )
    >>> print(f"{float(limit.value):.4f}, {limit.distribution.num_epochs}")
    2.9867, 65

  Reference: L. F. Richardson, The approximate arithmetical solution by finite
    differences, Phil. Trans. R. Soc. A 210, 1911.
  """
  raw_arguments.check_callable("quantity", quantity, " of Epochs")
  for name, x in (("until", until), ("tolerance", tolerance)):
    if x is None and name == "tolerance":
      continue
    if isinstance(x, bool) or not isinstance(x, (int, float, onp.number)):
      raise TypeError(f"{name} is {type(x).__name__}: it must be a number")
    if not 0.0 < x <= _LARGEST:
      raise ValueError(
        f"{name} is {raw_arguments.shown(x)}: it must be > 0 and finite"
      )
  before: onp.ndarray | None = None
  known: onp.ndarray | None = None
  change = onp.inf
  count = _FIRST
  while count <= _MOST:
    steps = onp.linspace(0.0, float(until), count + 1)[1:]
    dist = piecewise_constant(graph, params, steps.tolist())
    value = quantity(dist)
    now = static.concrete(value)
    if now is None:
      raise TypeError(
        "values are traced: the number of steps depends on them; use piecewise_constant"
      )
    now = onp.asarray(now, onp.float64)
    if not onp.all(onp.isfinite(now)):
      raise ValueError(
        f"quantity with {count} steps is not finite: it must be a finite array"
      )
    if before is not None:
      limit = now + (now - before) / 3.0
      if known is not None:
        size = float(onp.max(onp.abs(limit), initial=0.0))
        change = float(onp.max(onp.abs(limit - known), initial=0.0))
        change = change / size if size > 0.0 else change
        dtype = static.dtype_name(value)
        if tolerance is None:
          # In float32, rounding in many steps changes the result by about 1e-6,
          # so that the tolerance is larger.
          tolerance = 1e-5 if dtype == "float32" else 1e-8
        if change <= tolerance:
          extrapolated = structures.as_array(
            limit.astype(dtype), dtype, "value"
          )
          return PiecewiseConstantLimit(dist, extrapolated, change)
      known = limit
    before = now
    count = 2 * count
  raise ValueError(
    f"{_MOST} steps leave a relative change of {change:.2g}, above the tolerance of "
    f"{tolerance:g}: params may jump or vary too fast for equal steps; use "
    "piecewise_constant with boundaries where it does"
  )
