"""What a comparison with a peer is made of."""

from typing import Any, NamedTuple


class Case(NamedTuple):
  """One row of a table.

  Attributes:
    what: is computed.
    peer: what phasic is compared with.
    row: the function that makes phasic's call.
    peer_row: the function that makes the peer's call.
    arguments: of both functions.
    tolerance: how far values may differ, relative to the largest one.
    reason: why phasic may be slower, in one sentence.
  """

  what: str
  peer: str
  row: str
  peer_row: str
  arguments: dict[str, Any]
  tolerance: float = 1e-9
  reason: str = ""


class Section(NamedTuple):
  """Cases that the same two processes compute.

  Attributes:
    title: of the table, which several sections may share.
    rows: the file of phasic's rows.
    peer_rows: the file of the peer's rows.
    environment: the peer's environment, "" for phasic's own.
    cases: the rows of the table.
  """

  title: str
  rows: str
  peer_rows: str
  environment: str
  cases: list[Case]
