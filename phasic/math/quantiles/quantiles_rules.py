"""Differentiable quantile functions of the kernel's operands.

Where F(q) = u, implicit differentiation gives

    dq = (du - F_theta dtheta) / f(q),

here with log F or log(1 - F) instead of F, whichever of F and 1 - F is below
one half, so that tails keep their digits. The rules are differentiable array
code that uses the quantile itself: so they can be differentiated again.

Derivatives are zero where q is zero strictly inside an atom. At other quantiles
of zero or inf no derivative exists: it is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import custom_gradient
from phasic.internal import kernel_ops
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.calls import kernel_derivatives
from phasic.math.model import not_differentiable
from phasic.math.model import operands as operands_lib
from phasic.math.model.model_types import EdgeArrays
from phasic.math.model.model_types import ModelArrays
from phasic.math.portable import portable_observations
from phasic.math.quantiles import quantiles_counts
from phasic.math.quantiles import quantiles_limits
from phasic.math.quantiles import quantiles_search
from phasic.math.quantiles import quantiles_targets

_NUM_LIMITS = len(quantiles_limits.Limits._fields)
_ADVICE = (
  "quantiles of a discrete distribution are step functions without derivative: "
  "apply stop_gradient to the quantile or to the parameters"
)


def forward(
  mode: str, x: Array, *arrays: Array
) -> tuple[Array, tuple[Array, ...]]:
  """Computes `quantile`, and the residuals that `backward` needs."""
  q = quantile(mode, x, *arrays)
  return q, (q, x, *arrays)


def backward(
  mode: str, residuals: Sequence[Array], cotangent: Array
) -> tuple[Array | None, ...]:
  """Computes the vector-Jacobian product: cotangents of x and of the arrays.

  Args:
    mode: the kind of x, see `quantiles_targets.read`.
    residuals: the residuals of `forward`.
    cotangent: the cotangent of the quantiles.
  """
  q, x, *arrays = residuals
  at = _Point(mode, q, x, arrays)
  _, cotangents = kernel_derivatives.vjp(
    "log_density",
    at.operands,
    at.weighted(-1.0 / at.slope, cotangent),
    portable_observations.phase_type,
    (*at.edges, at.kinds),
    range(4),
  )
  of_x = at.weighted(at.per_target, cotangent)
  of_x = operands_lib.summed(of_x, static.shape(x))
  # Constants and coefficients of edges are not differentiable.
  none = [np.zeros_like(x) if i else None for i, x in enumerate(at.edges)]
  return (of_x, *[None] * _NUM_LIMITS, *cotangents, *none)


def along(
  mode: str, primals: Sequence[Array], tangents: Sequence[Array]
) -> tuple[Array, Array]:
  """Computes `quantile` and its jvp: the derivative along given tangents."""
  x, *arrays = primals
  x_tangent, *tangents_of_arrays = tangents
  q = quantile(mode, x, *arrays)
  at = _Point(mode, q, x, arrays)
  model = tangents_of_arrays[_NUM_LIMITS : _NUM_LIMITS + 4]
  change = kernel_derivatives.jvp(
    "log_density",
    at.operands,
    (*model, None),
    portable_observations.phase_type,
    (*at.edges, at.kinds),
  )
  of_x = at.completed(at.per_target) * x_tangent
  return q, of_x - at.completed(1.0 / at.slope) * change


@custom_gradient.custom_gradient(
  vjp_fwd=forward, vjp_bwd=backward, jvp_fn=along, nondiff_argnums=(0,)
)
def quantile(mode: str, x: Array, *arrays: Array) -> Array:
  """Computes quantiles, (batch..., n), of a continuous distribution.

  Args:
    mode: the kind of x, see `quantiles_targets.read`.
    x: probabilities, (batch..., n).
    *arrays: the fields of `Limits`, the kernel's four operands of a model, and
      its arrays of edges.
  """
  return _run(mode, kernel_ops.path(), x, *arrays)


def refusing(edges: EdgeArrays) -> list[Array]:
  """Returns edge arrays; differentiating their coefficients raises an error."""
  found, advice = list(edges), kernel_ops.EDGES_ARE_FIXED
  for i in range(1, len(edges)):
    if static.shape(edges[i])[-1] != 0:
      fixed = autodiff.stop_gradient(edges[i])
      found[i] = not_differentiable.attach(advice, fixed, edges[i])
  return found


def count_quantile(mode: str, x: Array, *arrays: Array) -> Array:
  """Computes quantiles of a discrete distribution; differentiation raises."""
  fixed = [autodiff.stop_gradient(y) for y in (x, *arrays)]
  k = _run_counts(mode, kernel_ops.path(), *fixed)
  model = arrays[_NUM_LIMITS : _NUM_LIMITS + 4]
  return not_differentiable.attach(_ADVICE, k, x, *model)


class _Point:
  """Values at a quantile q, for implicit differentiation of F(q) = u.

  Attributes:
    operands: the kernel's five, with the quantile as time, or a harmless time
      if it is zero or inf.
    kinds: the kinds of the times: log F or log(1 - F), nothing inside an atom.
    edges: the kernel's arrays of edges.
    slope: the derivative of the kind's function in time.
    per_target: dq / dx.
    regular: whether the quantile is positive and finite.
    inside: whether it is zero and strictly inside an atom.
  """

  def __init__(
    self, mode: str, q: Array, x: Array, arrays: Sequence[Array]
  ) -> None:
    limits, model, self.edges = _split(arrays)
    fixed = autodiff.stop_gradient
    targets = quantiles_targets.read(mode, fixed(x))
    upper = targets.upper
    self.regular = (q > 0) & (q < math.inf)
    strictly = np.where(
      upper, targets.value > limits.positive, targets.value < limits.atom
    )
    self.inside = (q == 0) & strictly & np.logical_not(targets.bad)
    usable = (limits.time > 0) & (limits.time < math.inf)
    harmless = np.where(usable, limits.time, 1.0)
    at = np.where(self.regular, q, harmless)
    side = np.where(upper, quantiles_search.SURVIVAL, quantiles_search.CDF)
    nothing = quantiles_search.NOTHING
    self.kinds = structures.cast(np.where(self.inside, nothing, side), "int32")
    self.operands = (*model, at)
    log_value, log_density = quantiles_search.values(
      model, self.edges, at, self.kinds
    )
    rate = np.exp(log_density - log_value)
    self.slope = np.where(upper, -rate, rate)
    if mode == "cdf":
      self.per_target = np.exp(-log_density)
    elif mode == "folded":
      self.per_target = np.exp(-np.abs(x) - log_density)
    else:
      per_target = np.exp(x - log_density)
      self.per_target = per_target if mode == "log_cdf" else -per_target

  def completed(self, factor: Array) -> Array:
    """Sets derivatives at q = 0 and q = inf: zero inside an atom, else NaN."""
    rest = np.where(self.inside, np.zeros_like(factor), math.nan)
    return np.where(self.regular, factor, rest)

  def weighted(self, factor: Array, cotangent: Array) -> Array:
    """Multiplies by a cotangent; NaN times a zero cotangent is zero."""
    unused = np.logical_not(self.regular) & (cotangent == 0)
    product = self.completed(factor) * cotangent
    return np.where(unused, np.zeros_like(product), product)


def _split(
  arrays: Sequence[Array],
) -> tuple[quantiles_limits.Limits, ModelArrays, EdgeArrays]:
  """Splits the arrays of `quantile` into limits, model and edges."""
  edges = _NUM_LIMITS + 4
  limits = quantiles_limits.Limits(*arrays[:_NUM_LIMITS])
  return limits, arrays[_NUM_LIMITS:edges], tuple(arrays[edges:])


def _search(mode: str, path: str, x: Array, *arrays: Array) -> Array:
  """Runs the search; `path` is only a key of the compiler's cache."""
  limits, model, edges = _split(arrays)
  targets = quantiles_targets.read(mode, x)
  return quantiles_search.find(targets, limits, model, edges)


def _search_counts(mode: str, path: str, x: Array, *arrays: Array) -> Array:
  """Runs the search for counts; `path` is only a key of the compiler's cache."""
  limits, model, edges = _split(arrays)
  targets = quantiles_targets.read(mode, x)
  return quantiles_counts.find(mode, x, targets, limits, model, edges)


_run = control_flow.compiled(_search, static_argnums=(0, 1))
_run_counts = control_flow.compiled(_search_counts, static_argnums=(0, 1))
