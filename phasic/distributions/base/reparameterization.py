"""Constants that say whether samples are differentiable in the parameters."""

from __future__ import annotations


class ReparameterizationType:
  """A named constant, which is compared with `is`.

  Example: samples of a continuous time are differentiable.

    >>> from phasic.distributions import FULLY_REPARAMETERIZED, Erlang
    >>> Erlang(2, 1.0).reparameterization_type is FULLY_REPARAMETERIZED
    True
  """

  def __init__(self, name: str):
    self.name = name

  def __repr__(self) -> str:
    return f"<ReparameterizationType {self.name}>"

  # Copying returns the same object, so that comparisons by `is` hold.
  def __copy__(self) -> ReparameterizationType:
    return self

  def __deepcopy__(self, memo: dict) -> ReparameterizationType:
    return self


NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
