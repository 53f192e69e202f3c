"""Counts of pairs of states that were seen one after the other."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as onp

from phasic.multistate.data import panel_columns


@dataclasses.dataclass(frozen=True, eq=False)
class TransitionCounts:
  """How often one state was followed by another; it prints as a table.

  Attributes:
    states: names of k states, and labels of sets of states.
    counts: pairs of consecutive rows of a subject, (k, k), with the first state
      in rows.

  Example: see `PanelData.transitions`.

    >>> import numpy as np
    >>> from phasic import multistate
    >>> print(multistate.TransitionCounts(("well", "ill"), np.eye(2)))
    from, to  well  ill
    well         1    0
    ill          0    1
  """

  states: tuple[str, ...]
  counts: onp.ndarray

  def __str__(self) -> str:
    lines = [
      [state, *(str(int(x)) for x in row)]
      for state, row in zip(self.states, self.counts, strict=True)
    ]
    return panel_columns.table_text(["from, to", *self.states], lines)

  def _repr_html_(self) -> str:
    return f"<pre>{self}</pre>"


def count(subject: onp.ndarray, states: Sequence[str]) -> TransitionCounts:
  """Counts pairs of consecutive rows.

  Args:
    subject: whose each row is, in order, (n,).
    states: of the rows; rows without one, "", are passed over.
  """
  names = tuple(dict.fromkeys(x for x in states if x))
  places = {x: i for i, x in enumerate(names)}
  seen = onp.asarray([places.get(x, -1) for x in states], int)
  known = seen >= 0
  whose, at = subject[known], seen[known]
  same = whose[1:] == whose[:-1]
  counts = onp.zeros((len(names), len(names)), int)
  onp.add.at(counts, (at[:-1][same], at[1:][same]), 1)
  return TransitionCounts(names, counts)
