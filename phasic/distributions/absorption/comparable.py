"""Entropies and divergences by quadrature, for distributions of all kinds."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import time_units
from phasic.distributions.base import conversions
from phasic.distributions.base import distribution
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.internal import late_names
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, Result
from phasic.math.model import nan_table
from phasic.math.model.model_types import Model
from phasic.math.quadrature import quadrature_points


class Comparable(distribution.Distribution):
  """A distribution of numbers that has a quadrature rule for expectations.

  A subclass has `_nodes`. Entropies and divergences are sums over these, see
  `math.quadrature_points`.
  """

  # By name, the power of time in the unit of each parameter that is an array or a
  # distribution: 1 of a time, -1 of a rate, 0 of a probability. None, or a table
  # without all of them, makes `dist * factor` raise.
  _TIME_POWERS: ClassVar[Mapping[str, float] | None] = None

  def __add__(self, delay: ArrayLike) -> Comparable:
    """Returns the distribution of X + delay, `Shifted(self, delay)`."""
    if isinstance(delay, hooks.Hooks):
      raise TypeError(
        f"{type(self).__name__} + {type(delay).__name__}: only a fixed delay, a "
        "number, may be added; convolution([a, b]) is the sum of independent "
        "variables"
      )
    # The class is in a room above this one: it is a subclass of this class.
    rooms = __package__.rpartition(".")[0]
    shifted = late_names.attribute(f"{rooms}.wrapped.shifted", "Shifted")
    return shifted(
      self,
      delay,
      validate_args=self.validate_args,
      allow_nan_stats=self.allow_nan_stats,
    )

  __radd__ = __add__

  def __mul__(self, factor: ArrayLike) -> Self:
    """Returns the distribution of factor * X, which is X in another unit.

    It has the same class and options: rates are divided by the factor, times
    are multiplied by it. Derivatives exist in the factor and in parameters.

    Args:
      factor: c, (...), > 0 and finite; it broadcasts with the batch. Other
        values give NaN and a warning, with `validate_args` they raise.

    Raises:
      TypeError: X counts steps, the family has no member for c X, its class
        does not have `_TIME_POWERS`, or dtypes differ.
      ValueError: shapes do not fit.

    Example: a time in weeks, then in days.

      >>> from phasic.distributions import Erlang
      >>> days = Erlang(2, 3.5) * 7.0
      >>> print(f"{float(days.rate):.6f}, {float(days.mean()):.6f}")
      0.500000, 4.000000
    """
    conversions.warn_of_variables(f"{type(self).__name__} * factor", self)
    single = self._as_single()
    factor = time_units.checked_factor(single, factor)
    with user_warnings.derived():
      return single._scaled(factor)

  __rmul__ = __mul__
  # NumPy arrays leave sums and products to the methods above.
  __array_ufunc__ = None

  def _scaled(self, factor: Array) -> Self:
    """Returns the distribution of factor * X, with a factor that is checked."""
    return self.copy(**time_units.scaled_parameters(self, factor))

  def mean_residual_life(self, value: ArrayLike) -> Result:
    """Returns E[X - t | X > t], broadcast over value and batch.

    Nothing is subtracted, so that the relative error stays small at any t: for
    a time until absorption below 1e-12 or so, as it is the mean time to
    absorption from each phase, averaged over `ResidualLife(self, value)`'s
    initial masses. It is inf where absorption may never come or the tail is so
    heavy that there is no mean, and NaN where X > t cannot be, where the phase
    probabilities cannot be computed, and where phases whose probabilities
    underflow might matter. Derivatives in the chain's parameters are NaN where
    a rate times t is above 1e10, as less than six digits would be left.

    Args:
      value: t, (...), finite and >= 0, else the result is NaN.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: nothing is left but the last stage.

      >>> from phasic.distributions import Erlang
      >>> dist = Erlang(2, 1.0)
      >>> values = dist.mean_residual_life([0.0, 9.0, 9999.0])
      >>> [f"{float(value):.6f}" for value in values]
      ['2.000000', '1.100000', '1.000100']

    Reference: D. R. Cox, D. Oakes, Analysis of survival data, 1984, ch. 2.
    """
    value = self._checked("mean_residual_life", value)
    mean = self._mean_residual_life(value)
    return self._result("mean_residual_life", mean, value)

  def limited_expected_value(self, value: ArrayLike) -> Result:
    """Returns E[min(X, t)], broadcast over value and batch.

    It is the integral of P(X > u) from 0 to t, in discrete time the sum over u
    < t; also where absorption may never come. As t grows it tends to `mean()`.

    Args:
      value: t, (...), finite and >= 0, else the result is NaN.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example: what an insurer pays for losses of up to two.

      >>> from phasic.distributions import Erlang
      >>> print(f"{float(Erlang(1, 0.5).limited_expected_value(2.0)):.6f}")
      1.264241

    Reference: S. A. Klugman, H. H. Panjer, G. E. Willmot, Loss models, 2012,
      sec. 3.1.
    """
    value = self._checked("limited_expected_value", value)
    mean = self._limited_expected_value(value)
    return self._result("limited_expected_value", mean, value)

  def _mean_residual_life(self, value: Array) -> Array:
    self._missing("mean_residual_life")

  def _limited_expected_value(self, value: Array) -> Array:
    self._missing("limited_expected_value")

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    """Returns quadrature points with this distribution's densities there."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _nodes"
    )

  def _jumps(self) -> Array | None:
    """Returns where the density is discontinuous, (..., n); None if nowhere."""
    return None

  def _refined(self, other: Comparable, jumps: Array) -> Comparable:
    """Returns this distribution with its quadrature split at given `jumps`."""
    self._missing(
      f"divergence from {type(other).__name__}",
      "the second density has jumps, at which the quadrature of the first "
      "distribution is not split",
    )

  def _densities(
    self, other: Comparable
  ) -> tuple[quadrature_points.QuadraturePoints, Array, Array]:
    """Returns the points, and the other's log density and log mass at zero."""
    return _both(self, other)

  def _quadrature(self, method: str) -> quadrature_points.QuadraturePoints:
    del method  # All statistics have the same points.
    return nodes_of(self)

  def _cross_entropy(self, other: hooks.Hooks) -> Array:
    if not isinstance(other, Comparable):
      self._missing(
        f"cross_entropy with {type(other).__name__}",
        "it is not a distribution of one number",
      )
    check_same_kind("cross_entropy", self, other)
    nodes, log_prob, at_zero = self._densities(other)
    return structures.cast(
      quadrature_points.expected(nodes, log_prob, at_zero), self.dtype
    )


