"""Integrals of survival and distribution functions, without subtraction.

The chain competes with an exponential clock of rate n, which changes its
density of absorption f(t) to exp(-n t) f(t). Absorbed mass continues through
phases that the clock leaves: each integrates once more and multiplies by n.

Survival: the clock leads from every phase to a last phase, and from there to
absorption; absorption of the chain itself ends in a trap. The density is then
n^2 exp(-n t) times the integral of S(u) over u from 0 to t. With a second copy
of the chain, entered from the first by the clock, it is n^3 exp(-n t) times the
integral of u S(u), and so on.

Distribution function: the clock leads from every phase to the trap, and
absorption of the chain leads to a series of phases that the clock leaves. Two
of them give n^2 exp(-n t) times the integral of F(u), three give n^3 exp(-n t)
times the integral of (t - u) F(u).

All terms are positive; with n = 1 / t, which is as good as any other, they are
of one size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy as onp

from phasic.internal import autodiff
from phasic.internal import control_flow
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.likelihood import phase_type
from phasic.math.model import edge_rates


def survival_integral(
  initial: Array, edges: edge_rates.EdgeRates, limit: Array, order: int
) -> Array:
  """Computes the integral of u^(n-1) / (n-1)! S(u) over u from 0 to t.

  Args:
    initial: alpha, (..., p).
    edges: `math.EdgeRates` without coefficients.
    limit: t > 0, (...).
    order: n, the number of copies of the chain.

  Returns:
    An array (...).
  """
  return _run_survival(
    order, initial, edges.parameters, edges.sources, edges.targets, limit
  )


def cdf_integral(
  initial: Array,
  edges: edge_rates.EdgeRates,
  prob_zero: Array | float,
  limit: Array,
  order: int,
) -> Array:
  """Computes the integral of (t-u)^(n-1) / (n-1)! F(u) over u from 0 to t.

  Args:
    initial: alpha, (..., p).
    edges: `math.EdgeRates` without coefficients.
    prob_zero: the atom, (...) or a number.
    limit: t > 0, (...).
    order: n.

  Returns:
    An array (...).
  """
  rates, sources, targets = edges.parameters, edges.sources, edges.targets
  atom = structures.cast(prob_zero, rates.dtype)
  return _run_cdf(order, initial, rates, sources, targets, atom, limit)


def _survival(
  order: int,
  initial: Array,
  rates: Array,
  sources: Array,
  targets: Array,
  limit: Array,
) -> Array:
  """Computes `survival_integral` from a chain of `order` copies and a clock."""
  p = static.shape(initial)[-1]
  trap, last = order * p, order * p + 1
  ticks = onp.append(onp.arange(trap), last)
  above = onp.where(ticks < trap - p, ticks + p, last)
  above[-1] = last + 1
  copies = [c * p for c in range(order)]
  rest = np.zeros_like(initial[..., :1])
  rest = np.broadcast_to(rest, (*static.shape(initial)[:-1], trap + 2 - p))
  return _integral(
    order,
    np.concatenate([initial, rest], axis=-1),
    [*(sources + c for c in copies), ticks],
    [*(np.where(targets == p, trap, targets + c) for c in copies), above],
    [rates] * order,
    limit,
  )


def _cdf(
  order: int,
  initial: Array,
  rates: Array,
  sources: Array,
  targets: Array,
  atom: Array,
  limit: Array,
) -> Array:
  """Computes `cdf_integral` from a chain with a clock after absorption."""
  p = static.shape(initial)[-1]
  trap = p + order + 1
  phases = onp.arange(trap)
  batch = static.broadcast_shapes(
    static.shape(initial)[:-1], static.shape(atom)
  )
  none = np.zeros((*batch, order + 1), dtype=initial.dtype)
  parts = [
    np.broadcast_to(initial, (*batch, p)),
    np.broadcast_to(atom[..., None], (*batch, 1)),
    none,
  ]
  return _integral(
    order,
    np.concatenate(parts, axis=-1),
    [sources, phases],
    [targets, onp.append(onp.full(p, trap), [*phases[p + 1 :], trap + 1])],
    [rates],
    limit,
  )


def _integral(
  order: int,
  start: Array,
  sources: Sequence[Array | onp.ndarray],
  targets: Sequence[Array | onp.ndarray],
  rates: Sequence[Array],
  limit: Array,
) -> Array:
  """Computes an integral as a scaled density of a chain with a clock.

  Args:
    order: the number of integrations after the first.
    start: masses, (..., q).
    sources: the sources of the edges of the chain, then of the clock.
    targets: the targets of the same edges.
    rates: the rates of the edges of the chain, (..., m) each.
    limit: t, (...).
  """
  clock = autodiff.stop_gradient(1.0 / limit)
  shape = static.broadcast_shapes(
    static.shape(rates[0])[:-1], static.shape(clock)
  )
  beats = np.broadcast_to(clock[..., None], (*shape, len(sources[-1])))
  own = [np.broadcast_to(x, (*shape, static.shape(x)[-1])) for x in rates]
  edges = edge_rates.EdgeRates(
    _indices(sources), _indices(targets), np.concatenate([*own, beats], axis=-1)
  )
  density = phase_type.prob(limit, start, edges, prob_zero=0.0)
  scaled = density * np.exp(clock * limit)
  for _ in range(order + 1):
    scaled = scaled / clock
  return scaled


_run_survival = control_flow.compiled(_survival, static_argnums=(0,))
_run_cdf = control_flow.compiled(_cdf, static_argnums=(0,))


def _indices(parts: Sequence[Array | onp.ndarray]) -> Array:
  """Concatenates lists of indices to one int32 array."""
  return np.concatenate([structures.cast(x, "int32") for x in parts])
