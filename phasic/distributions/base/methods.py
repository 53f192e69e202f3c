"""The methods that the parts of a distribution's interface need."""

from __future__ import annotations

from typing import NoReturn, dataclass_transform

from phasic.distributions.base import declared
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.math.model import value_rules


def check_substrate(name: str, x: object) -> None:
  """Raises TypeError for a distribution of another substrate."""
  kind = type(x)
  if isinstance(x, Methods):
    return
  for base in kind.__mro__:
    if base.__name__ == Methods.__name__:
      raise TypeError(
        f"{name} is {kind.__name__} of {_package(base)}: it must be a "
        f"distribution of {_package(Methods)}"
      )


def _package(base: type) -> str:
  """Returns the public package, without room and module."""
  return base.__module__.rsplit(".", 2)[0]


@dataclass_transform(
  eq_default=False,
  field_specifiers=(
    declared.array,
    declared.count,
    declared.option,
    declared.static,
  ),
)
class Methods:
  """The base of the classes whose methods `Distribution` has.

  A public method converts its arguments, and calls the method of the same name
  with an underscore. A subclass has that, or it is made of others, or it raises
  NotImplementedError and says why.

  Attributes:
    validate_args: whether values are checked, at some cost.
  """

  validate_args: bool

  def _value(self, value: ArrayLike) -> Array:
    """Converts and checks a value of the distribution."""
    raise NotImplementedError

  def _argument(self, x: ArrayLike, name: str) -> Array:
    """Converts an array that broadcasts with the batch."""
    raise NotImplementedError

  def _checked(
    self, x: ArrayLike, name: str, rule: value_rules.ValueRule
  ) -> Array:
    """Converts an argument that breaks no rule.

    Where it does there is a warning; with `validate_args` it raises.
    """
    x = self._argument(x, name)
    if not self.validate_args:
      value_rules.warn(name, x, rule)
      return x
    return value_rules.check(name, x, rule.holds(x), rule.text)

  def _statistic(self, name: str, x: Array) -> Array:
    """Returns a statistic, checked for NaN unless `allow_nan_stats`."""
    raise NotImplementedError

  def _counts(self) -> bool:
    """Returns whether values are whole numbers."""
    raise NotImplementedError

  def _missing(self, what: str, why: str = "") -> NoReturn:
    """Raises NotImplementedError."""
    reason = f": {why}" if why else ""
    raise NotImplementedError(f"{type(self).__name__} has no {what}{reason}")
