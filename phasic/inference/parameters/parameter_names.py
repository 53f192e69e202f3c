"""Names of the parameters of a model, and to which part each belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phasic.inference.parameters import entry_blocks
from phasic.inference.parameters import numbers as numbers_lib
from phasic.internal.arrays import ArrayLike

# The entries of a distribution of this name are named without it: "rates[0]".
# Entries of another distribution have its name in front: "second.rates[0]".
PLAIN = "distribution"


def prefix_of(name: str) -> str:
  """Returns what is before the names of a distribution's entries."""
  return "" if name == PLAIN else f"{name}."


class PartNames:
  """Which names belong to which part."""

  def __init__(
    self,
    arrays: Iterable[str],
    numbers: numbers_lib.Numbers | None,
    distributions: Iterable[str],
  ):
    self._arrays = set(arrays)
    self._numbers = () if numbers is None else numbers.number_names
    self._distributions = tuple(distributions)

  def _is_number(self, name: object) -> bool:
    return name in self._arrays or name in self._numbers

  def within(self, part: str, argument: str, names: Sequence[str]) -> list[str]:
    """Returns the names in one distribution, without its own name.

    A name that begins with no distribution's name is one in each of them. Those
    of numbers are left out.
    """
    entry_blocks.check_sequence(argument, names, "names")
    prefix = prefix_of(part)
    others = tuple(
      prefix_of(x) for x in self._distributions if x not in (part, PLAIN)
    )
    kept = []
    for name in names:
      if self._is_number(name):
        continue
      if not isinstance(name, str):
        raise TypeError(f"{argument} has {name!r}: names must be strings")
      if prefix and name.startswith(prefix):
        kept.append(name.removeprefix(prefix))
      elif not (others and name.startswith(others)):
        kept.append(name)
    return kept

  def limited(
    self, part: str, bounds: Mapping[str, Sequence[ArrayLike]]
  ) -> dict[str, Sequence[float]]:
    """Returns the bounds of entries of one distribution."""
    names = [name for name in bounds if not self._is_number(name)]
    pairs = {}
    for name in names:
      for inner in self.within(part, "bounds", [name]):
        pairs[inner] = bounds[name]
    return pairs  # type: ignore[return-value]

  def check_bounds(self, bounds: Iterable[str]) -> None:
    """Raises ValueError for bounds of single numbers, or of unknown names."""
    for name in bounds:
      if name in self._arrays:
        continue
      if name in self._numbers:
        raise ValueError(
          f"bounds has {name!r}: bounds of numbers have the name of the whole "
          f"array, {name.split('[')[0]!r}"
        )
      if not self._distributions:
        raise ValueError(
          f"bounds has {name!r}: there is no such parameter; the parameters are "
          f"{', '.join(self._arrays)}"
        )

  def check_entries(self, argument: str, names: Sequence[str]) -> None:
    """Raises ValueError for names that cannot be of distributions' entries."""
    entry_blocks.check_sequence(argument, names, "names")
    for name in names:
      if self._is_number(name) or not self._distributions:
        raise ValueError(
          f"{argument} has {name!r}: it must name entries of a distribution; a "
          "model whose numbers are equal has one number in their place"
        )

  def fixed_numbers(self, fixed: Sequence[str]) -> list[str]:
    """Returns the names of numbers that are fixed.

    Raises:
      ValueError: a name is neither one of numbers nor within a distribution.
    """
    kept = []
    for name in fixed:
      if name in self._numbers:
        kept.append(name)
      elif name in self._arrays:
        kept += [
          x for x in self._numbers if x == name or x.startswith(f"{name}[")
        ]
      elif not self._distributions:
        raise ValueError(
          f"fixed has {name!r}: there is no such parameter; the parameters are "
          f"{', '.join(self._arrays)}, with the entries "
          f"{', '.join(self._numbers[:20])}"
        )
    return kept
