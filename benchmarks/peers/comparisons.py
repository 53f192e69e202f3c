"""What a comparison with a peer is made of."""

from typing import Any, NamedTuple

# A peer's call that takes less is short.
SHORT = 200e-6

Bounds = tuple[float, float]


class Case(NamedTuple):
  """One row of the table.

  Attributes:
    what: is computed.
    peer: what phasic is compared with.
    row: the function that makes phasic's call.
    peer_row: the function that makes the peer's call.
    arguments: of both functions.
    bounds: the ratio that is asked for and the goal, each a most; None where
      nothing is asked for.
    short_bounds: the same where the peer's call takes less than `SHORT`, if
      that is different.
    tolerance: how far values may differ, relative to the largest one.
  """

  what: str
  peer: str
  row: str
  peer_row: str
  arguments: dict[str, Any]
  bounds: Bounds | None
  short_bounds: Bounds | None = None
  tolerance: float = 1e-9

  def bounds_for(self, seconds: float) -> Bounds | None:
    """Returns the bounds where the peer's call takes so many seconds."""
    if self.short_bounds is not None and seconds < SHORT:
      return self.short_bounds
    return self.bounds


class Section(NamedTuple):
  """Cases that the same two processes compute.

  Attributes:
    rows: the file of phasic's rows.
    peer_rows: the file of the peer's rows.
    environment: the peer's environment, "" for phasic's own.
    cases: the rows of the table.
  """

  rows: str
  peer_rows: str
  environment: str
  cases: list[Case]
