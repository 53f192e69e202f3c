"""Probabilities of states at the first row of each subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.multistate.data import panel_columns
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import reading


def read_probs(
  given: Any, states: Sequence[str], estimated: bool
) -> onp.ndarray | None:
  """Reads the probabilities of states at the first row, (s,)."""
  if given is None:
    if estimated:
      raise ValueError(
        "initial_probs is None: with estimate_initial_probs it must have the "
        "probabilities where a fit starts"
      )
    return None
  if not isinstance(given, Mapping):
    raise TypeError(
      f"initial_probs is {raw_arguments.shown(given)}: it must map states to "
      "probabilities"
    )
  probs = onp.zeros(len(states))
  for key, x in given.items():
    state = panel_columns.text(key, "a state of initial_probs")
    if state not in states:
      raise ValueError(
        f"initial_probs has {state!r}: it must be one of the states "
        f"{', '.join(states)}"
      )
    probs[states.index(state)] = float(x)
  total = float(onp.sum(probs))
  if not onp.all((probs >= 0.0) & (probs <= 1.0)) or abs(total - 1.0) > 1e-9:
    raise ValueError(
      f"initial_probs is {dict(given)}: it must be probabilities that sum to one"
    )
  return probs


def possible_states(spec: reading.Spec) -> tuple[str, ...]:
  """Returns the states in which a subject may be at the first row."""
  if spec.initial is None:
    return ()
  return tuple(
    x
    for x, prob in zip(spec.chain.states, spec.initial, strict=True)
    if prob > 0.0
  )


def start_log_odds(spec: reading.Spec) -> onp.ndarray:
  """Returns log odds of the first state where a fit starts, (number - 1,)."""
  probs = onp.asarray(spec.initial)
  probs = probs[probs > 0.0]
  return onp.log(probs[1:] / probs[0])


def log_probs(spec: reading.Spec, log_odds: Array | None, dtype: str) -> Array:
  """Computes log probabilities of phases at the first row, (p,)."""
  chain, probs = spec.chain, onp.asarray(spec.initial)
  with onp.errstate(divide="ignore"):
    log_entry = structures.cast(onp.log(chain.entry), dtype)
    fixed = structures.cast(onp.log(probs), dtype)
  if log_odds is None:
    return np.take(fixed, chain.state_of, axis=0) + log_entry
  size = static.shape(log_odds)[0]
  places = onp.full(len(probs), size + 1)
  places[probs > 0.0] = [size, *range(size)]
  zero = np.zeros_like(log_odds[:1])
  padded = np.concatenate([log_odds, zero, zero - math.inf], axis=0)
  logits = np.take(padded, places, axis=0)
  logits = logits - likelihoods.log_sum(logits)
  return np.take(logits, chain.state_of, axis=0) + log_entry