def nodes_of(distribution: Comparable) -> quadrature_points.QuadraturePoints:
  """Returns a distribution's quadrature points and its densities there."""
  return distribution._nodes(distribution._batch_shape())


@method_results.register_kl(Comparable, Comparable)
def kl_divergence(p: Comparable, q: Comparable) -> Array:
  """Computes E log(p(X) / q(X)) for X distributed as p, by quadrature."""
  check_same_kind("kl_divergence", p, q)
  # A distribution of another package has its own points, see `compare`.
  is_guest = not isinstance(p, Comparable)
  nodes, log_prob, at_zero = _both(p, q) if is_guest else p._densities(q)
  atom = np.where(nodes.log_atom > -math.inf, nodes.log_atom, 0.0)
  log_density = np.where(nodes.masses > 0, nodes.log_prob, 0.0)
  return structures.cast(
    quadrature_points.expected(nodes, log_prob - log_density, at_zero - atom),
    p.dtype,
  )


def compare(p: Comparable, q: Comparable) -> Array:
  """Computes E_p log(p(X) / q(X)), where p or q may come from another package.

  Such a distribution also has the methods of `Comparable`.

  Raises:
    NotImplementedError: one has no quadrature points, or kinds of values differ.
    TypeError: dtypes differ.
    ValueError: batch shapes do not broadcast.
  """
  for one in (p, q):
    if not hasattr(one, "_nodes"):
      raise NotImplementedError(
        f"there is no kl_divergence of {type(p).__name__} and "
        f"{type(q).__name__}: {type(one).__name__} has no quadrature points"
      )
  method_results.check_batches("kl_divergence", p, q)
  return kl_divergence(p, q)


def erlang_parts(
  distribution: distribution.Distribution,
) -> tuple[int, Array] | None:
  """Returns an Erlang distribution's number of stages and rate, else None."""
  if not hasattr(distribution, "_erlang_parts"):
    return None
  return distribution._erlang_parts()


def _both(
  p: Comparable, q: Comparable
) -> tuple[quadrature_points.QuadraturePoints, Array, Array]:
  """Returns p's quadrature points, and q's log density and log mass at zero."""
  jumps = q._jumps()
  if jumps is not None:
    p = p._refined(q, jumps)
  shapes = (p._batch_shape(), q._batch_shape())
  nodes = p._nodes(static.broadcast_shapes(*shapes))
  log_prob = known_log_prob(q, nodes.values)
  zero = np.zeros((), dtype=p.dtype)
  at_zero = structures.cast(q._log_cdf(zero), static.wide_float())
  return nodes, log_prob, at_zero


def known_log_prob(distribution: Comparable, values: Array) -> Array:
  """Computes log densities at quadrature points, in the widest precision.

  A point may be infinite. The density is unknown there, so it is NaN.
  """
  log_prob = structures.cast(
    distribution._log_prob(values), static.wide_float()
  )
  return np.where(values < math.inf, log_prob, math.nan)


def check_same_kind(method: str, p: Comparable, q: Comparable) -> None:
  """Raises unless p and q have the same kind of values and the same dtype."""
  if p._support() != q._support():
    raise NotImplementedError(
      f"there is no {method} of {type(p).__name__} and {type(q).__name__}: "
      "both must be times, or both must be numbers of steps"
    )
  if p.dtype != q.dtype:
    raise TypeError(
      f"{p.name} is {p.dtype} and {q.name} is {q.dtype}: distributions must "
      "have one dtype"
    )


def broadcast_start(model: Model, batch: static.Shape) -> Model:
  """Broadcasts the initial masses of a chain to a batch shape."""
  initial_probs, matrix, exits, prob_zero = model
  p = static.shape(initial_probs)[-1]
  start = np.broadcast_to(initial_probs, (*batch, p))
  return start, matrix, exits, prob_zero


def where_unknown(x: Array, reasons: onp.ndarray) -> onp.ndarray:
  """Returns for each entry why it is NaN, or "ok" if it is not NaN."""
  lost = onp.isnan(host(x))
  named = onp.where(reasons == "ok", nan_table.UNKNOWN, reasons)
  return onp.where(lost, named, "ok")


def host(x: Array) -> onp.ndarray:
  """Returns an array on the host; raises TypeError if it is traced."""
  values = static.concrete(x)
  if values is None:
    raise TypeError(
      "parameters are traced: diagnose needs concrete parameters; call it outside jit"
    )
  return values
