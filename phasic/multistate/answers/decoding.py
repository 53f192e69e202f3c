"""Hidden states, given all observations: most likely ones, and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as onp

from phasic import inference
from phasic.internal import raw_arguments
from phasic.multistate.likelihood import evaluation
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import models
from phasic.multistate.likelihood import path_layouts
from phasic.multistate.likelihood import reading
from phasic.multistate.likelihood import smoothing
from phasic.multistate.states import chains

# Scores that differ by less than this fraction are equal.
_TIE = 1e-12
# Numbers in the matrices of paths that are worked on at a time.
_BLOCK = 2_000_000


def viterbi(fit: inference.ModelFit) -> onp.ndarray:
  """Computes the most likely states at the rows of the data.

  For each subject it is the sequence of states at the times of its rows that
  has the largest probability given all rows of the subject. Where states
  consist of several phases, it is the most likely sequence of phases, of which
  the states are returned. Of sequences that are equally likely, the one with
  the first state, in the order of the model, at the last row where they differ
  is taken.

  Args:
    fit: a fit of a `MultiState` model.

  Returns:
    The names of the states, (n,), for the rows of `PanelData`, which are sorted
    by subject and time.

  Raises:
    TypeError: `fit` is not the fit of a `MultiState` model.

  Example: a test has errors; one positive result between negative ones is
    likely one of them.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "patient": [1, 1, 1, 1, 2, 2, 2, 2],
    ...     "year": [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0],
    ...     "test": ["well", "ill", "well", "well", "well", "ill", "ill", "ill"],
    ...   },
    ...   subject="patient",
    ...   time="year",
    ...   state="test",
    ... )
    >>> model = multistate.MultiState(
    ...   {"well": ["ill"]},
    ...   initial_probs={"well": 1.0},
    ...   misclassification={"well": {"ill": 0.1}, "ill": {"well": 0.1}},
    ... )
    >>> fit = inference.fit_mle(model, data, fixed=["misclassification"])
    >>> print(*multistate.viterbi(fit))
    well well well well well ill ill ill

  References:
    A. J. Viterbi, Error bounds for convolutional codes and an asymptotically
      optimum decoding algorithm, IEEE Trans. Inform. Theory 13, 1967.
  """
  decoder = _Decoder(fit)
  states = onp.array(decoder.known_states())
  for block in decoder.blocks():
    phases = _best_phases(block)
    is_row = block.rows >= 0
    states[block.rows[is_row]] = decoder.chain.state_of[phases[is_row]]
  return onp.asarray(decoder.chain.states)[states]


def state_probs(fit: inference.ModelFit) -> onp.ndarray:
  """Computes P(state at a row | all rows of the subject): smoothed states.

  Args:
    fit: a fit of a `MultiState` model.

  Returns:
    Probabilities, (n, s), for the rows of `PanelData`, which are sorted by
    subject and time, and the states in the order of the model.

  Raises:
    TypeError: `fit` is not the fit of a `MultiState` model.

  Example: at the second visit it was only seen that the patient was alive.

    >>> from phasic import inference, multistate
    >>> data = multistate.PanelData.from_table(
    ...   {
    ...     "patient": [1, 1, 1],
    ...     "year": [0.0, 1.0, 2.0],
    ...     "stage": ["well", "alive", "dead"],
    ...   },
    ...   subject="patient",
    ...   time="year",
    ...   state="stage",
    ...   exact=["dead"],
    ...   censored={"alive": ["well", "ill"]},
    ... )
    >>> rates = multistate.Intensities(
    ...   {"well": ["ill"], "ill": ["dead"]},
    ...   rates={"well -> ill": 1.0, "ill -> dead": 1.0},
    ... )
    >>> model = multistate.MultiState(rates)
    >>> fit = inference.fit_mle(model, data, fixed=["rates"])
    >>> print(multistate.state_probs(fit)[1])
    [0.5 0.5 0. ]

  References:
    L. R. Rabiner, A tutorial on hidden Markov models and selected applications
      in speech recognition, Proc. IEEE 77, 1989.
  """
  decoder = _Decoder(fit)
  chain = decoder.chain
  in_state = onp.eye(len(chain.states))[chain.state_of]
  probs = onp.array(onp.eye(len(chain.states))[decoder.known_states()])
  for block in decoder.blocks():
    both = smoothing.passes(block.tables, block.paths)
    is_row = block.rows >= 0
    phases = both.phase_probs()[is_row]
    probs[block.rows[is_row]] = onp.matmul(phases, in_state)
  return probs


class _Block(NamedTuple):
  """Some of the paths, with the rows of the data on them.

  Attributes:
    paths: the paths.
    tables: the tables of the forward algorithm.
    rows: the row that is reached by each move, (l + 1, s), and first by the
      start; -1 where a move ends between rows.
  """

  paths: layouts.Paths
  tables: smoothing.HostTables
  rows: onp.ndarray


class _Decoder:
  """The paths of all subjects of a fit."""

  def __init__(self, fit: inference.ModelFit):
    """Reads the data of a fit again, all stretches as paths."""
    model = fit.model if isinstance(fit, inference.ModelFit) else None
    if not isinstance(model, models.MultiState):
      raise TypeError(
        f"fit is {raw_arguments.shown(fit)}: it must be the fit of a MultiState "
        "model, from inference.fit_mle or fit_em"
      )
    spec, bound = models.spec_of(model), models.bound_of(model)
    self.chain: chains.Chain = spec.chain
    known = reading.read(spec, bound.data)
    rows = known.rows
    self._masks = rows.masks[rows.mask]
    # No row is left to closed forms, so that all are on paths.
    none = onp.zeros(len(rows.mask), bool)
    is_random = spec.initial is not None
    self._paths, self._rows = path_layouts.paths(
      self.chain, bound.data, rows, none, is_random
    )
    if self._paths is not None:
      at = evaluation.evaluated(spec, bound, fit.parameters, known)
      self._tables = smoothing.host_tables(self.chain, self._paths, at)

  def known_states(self) -> onp.ndarray:
    """Returns the first possible state at each row, (n,)."""
    return onp.asarray(self.chain.state_of[onp.argmax(self._masks, axis=-1)])

  def blocks(self) -> Iterator[_Block]:
    """Yields paths in blocks whose work fits into memory."""
    paths = self._paths
    if paths is None:
      return
    length, count = onp.shape(paths.matrices)
    p = self.chain.num_phases
    size = max(1, _BLOCK // (p * max(p, length)))
    for low in range(0, count, size):
      some = slice(low, low + size)
      tables = self._tables
      yield _Block(
        paths._replace(
          start=paths.start[some],
          first=paths.first[some],
          matrices=paths.matrices[:, some],
          weights=paths.weights[:, some],
        ),
        tables._replace(first=tables.first[some]),
        self._rows[:, some],
      )


def _best_phases(block: _Block) -> onp.ndarray:
  """Computes the most likely phases at the rows of paths, (l + 1, s).

  Between rows all phases are summed over; only at rows there is a choice. The
  phases at moves that end between rows have no meaning.
  """
  tables, paths = block.tables, block.paths
  score = tables.first
  count, p = onp.shape(score)
  is_fresh = onp.ones(count, bool)
  since = onp.zeros((count, p, p))
  before: list[onp.ndarray] = []
  for k, is_row in enumerate(block.rows[1:] >= 0):
    step = onp.array(tables.matrices[paths.matrices[k]])
    later = onp.flatnonzero(onp.logical_not(is_fresh))
    step[later] = smoothing.log_product(since[later], step[later])
    since = step + tables.weights[paths.weights[k]][:, None, :]
    joint = score[:, :, None] + since
    best = _first_largest(joint)
    reached = onp.squeeze(onp.take_along_axis(joint, best[:, None], 1), 1)
    score = onp.where(is_row[:, None], reached, score)
    before.append(onp.where(is_row[:, None], best, onp.arange(p)))
    is_fresh = is_row
  phases = [_first_largest(score[:, :, None])[:, 0]]
  for best in before[::-1]:
    phases.append(onp.take_along_axis(best, phases[-1][:, None], 1)[:, 0])
  return onp.stack(phases[::-1])


def _first_largest(x: onp.ndarray) -> onp.ndarray:
  """Returns where the largest numbers on axis 1 come first, (s, p)."""
  largest = onp.max(x, axis=1, keepdims=True)
  known = onp.where(largest > -onp.inf, largest, 0.0)
  least = largest - _TIE * (1.0 + onp.abs(known))
  return onp.argmax(x >= least, axis=1)
