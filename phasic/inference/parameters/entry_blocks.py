"""The parameters of a distribution as blocks of independent, named entries.

Exits and a mass at zero are entries of their own, so that nothing is
subtracted. Increasing rates are represented by their differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import itertools
import math

import numpy as onp

from phasic.distributions.base import entries as entries_lib
from phasic.distributions.base import inferring
from phasic.distributions.base import parameter_properties as properties_lib
from phasic.distributions.base import structure
from phasic.distributions.base.distribution import Distribution
from phasic.distributions.base.distribution import DistributionT
from phasic.inference.parameters.host_values import host_values
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array


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

  def __init__(self, blocks: Mapping[str, entries_lib.Entries]):
    """Concatenates the blocks of `explicit_blocks`."""
    parts = list(blocks.values())
    sizes = [len(block.names) for block in parts]
    starts = itertools.accumulate(sizes, initial=0)
    self.names = [name for block in parts for name in block.names]
    self.values = [float(x) for block in parts for x in onp.ravel(block.values)]
    self.kinds = [kind for block in parts for kind in block.kinds]
    self.substochastic = {
      k: x for block in parts for k, x in block.substochastic.items()
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

  def release(self, names: Sequence[str]) -> None:
    """Marks entries as fitted that a fit keeps unless `free` has their names.

    Raises:
      TypeError: `names` is not a sequence, or has something else in it.
      ValueError: there is no such name, or it is always fitted.
    """
    released = self.positions(names, "free")
    for i in released:
      if self.kinds[i].is_fitted:
        raise ValueError(
          f"free has {self.names[i]!r}, which is always fitted: leave the name out"
        )
    self.kinds = [
      kind._replace(is_fitted=True) if i in released else kind
      for i, kind in enumerate(self.kinds)
    ]

  def positions(self, names: Sequence[str], argument: str) -> list[int]:
    """Returns the positions of entries, given names of entries or parameters.

    Raises:
      TypeError: `names` is not a sequence, or has something else in it.
      ValueError: there is no such name.
    """
    check_sequence(argument, names, "names")
    positions: list[int] = []
    for name in names:
      if not isinstance(name, str):
        raise TypeError(f"{argument} has {name!r}: names must be strings")
      if name in self._whole:
        positions += self._whole[name]
      elif name in self.names:
        i = self.names.index(name)
        if not self.kinds[i].is_entry:
          raise ValueError(
            f"{argument} has {name!r}: it is not fitted, because other entries "
            "determine it or it has no effect; leave it out"
          )
        positions.append(i)
      elif any(x.startswith(f"{name} - ") for x in self.names):
        entry = next(x for x in self.names if x.startswith(f"{name} - "))
        raise ValueError(
          f"{argument} has {name!r}: the entries increase, and their "
          f"differences are fitted; name the difference, {entry!r}"
        )
      else:
        known = ", ".join(self._whole)
        raise ValueError(
          f"{argument} has {name!r}: there is no such parameter or entry; the "
          f"parameters are {known}, and an entry is {self.names[0]!r}"
        )
    return positions


def explicit_blocks(
  distribution: DistributionT,
) -> tuple[DistributionT, dict[str, entries_lib.Entries]]:
  """Returns a distribution with explicit exits, and a block per parameter.

  Exits and masses at zero that the distribution derives become parameters.

  Raises:
    TypeError: parameters are traced.
    ValueError: a value breaks a rule.
  """
  distribution = _explicit(distribution)
  blocks: dict[str, entries_lib.Entries] = {}
  for path, owner in inferring.owners(distribution):
    arrays = inferring.arrays(owner)
    for name, prop in inferring.array_properties(owner).items():
      if arrays[name] is not None:
        array = structure.array_of(arrays[name])
        values = host_values(f"{path}{name}", array)
        blocks[f"{path}{name}"] = _block(path, name, prop, values, owner)
  return distribution, blocks


def rebuilt(
  distribution: DistributionT, arrays: Mapping[str, Array]
) -> DistributionT:
  """Rebuilds a distribution from the entries of its parameters."""
  changed: dict[str, Array | Mapping[str, Array]] = dict(arrays)
  mappings = names_of_mappings(distribution)
  for path, owner in inferring.owners(distribution):
    properties = inferring.array_properties(owner)
    for name, prop in properties.items():
      key = f"{path}{name}"
      if key not in arrays or structure.is_edges(inferring.given(owner, name)):
        continue
      x = arrays[key]
      others = {
        label: arrays[f"{path}{label}"]
        for label in properties
        if f"{path}{label}" in arrays
      }
      changed[key] = prop.constraint.of_entries(x, others)
      if key in mappings:
        changed[key] = {
          label: x[..., i] for i, label in enumerate(mappings[key])
        }
  return inferring.with_arrays(distribution, changed, validate_args=False)


def names_of_mappings(distribution: Distribution) -> dict[str, tuple[str, ...]]:
  """Returns the keys of parameters that are mappings, by parameter path."""
  return {
    f"{path}{name}": inferring.graph_parameter_names(owner, name) or ()
    for path, owner in inferring.owners(distribution)
    for name in inferring.array_properties(owner)
    if isinstance(inferring.given(owner, name), Mapping)
  }


def paths_where(
  distribution: Distribution,
  rule: Callable[[properties_lib.ParameterProperties], bool],
) -> tuple[str, ...]:
  """Returns the paths of parameters whose properties meet a rule."""
  return tuple(
    f"{path}{name}"
    for path, owner in inferring.owners(distribution)
    for name, prop in inferring.array_properties(owner).items()
    if rule(prop)
  )


def increasing(distribution: Distribution) -> tuple[str, ...]:
  """Returns the paths of parameters whose entries are differences."""
  return paths_where(distribution, lambda p: p.constraint.by_differences)


def _explicit(distribution: DistributionT) -> DistributionT:
  """Turns derived exits and masses at zero into explicit parameters."""
  changed: dict[str, object] = {}
  if "distribution" in distribution.parameters:
    changed["distribution"] = _explicit(distribution.parameters["distribution"])
  properties = distribution.parameter_properties()
  arrays = inferring.arrays(distribution)
  dtype = distribution.dtype
  for name, prop in properties.items():
    other = prop.constraint.exits or prop.constraint.beside
    if other not in properties or arrays[other] is not None:
      continue
    given, total = arrays[name], prop.constraint.total
    if given is not None and not structure.is_edges(given):
      values = host_values(name, given)
      rest = _rest(name, values, total, static.finfo_eps(dtype))
      if prop.constraint.exits or rest > 0:
        changed[other] = onp.asarray(rest, dtype)
  with user_warnings.derived():
    return distribution.copy(**changed) if changed else distribution


def _rest(
  name: str, values: onp.ndarray, one: float, eps: float
) -> onp.ndarray:
  """Computes `one` minus the sum of each row; rounding errors become zero."""
  rows = onp.reshape(values, (-1, onp.shape(values)[-1]))
  remainders = onp.zeros(len(rows))
  for i, row in enumerate(rows):
    rest = math.fsum([one, *(-x for x in row)])
    bound = 4 * len(row) * eps * max(one, float(onp.max(onp.abs(row))))
    if not rest >= -bound:
      raise ValueError(
        f"row {i} of {name} sums to {one - rest:g}: it must be <= {one:g}"
      )
    remainders[i] = rest if rest > bound else 0.0
  return onp.reshape(remainders, onp.shape(values)[:-1])


def _block(
  path: str,
  name: str,
  prop: properties_lib.ParameterProperties,
  values: onp.ndarray,
  owner: Distribution,
) -> entries_lib.Entries:
  """Returns the entries of one parameter, checked."""
  names_of_entries = labels(f"{path}{name}", onp.shape(values))
  if prop.constraint.is_of_graph:
    names = inferring.graph_parameter_names(owner, name)
    names_of_entries = [
      f"{path}{name}[{entry}]" for entry in names or ()
    ] or names_of_entries
  place = entries_lib.Place(path, name, owner)
  block = prop.constraint.entries(values, names_of_entries, place)
  kinds = block.kinds
  if not prop.fitted:
    # A fit keeps boundaries of epochs and bounds of a truncation, unless the
    # user names them in `free`. The likelihood would be largest if the bounds
    # of the truncation were the range of the data.
    kinds = [kind._replace(is_fitted=False) for kind in kinds]
  flat = onp.ravel(block.values)
  for label, x, kind in zip(block.names, flat, kinds, strict=True):
    if kind.is_entry and kind.is_fitted and not 0.0 <= x < math.inf:
      raise ValueError(
        f"{label} is {x:g}: at the start of a fit it must be >= 0 and finite"
      )
  return block._replace(kinds=kinds)


def labels(key: str, shape: tuple[int, ...]) -> list[str]:
  """Returns names of entries, like rates[1] or subgenerator[0, 2]."""
  if not shape:
    return [key]
  return [
    f"{key}[{', '.join(map(str, place))}]" for place in onp.ndindex(*shape)
  ]


def check_groups(argument: str, groups: Iterable[object]) -> None:
  """Raises TypeError unless the groups are sequences of names."""
  check_sequence(argument, groups, "groups of names")
  for i, names in enumerate(groups):
    items = "names, as in [('rates[0]', 'rates[1]')]"
    check_sequence(f"{argument}[{i}]", names, items)


def check_sequence(argument: str, x: object, items: str) -> None:
  """Raises TypeError unless the argument is a sequence, and not a string."""
  is_other = isinstance(x, (str, bytes, Mapping))
  if is_other or not isinstance(x, Iterable):
    raise TypeError(
      f"{argument} is {raw_arguments.shown(x)}: it must be a sequence of {items}"
    )


def parameter_of(name: str, paths: Iterable[str]) -> str:
  """Returns the path of the parameter to which a named entry belongs."""
  return max(
    (path for path in paths if name == path or name.startswith(f"{path}[")),
    key=len,
  )
