"""Markers of whether samples are differentiable in the parameters."""

from __future__ import annotations


class ReparameterizationType:
  """A marker with a name; compare with `is`."""

  def __init__(self, name: str):
    self.name = name

  def __repr__(self) -> str:
    return f"<ReparameterizationType {self.name}>"

  # One object per kind, also after copying.
  def __copy__(self) -> ReparameterizationType:
    return self

  def __deepcopy__(self, memo: dict) -> ReparameterizationType:
    del memo
    return self


NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
