"""From the arguments of `moments` and `discrete_moments` to their results."""

import math

import numpy as np

from phasic.internal import control_flow
from phasic.math import chain_solves
from phasic.math import moment_chains
from phasic.math import scaled_sums


def power(values, names, order):
  """Returns raw moments 1, ..., order, (..., order).

  Args:
    values: the arguments; those that are not the model's are rewards, or none
      for one each.
    names: what they are called.
    order: a positive integer.
  """
  if not isinstance(order, int) or order < 1:
    raise ValueError(f"order is {order!r}: it must be a positive integer")
  return _call(("power", order), values, names, (order,))


def spread(values, names, root):
  """Returns the variance or its root, (...)."""
  return _call(("spread", root), values, names, ())


def _call(what, values, names, event):
  ranks = (1,) * (len(values) - 4)
  model, others, batch, dtype = chain_solves.arguments(
    *values, names=names, event_ranks=ranks
  )
  discrete = names[1] == "subtransition"
  x = _run(what, discrete, dtype, model, *others)
  return np.broadcast_to(x, (*batch, *event))


def _evaluate(what, discrete, dtype, model, *others):
  """Returns a result, (..., event)."""
  system = chain_solves.derive(model, discrete, dtype)
  kind, option = what
  if others:
    rewards = np.asarray(others[0], dtype=system.initial.dtype)
    # Their derivative would otherwise be wrong silently.
    good = (rewards >= 0) & np.isfinite(rewards)
    rewards = rewards * np.where(good, 1.0, math.nan)
  else:
    rewards = np.ones_like(system.initial)
  if kind == "power":
    found = moment_chains.raw(system, rewards, option)
    x = np.stack(found, axis=-1)
  else:
    total, exponent = moment_chains.variance(system, rewards)
    finish = scaled_sums.root if option else scaled_sums.times_power
    x = finish(total, exponent)
  return np.asarray(x, dtype=dtype)


_run = control_flow.compiled(_evaluate, static_argnums=(0, 1, 2))
