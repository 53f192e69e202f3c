"""The target `ABSORBED` of transitions, optionally with a cause."""

from __future__ import annotations

from typing import TypeGuard

from phasic.internal import raw_arguments


class Absorbed:
  """The target of transitions that end in absorption; see `ABSORBED`.

  Two are equal if their causes are equal, in any substrates.

  Attributes:
    cause: the name of the cause, None for plain `ABSORBED`.

  Example: one of several causes.

    >>> from phasic import graphs
    >>> relapse = graphs.ABSORBED("relapse")
    >>> relapse.cause
    'relapse'
    >>> relapse == graphs.Absorbed("relapse"), relapse == graphs.ABSORBED
    (True, False)
  """

  __slots__ = ("cause",)

  cause: str | None

  def __init__(self, cause: str | None = None):
    if cause is not None and not (isinstance(cause, str) and cause):
      raise TypeError(
        f"cause is {raw_arguments.shown(cause)}: it must be a string, not empty"
      )
    self.cause = cause

  def __call__(self, cause: str) -> Absorbed:
    """Returns the absorbing state of a cause, for competing risks."""
    if self.cause is not None:
      raise TypeError(
        f"{self!r} already has a cause: use ABSORBED(cause) for another one"
      )
    if cause is None:
      raise TypeError("cause is None: it must be a string, not empty")
    return Absorbed(cause)

  def __eq__(self, other: object) -> bool:
    return is_absorbed(other) and other.cause == self.cause

  def __hash__(self) -> int:
    return hash(("phasic.ABSORBED", self.cause))

  def __reduce__(self) -> tuple[object, ...]:
    return Absorbed, (self.cause,)

  def __repr__(self) -> str:
    return "ABSORBED" if self.cause is None else f"ABSORBED({self.cause!r})"


ABSORBED = Absorbed()


def is_absorbed(state: object) -> TypeGuard[Absorbed]:
  """Returns whether a state is `ABSORBED`, of any substrate (backend)."""
  return isinstance(state, Absorbed) or (
    # Each substrate (backend) has its own class, but a function of transitions
    # may serve several substrates.
    type(state).__name__ == "Absorbed"
    and type(state).__module__.startswith("phasic.")
  )
