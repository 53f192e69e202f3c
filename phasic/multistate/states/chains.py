"""Chains of multi-state models: phases, edges, and rates by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools

import numpy as onp


@dataclasses.dataclass(frozen=True, eq=False)
class Chain:
  """A chain whose edges have rates that are linear in named rates.

  A state is one phase, or several if its sojourn has another distribution than
  the exponential one. Absorbing states are phases without edges.

  Attributes:
    states: the names of the states.
    phases: the names of the p phases, in the order of their states.
    state_of: the state of each phase, (p,).
    entry: the probability that a sojourn in its state starts in a phase, (p,).
    sources: the phases where the m edges begin, (m,).
    targets: the phases to which they lead, (m,).
    rates: the names of r rates.
    coefficients: (m, r).
    constants: (m,).
    starts: given starting values of rates, by name.
  """

  states: tuple[str, ...]
  phases: tuple[str, ...]
  state_of: onp.ndarray
  entry: onp.ndarray
  sources: onp.ndarray
  targets: onp.ndarray
  rates: tuple[str, ...]
  coefficients: onp.ndarray
  constants: onp.ndarray
  starts: Mapping[str, float]

  @property
  def num_phases(self) -> int:
    """The number of phases, p."""
    return len(self.phases)

  @functools.cached_property
  def is_plain(self) -> bool:
    """Whether each edge has a rate of its own."""
    return not onp.any(self.constants) and onp.array_equal(
      self.coefficients, onp.eye(len(self.sources))
    )

  @functools.cached_property
  def from_source(self) -> onp.ndarray:
    """One where an edge begins in a phase, (m, p)."""
    return onp.eye(self.num_phases)[self.sources]

  @functools.cached_property
  def leaves_state(self) -> onp.ndarray:
    """Whether an edge leads to another state, (m,)."""
    return self.state_of[self.sources] != self.state_of[self.targets]

  @functools.cached_property
  def absorbing(self) -> tuple[str, ...]:
    """The states that are not left."""
    left = set(map(int, self.state_of[self.sources[self.leaves_state]]))
    return tuple(x for i, x in enumerate(self.states) if i not in left)

  @functools.cached_property
  def start_rows(self) -> onp.ndarray:
    """Distributions of phases at a start in a phase or a state, (p + s, p).

    The p rows of phases come first, then the s rows of states.
    """
    states = onp.eye(len(self.states))[:, self.state_of] * self.entry
    return onp.concatenate([onp.eye(self.num_phases), states])

  def in_states(self, states: Sequence[str]) -> onp.ndarray:
    """Returns one for phases of some states, else zero, (p,)."""
    wanted = [self.states.index(x) for x in states]
    return onp.asarray(onp.isin(self.state_of, wanted), onp.float64)

  def enters(self, states: Sequence[str]) -> onp.ndarray:
    """Returns one for edges that enter some states from others, (m,)."""
    inside = self.in_states(states)[self.targets]
    return inside * self.leaves_state

  @functools.cached_property
  def cells(self) -> onp.ndarray:
    """One in the cell i p + j of the edge from phase i to phase j, (m, p p)."""
    p, m = self.num_phases, len(self.sources)
    cells = onp.zeros((m, p * p))
    places = onp.asarray(self.sources, int) * p + onp.asarray(self.targets, int)
    cells[onp.arange(m), places] = 1.0
    return cells

  def targets_while_held(self) -> onp.ndarray:
    """Returns targets with absorption, p, in place of other states, (m,)."""
    return onp.where(self.leaves_state, self.num_phases, self.targets)

  def targets_of(self, held: bool) -> onp.ndarray:
    """Returns the targets, (m,), `targets_while_held` if `held`."""
    return self.targets_while_held() if held else self.targets

  def reached(self, held: bool) -> onp.ndarray:
    """Returns whether paths lead from phase i to phase j, (p, p).

    Args:
      held: whether paths stay in their state.
    """
    return self._reached[held]

  @functools.cached_property
  def _reached(self) -> tuple[onp.ndarray, onp.ndarray]:
    """What `reached` returns: of free paths, and of those that stay."""
    return self._closure(False), self._closure(True)

  def _closure(self, held: bool) -> onp.ndarray:
    """Computes `reached`."""
    p = self.num_phases
    reach = onp.eye(p, dtype=bool)
    use = onp.logical_not(self.leaves_state) if held else slice(None)
    reach[self.sources[use], self.targets[use]] = True
    for k in range(p):
      reach |= reach[:, k : k + 1] & reach[k : k + 1]
    return reach


def with_starts(chain: Chain, starts: Mapping[str, float]) -> Chain:
  """Returns the chain with starting values of rates."""
  return dataclasses.replace(chain, starts=dict(starts))
