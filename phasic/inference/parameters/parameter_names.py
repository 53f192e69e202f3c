"""Names of parameters and of their entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import itertools

from phasic.inference.parameters import entry_blocks
from phasic.internal import raw_arguments


class Names:
  """The entries of all parameters of a distribution, concatenated.

  Attributes:
    names: of the entries.
    values: of the entries.
    kinds: of the entries.
    substochastic: of each sum, whether its entries may have less than its
      total.
    first: where the entries of a parameter begin, by its path.
  """

  def __init__(self, blocks: Mapping[str, entry_blocks.Block]):
    """Concatenates the blocks of `entry_blocks`."""
    found = list(blocks.values())
    sizes = [len(block.names) for block in found]
    starts = itertools.accumulate(sizes, initial=0)
    self.names = [name for block in found for name in block.names]
    self.values = [float(x) for block in found for x in block.values]
    self.kinds = [kind for block in found for kind in block.kinds]
    self.substochastic = {
      k: x for block in found for k, x in block.substochastic.items()
    }
    self.first = dict(zip(blocks, starts, strict=False))
    self._whole = {
      path: [
        self.first[path] + j
        for j, kind in enumerate(block.kinds)
        if kind.is_entry
      ]
      for path, block in blocks.items()
    }

  def positions(self, names: Sequence[str], argument: str) -> list[int]:
    """Returns the positions of entries, given names of entries or parameters.

    Raises:
      TypeError: `names` is not a sequence, or has something else in it.
      ValueError: there is no such name.
    """
    _check_sequence(argument, names, "names")
    found: list[int] = []
    for name in names:
      if not isinstance(name, str):
        raise TypeError(f"{argument} has {name!r}: names must be strings")
      if name in self._whole:
        found += self._whole[name]
      elif name in self.names:
        i = self.names.index(name)
        if not self.kinds[i].is_entry:
          raise ValueError(
            f"{argument} has {name!r}: it is not fitted, because other entries "
            "determine it or it has no effect; leave it out"
          )
        found.append(i)
      else:
        known = ", ".join(self._whole)
        raise ValueError(
          f"{argument} has {name!r}: there is no such parameter; parameters "
          f"are {known}, and their entries, e.g. {self.names[0]!r}"
        )
    return found


def check_groups(argument: str, groups: Iterable[object]) -> None:
  """Raises TypeError unless the groups are sequences of names."""
  _check_sequence(argument, groups, "groups of names")
  for names in groups:
    _check_sequence(argument, names, "names")


def _check_sequence(argument: str, x: object, of_what: str) -> None:
  """Raises TypeError unless the argument is a sequence, and not a string."""
  if isinstance(x, str) or not isinstance(x, Iterable):
    raise TypeError(
      f"{argument} is {raw_arguments.shown(x)}: it must be a sequence of {of_what}"
    )


def parameter_of(name: str) -> str:
  """Returns the path of the parameter that an entry's name starts with."""
  return name.partition("[")[0]
