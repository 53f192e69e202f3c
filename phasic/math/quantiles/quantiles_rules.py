"""Differentiable quantile functions of the kernel's operands.

Where F(q) = u, implicit differentiation gives

    dq = (du - F_theta dtheta) / f(q),

here with log F or log(1 - F) instead of F, whichever of F and 1 - F is below
one half, so that tails keep their digits. The rules are differentiable array
code that uses the quantile itself: so they can be differentiated again.

Derivatives are zero where q is zero strictly inside an atom. At other quantiles
of zero or inf no derivative exists: it is NaN.

The quantiles themselves are the kernel's, or those of the portable search.
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
from phasic.math.portable import portable_observations
from phasic.math.quantiles import quantiles_counts
from phasic.math.quantiles import quantiles_search
from phasic.math.quantiles import quantiles_targets

_ADVICE = (
  "quantiles of a discrete distribution are step functions without derivative: "
  "apply stop_gradient to the quantile or to the parameters"
)
# The number of the kernel's operands: a model's four, and times.
_NUM_OPERANDS = 5


def forward(
  form: str, x: Array, *arrays: Array
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
  """Computes `quantile`, and the residuals that `backward` needs."""
  results = quantile(form, x, *arrays)
  return results, (*results, x, *arrays)


def backward(
  form: str, residuals: Sequence[Array], cotangents: Sequence[Array]
) -> tuple[Array | None, ...]:
  """Computes the vector-Jacobian product: cotangents of x and of the arrays.

  Args:
    form: the form of x, see `kernel_ops.quantiles`.
    residuals: the residuals of `forward`.
    cotangents: the cotangents of the results, the quantiles' first.
  """
  q, times, kinds, x, *arrays = residuals
  at = _Point(form, (q, times, kinds), x, arrays)
  cotangent = cotangents[0]
  _, model_cotangents = kernel_derivatives.vjp(
    "log_density",
    at.operands,
    at.weighted(-1.0 / at.slope, cotangent),
    portable_observations.phase_type,
    (*at.edges, at.kinds),
    range(4),
  )
  x_cotangent = at.weighted(at.per_target, cotangent)
  x_cotangent = operands_lib.summed(x_cotangent, static.shape(x))
  # Constants and coefficients of edges are not differentiable: their cotangents
  # are zero.
  none = [np.zeros_like(y) if i else None for i, y in enumerate(at.edges)]
  return (x_cotangent, *model_cotangents, *none)


def along(
  form: str, primals: Sequence[Array], tangents: Sequence[Array]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
  """Computes `quantile` and its jvp: the derivative along given tangents."""
  x, *arrays = primals
  x_tangent, *tangents_of_arrays = tangents
  results = quantile(form, x, *arrays)
  at = _Point(form, results, x, arrays)
  change = kernel_derivatives.jvp(
    "log_density",
    at.operands,
    (*tangents_of_arrays[:4], None),
    portable_observations.phase_type,
    (*at.edges, at.kinds),
  )
  x_change = at.completed(at.per_target) * x_tangent
  moved = x_change - at.completed(1.0 / at.slope) * change
  return results, (moved, *map(np.zeros_like, results[1:]))


@custom_gradient.custom_gradient(
  vjp_fwd=forward, vjp_bwd=backward, jvp_fn=along, nondiff_argnums=(0,)
)
def quantile(form: str, x: Array, *arrays: Array) -> tuple[Array, ...]:
  """Computes quantiles of a continuous distribution, their times and kinds.

  Results are as in `kernel_ops.quantiles`; times and kinds are constants to
  derivatives.

  Args:
    form: the form of x, see `kernel_ops.quantiles`.
    x: probabilities, (batch..., n).
    *arrays: the kernel's four operands of a model, and its arrays of edges.
  """
  return kernel_ops.quantiles(
    form, (*arrays[:4], x), _portable_quantiles, arrays[4:]
  )


def refusing(edges: EdgeArrays) -> list[Array]:
  """Returns edge arrays; differentiating their coefficients raises an error."""
  arrays, advice = list(edges), kernel_ops.EDGES_ARE_FIXED
  for i in range(1, len(edges)):
    if static.shape(edges[i])[-1] != 0:
      fixed = autodiff.stop_gradient(edges[i])
      arrays[i] = not_differentiable.attach(advice, fixed, edges[i])
  return arrays


def count_quantile(form: str, x: Array, *arrays: Array) -> Array:
  """Computes quantiles of a discrete distribution; differentiation raises."""
  x_fixed, *fixed = (autodiff.stop_gradient(y) for y in (x, *arrays))
  k, *_ = kernel_ops.quantiles(
    form,
    (*fixed[:4], x_fixed),
    _portable_quantiles,
    fixed[4:],
    discrete=True,
  )
  return not_differentiable.attach(_ADVICE, k, x, *arrays[:4])


class _Point:
  """Values at a quantile q, for implicit differentiation of F(q) = u.

  Attributes:
    operands: the kernel's five, with the quantile as time, or another time if
      it is zero or inf.
    kinds: the kinds of the times, as in `kernel_ops.quantiles`.
    edges: the kernel's arrays of edges.
    slope: the derivative of the kind's function in time.
    per_target: dq / dx.
    regular: whether the quantile is positive and finite.
    inside: whether it is zero and strictly inside an atom.
  """

  def __init__(
    self,
    form: str,
    results: Sequence[Array],
    x: Array,
    arrays: Sequence[Array],
  ) -> None:
    model, self.edges = arrays[:4], arrays[4:]
    q, times, kinds = results
    self.kinds = autodiff.stop_gradient(kinds)
    upper = self.kinds == quantiles_search.SURVIVAL
    self.regular = (q > 0) & (q < math.inf)
    self.inside = self.kinds == quantiles_search.NOTHING
    at = np.where(self.regular, q, times)
    self.operands = (*model, at)
    log_value, log_density = quantiles_search.values(
      model, self.edges, at, self.kinds
    )
    rate = np.exp(log_density - log_value)
    self.slope = np.where(upper, -rate, rate)
    if form == "cdf":
      self.per_target = np.exp(-log_density)
    elif form == "folded":
      self.per_target = np.exp(-np.abs(x) - log_density)
    else:
      per_target = np.exp(x - log_density)
      self.per_target = per_target if form == "log_cdf" else -per_target

  def completed(self, factor: Array) -> Array:
    """Sets derivatives at q = 0 and q = inf: zero inside an atom, else NaN."""
    rest = np.where(self.inside, np.zeros_like(factor), math.nan)
    return np.where(self.regular, factor, rest)

  def weighted(self, factor: Array, cotangent: Array) -> Array:
    """Multiplies by a cotangent; NaN times a zero cotangent is zero."""
    unused = np.logical_not(self.regular) & (cotangent == 0)
    product = self.completed(factor) * cotangent
    return np.where(unused, np.zeros_like(product), product)


def _portable_quantiles(
  form: str, discrete: bool, *arrays: Array
) -> tuple[Array, ...]:
  """Computes quantiles, times and kinds, see `kernel_ops.quantiles`.

  Args:
    form: as there.
    discrete: as there.
    *arrays: the five operands, then the arrays of edges, if there are any.
  """
  return _run_portable(form, discrete, kernel_ops.path(), *arrays)


def _search(
  form: str, discrete: bool, path: str, *arrays: Array
) -> tuple[Array, ...]:
  """Runs the search; `path` is only a key of the compiler's cache."""
  *model, x = arrays[:_NUM_OPERANDS]
  edges = arrays[_NUM_OPERANDS:]
  limits = quantiles_targets.find(model, edges, discrete)
  targets = quantiles_targets.read(form, x)
  if discrete:
    q = quantiles_counts.find(form, x, targets, limits, model, edges)
  else:
    q = quantiles_search.find(targets, limits, model, edges)
  strictly = np.where(
    targets.upper,
    targets.value > limits.positive,
    targets.value < limits.atom,
  )
  usable = (limits.time > 0) & (limits.time < math.inf)
  typical = np.where(usable, limits.time, 1.0)
  at = np.where((q == 0) | (q == math.inf), typical, q)
  inside = (q == 0) & strictly
  side = np.where(
    targets.upper, quantiles_search.SURVIVAL, quantiles_search.CDF
  )
  kinds = np.where(inside, quantiles_search.NOTHING, side)
  return q, np.where(inside, 1.0, at), structures.cast(kinds, "int32")


_run_portable = control_flow.compiled(_search, static_argnums=(0, 1, 2))
