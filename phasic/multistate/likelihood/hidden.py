"""What is seen of hidden states: labels with errors, and outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import math
from typing import Any

import numpy as np
import numpy as onp

from phasic import distributions
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.multistate.data import panel_columns
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.likelihood import outcomes
from phasic.multistate.states import chains


@dataclasses.dataclass(frozen=True, eq=False)
class Hidden:
  """How states are observed.

  Attributes:
    states: the names of the states.
    errors: pairs of a state and another one as which it may be seen, by the
      names of their log odds.
    probs: the probabilities of errors where a fit starts, likewise.
    outcomes: densities, by name of the outcome and of the state.
  """

  states: tuple[str, ...]
  errors: Mapping[str, tuple[str, str]]
  probs: Mapping[str, float]
  outcomes: Mapping[str, Mapping[str, Any]]

  @property
  def has_errors(self) -> bool:
    """Whether labels may be wrong."""
    return bool(self.errors)

  @functools.cached_property
  def starts(self) -> onp.ndarray:
    """Log odds of errors against the right label, where a fit starts, (k,)."""
    right = {
      state: 1.0
      - sum(self.probs[k] for k, (x, _) in self.errors.items() if x == state)
      for state in self.states
    }
    return onp.asarray(
      [
        math.log(self.probs[name] / right[state])
        for name, (state, _) in self.errors.items()
      ]
    )

  def parts(self) -> dict[str, Any]:
    """Returns starting values of the parameters of outcomes, by name."""
    named: dict[str, Any] = {}
    for name, by_state in self.outcomes.items():
      for state, x in by_state.items():
        key = f"{name}.{state}"
        if isinstance(x, distributions.Distribution):
          named |= {key: x}
          continue
        named |= {f"{key}.{part}": y for part, y in x.parameters.items()}
    return named

  def bounds(self) -> dict[str, tuple[float, float]]:
    """Returns bounds of the parameters of outcomes, by name."""
    return {
      f"{name}.{state}.{part}": pair
      for name, by_state in self.outcomes.items()
      for state, x in by_state.items()
      if isinstance(x, outcomes.Outcome)
      for part, pair in x.bounds.items()
    }

  def log_label_probs(
    self,
    log_odds: Array,
    effects: Array | None,
    columns: Array,
    incidence: onp.ndarray,
  ) -> Array:
    """Computes log P(label | state), (c, s, s), for c rows of covariates.

    Args:
      log_odds: of errors where covariates are zero, (k,).
      effects: coefficients, (l,), or None.
      columns: the number that each coefficient multiplies, (c, l).
      incidence: one where a coefficient acts on log odds, (l, k).
    """
    odds = log_odds[None]
    dtype = static.dtype_name(log_odds)
    if effects is not None:
      acts = structures.cast(incidence, dtype)
      odds = odds + np.matmul(columns * effects, acts)
    size, count = static.shape(odds)[0], len(self.states)
    places = onp.full((count, count), len(self.errors) + 1)
    onp.fill_diagonal(places, len(self.errors))
    for i, (state, label) in enumerate(self.errors.values()):
      places[self.states.index(state), self.states.index(label)] = i
    right = structures.cast(onp.zeros((size, 1)), dtype)
    padded = np.concatenate([odds, right, right - math.inf], axis=-1)
    logits = np.reshape(
      np.take(padded, places.ravel(), axis=-1), (size, count, count)
    )
    return logits - likelihoods.log_sum(logits)[..., None]

  def log_emissions(
    self,
    chain: chains.Chain,
    emissions: layouts.Emissions,
    parameters: Mapping[str, Any],
    log_labels: Array | None,
    dtype: str,
  ) -> Array:
    """Computes log densities of observations in each phase, (e, p).

    Args:
      chain: the chain.
      emissions: the observations.
      parameters: of the model.
      log_labels: from `log_label_probs`, or None.
      dtype: of the result.
    """
    masks = structures.cast(emissions.masks, dtype)
    log = np.where(masks > 0.0, np.zeros_like(masks), -math.inf)
    by_state = []
    if log_labels is not None:
      seen = structures.cast(emissions.labels, dtype)[:, None]
      possible = np.where(seen > 0.0, np.zeros_like(seen), -math.inf)
      rows = np.take(log_labels, emissions.design, axis=0)
      by_state.append(likelihoods.log_sum(rows + possible))
    for name in self.outcomes:
      by_state.append(self._log_densities(name, emissions, parameters, dtype))
    for x in by_state:
      log = log + np.take(x, chain.state_of, axis=-1)
    return log

  def _log_densities(
    self,
    name: str,
    emissions: layouts.Emissions,
    parameters: Mapping[str, Any],
    dtype: str,
  ) -> Array:
    """Computes log densities of an outcome in each state, (e, s)."""
    values = structures.cast(emissions.outcomes[name], dtype)
    missing = np.isnan(values)
    by_state = self.outcomes[name]
    columns = []
    for state in self.states:
      if state not in by_state:
        columns.append(np.zeros_like(values) - math.inf)
        continue
      x, key = by_state[state], f"{name}.{state}"
      # A value that the density takes, in place of a missing one.
      known = np.where(missing, np.ones_like(values), values)
      if isinstance(x, distributions.Distribution):
        columns.append(parameters[key].log_prob(known))
        continue
      given = {part: parameters[f"{key}.{part}"] for part in x.parameters}
      columns.append(x.log_prob(known, **given))
    log = np.stack(columns, axis=-1)
    return np.where(missing[:, None], np.zeros_like(log), log)


def read(
  states: Sequence[str], misclassification: Any, given_outcomes: Any
) -> Hidden:
  """Reads the arguments of a model that say how states are observed."""
  errors: dict[str, tuple[str, str]] = {}
  probs: dict[str, float] = {}
  for key, labels in _mapping("misclassification", misclassification).items():
    state = _checked("misclassification", key, states)
    where = f"misclassification[{key!r}]"
    total = 0.0
    for other, prob in _mapping(where, labels).items():
      label = _checked(where, other, states)
      if label == state:
        raise ValueError(
          f"{where} has {state!r} itself: it must have wrong labels alone; the "
          "right label has the rest of the probability"
        )
      name = f"{label} | {state}"
      errors |= {name: (state, label)}
      probs |= {name: float(prob)}
      total += float(prob)
      if not 0.0 < float(prob) < 1.0:
        raise ValueError(
          f"{where}[{other!r}] is {prob}: it must be between zero and one; leave "
          "out errors that do not occur"
        )
    if total >= 1.0:
      raise ValueError(
        f"{where} sums to {total:g} without {state!r}: it must be less than one"
      )
  densities: dict[str, dict[str, Any]] = {}
  for name, by_state in _mapping("outcomes", given_outcomes).items():
    raw_arguments.check_string("a name in outcomes", name)
    densities |= {name: {}}
    for key, x in _mapping(f"outcomes[{name!r}]", by_state).items():
      state = _checked(f"outcomes[{name!r}]", key, states)
      where = f"outcomes[{name!r}][{state!r}]"
      densities[name] |= {state: outcomes.as_outcome(where, x)}
  return Hidden(tuple(states), errors, probs, densities)


def _mapping(argument: str, x: Any) -> Mapping[Any, Any]:
  if x is None:
    return {}
  if not isinstance(x, Mapping):
    raise TypeError(
      f"{argument} is {raw_arguments.shown(x)}: it must be a mapping by state"
    )
  return x


def _checked(argument: str, key: object, states: Sequence[str]) -> str:
  state = panel_columns.text(key, f"a state of {argument}")
  if state not in states:
    raise ValueError(
      f"{argument} has {state!r}: it must be one of the states "
      f"{', '.join(states)}"
    )
  return state
