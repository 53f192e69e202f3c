"""Time spent before absorption up to a limit, without a subtraction.

A chain with survival function S(u) is run beside a clock of rate n: it moves on
to a phase M at the rate n from every phase, and from M to absorption at the
rate n. The chain's own absorption ends in a trap. The density of absorption at
t is then n^2 exp(-n t) times the integral of S(u) over u from 0 to t. With two
copies of the chain, the second entered from the first at the rate n, it is
n^3 exp(-n t) times that of u S(u). All terms are positive; with n = 1 / t, which
is as good as any other, they are of one size.
"""

from typing import Any

import numpy as np
import numpy as onp

from phasic import math as pm
from phasic.internal import control_flow
from phasic.internal import gradients
from phasic.internal import static


def integrals(initial: Any, edges: Any, limit: Any, order: int) -> Any:
  """Returns the integral of u^(order - 1) S(u) over u from 0 to the limit.

  Args:
    initial: alpha, (..., p).
    edges: `math.EdgeRates` without coefficients.
    limit: t > 0, (...).
    order: 1 or 2, the number of copies of the chain.

  Returns:
    An array (...).
  """
  return _run(
    order, initial, edges.parameters, edges.sources, edges.targets, limit
  )


def _evaluate(
  order: int, initial: Any, rates: Any, sources: Any, targets: Any, limit: Any
) -> Any:
  """Returns what `integrals` does."""
  p = static.shape(initial)[-1]
  trap, last = order * p, order * p + 1
  clock = gradients.stop_gradient(1.0 / limit)
  ticks = onp.append(onp.arange(trap), last)
  above = onp.where(ticks < trap - p, ticks + p, last)
  above[-1] = last + 1
  shape = static.broadcast_shapes(static.shape(rates)[:-1], static.shape(clock))
  rates = np.broadcast_to(rates, (*shape, static.shape(rates)[-1]))
  beats = np.broadcast_to(clock[..., None], (*shape, trap + 1))
  copies = [c * p for c in range(order)]
  edges = pm.EdgeRates(
    _indices([*(sources + c for c in copies), ticks]),
    _indices(
      [*(np.where(targets == p, trap, targets + c) for c in copies), above]
    ),
    np.concatenate([*(rates for _ in copies), beats], axis=-1),
  )
  rest = np.zeros_like(initial[..., :1])
  rest = np.broadcast_to(rest, (*static.shape(initial)[:-1], trap + 2 - p))
  start = np.concatenate([initial, rest], axis=-1)
  density = pm.density(start, edges, limit, prob_zero=0.0)
  scaled = density * np.exp(clock * limit)
  for _ in range(order + 1):
    scaled = scaled / clock
  return scaled


_run = control_flow.compiled(_evaluate, static_argnums=(0,))


def _indices(parts: list[Any]) -> Any:
  """Returns integers as one array of int32."""
  return np.concatenate([np.asarray(x, dtype="int32") for x in parts])
