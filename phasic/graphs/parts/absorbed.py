"""The target `ABSORBED` of transitions, perhaps with a cause."""

from __future__ import annotations

from typing import TypeGuard

from phasic.internal import raw_arguments


class Absorbed:
  """The target of transitions that end in absorption; see `ABSORBED`.

  Two are equal if their causes are equal, in any substrates.

  Attributes:
    cause: the name of the cause, None for plain `ABSORBED`.
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
    """Returns absorption by the given cause, for competing risks."""
    if self.cause is not None:
      raise TypeError(f"{self!r} has a cause already")
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
  """Returns whether a state is `ABSORBED`, of this or another substrate."""
  return isinstance(state, Absorbed) or (
    # One function of transitions may serve several substrates, each with its
    # own class.
    type(state).__name__ == "Absorbed"
    and type(state).__module__.startswith("phasic.")
  )
