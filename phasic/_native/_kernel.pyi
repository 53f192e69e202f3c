"""NumPy entry points of the phase-type kernel, and its XLA FFI targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

def forward(
  kind: int,
  order: int,
  inputs: Sequence[np.ndarray],
  edges: Sequence[np.ndarray] | None = None,
  kinds: np.ndarray | None = None,
  discrete: bool = False,
) -> np.ndarray: ...
def adjoint(
  kind: int,
  order: int,
  inputs: Sequence[np.ndarray],
  edges: Sequence[np.ndarray] | None = None,
  wanted: int = 31,
  kinds: np.ndarray | None = None,
  discrete: bool = False,
) -> list[np.ndarray]: ...
def statistics(
  kind: int,
  inputs: Sequence[np.ndarray],
  edges: Sequence[np.ndarray] | None = None,
  kinds: np.ndarray | None = None,
) -> list[np.ndarray]: ...
def status(
  kind: int,
  inputs: Sequence[np.ndarray],
  edges: Sequence[np.ndarray] | None = None,
  kinds: np.ndarray | None = None,
  discrete: bool = False,
) -> np.ndarray: ...
def eliminate(
  transposed: bool,
  indices: np.ndarray,
  weights: np.ndarray,
  per_phase: np.ndarray,
  per_edge: np.ndarray,
  wants_edges: bool,
) -> tuple[np.ndarray, np.ndarray]: ...
def measure_elimination(
  num_phases: int, indices: np.ndarray
) -> dict[str, Any]: ...
def meets_constraint(
  x: np.ndarray, constraint: str, exits: np.ndarray | None = None
) -> bool: ...
def model_meets_constraints(
  initial_probs: np.ndarray,
  matrix: np.ndarray,
  exits: np.ndarray | None,
  prob_zero: np.ndarray | None,
  discrete: bool,
) -> bool: ...
def edges_meet_constraints(
  initial_probs: np.ndarray,
  edges: tuple[np.ndarray | None, ...],
  prob_zero: np.ndarray | None,
  discrete: bool,
) -> bool: ...
def moments_of_edges(
  initial_probs: np.ndarray,
  edges: tuple[np.ndarray | None, ...],
  weights: np.ndarray | None,
  prob_zero: np.ndarray | None,
  discrete: bool,
  gives_variance: bool,
  gives_root: bool,
  epsilon: float,
) -> tuple[np.ndarray, ...] | None: ...
def status_message(code: int) -> str: ...
def num_threads() -> int: ...
def set_num_threads(count: int) -> None: ...
def instruction_sets() -> dict[str, bool]: ...
def instruction_set() -> str: ...
def ffi_targets() -> dict[str, Any]: ...
