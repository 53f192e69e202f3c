"""Weights as users write them: a number, a vector or a mapping by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple, TypeGuard

import numpy as onp

from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Integer
from phasic.internal.raw_arguments import shown

# Numbers below this are surely finite when they are converted to floats.
_LARGE = 1e300

# The key of the constant term in a weight that is a mapping.
CONSTANT = 1


class Weight(NamedTuple):
  """The weight constant + sum of a * params[c] over the terms (c, a)."""

  constant: float
  terms: list[tuple[int, float]]

  def __repr__(self) -> str:
    """Formats the weight as a sum, for messages."""
    listed = [f"{a!r} params[{c}]" for c, a in self.terms]
    if self.constant != 0.0 or not listed:
      listed.insert(0, repr(self.constant))
    return " + ".join(listed)


class WeightReader:
  """Reads the weights that users pass, once the parameters are known.

  A number is a constant, a sequence of d numbers are coefficients, and a
  mapping {name: coefficient, 1: constant} may mix.
  """

  def __init__(self, params: Integer | Sequence[str]):
    """Makes a reader for given parameters.

    Args:
      params: the number of parameters d, or their names.

    Raises:
      TypeError: `params` is something else.
      ValueError: it is negative, or a name stands there twice or is empty.
    """
    self.num_params, self.names = read_params(params)
    names = self.names or ()
    self._columns: dict[object, int] = {name: c for c, name in enumerate(names)}

  def read(self, weight: object) -> Weight | None:
    """Converts a weight to a `Weight`, or to None if it is always zero.

    Raises:
      TypeError: it is not a weight.
      ValueError: a number in it breaks a rule.
    """
    # The usual types are tested first, for speed.
    kind = type(weight)
    if isinstance(weight, dict) and len(weight) == 1:
      ((name, value),) = weight.items()
      column = self._columns.get(name)
      usual = type(value) is float or type(value) is int
      if column is not None and usual and 0 < value < _LARGE:
        return Weight(0.0, [(column, float(value))])
    if kind is float or kind is int:
      converted = Weight(_number(weight), [])
    elif isinstance(weight, (dict, Mapping)):
      converted = self._read_mapping(weight)
    elif isinstance(weight, Weight):
      converted = weight
    elif isinstance(weight, (str, bytes)):
      raise TypeError("the weight is a string: it must be a number")
    elif isinstance(weight, (list, tuple)) or _is_vector(weight):
      converted = self._read_sequence(weight)
    else:
      converted = Weight(_number(weight), [])
    constant, terms = converted
    if constant > 0.0:
      return converted
    for _, value in terms:
      if value > 0.0:
        return converted
    if constant < 0.0 or terms:
      raise ValueError(
        "the weight is negative: its constant or at least one of its "
        "coefficients must be > 0"
      )
    return None

  def _read_mapping(self, weight: Mapping[object, object]) -> Weight:
    constant, terms = 0.0, []
    columns = self._columns
    for name, value in weight.items():
      column = columns.get(name)
      number = _number(value)
      if column is not None:
        if number != 0.0:
          terms.append((column, number))
      elif name == CONSTANT:
        constant = number
      elif self.names is None:
        raise ValueError(
          f"the weight refers to {name!r}, but params is the number "
          f"{self.num_params}: give the names of the parameters as params"
        )
      else:
        raise ValueError(
          f"the weight refers to {name!r}: the parameters are {self.names}, and 1 "
          "stands for the constant"
        )
    return Weight(constant, terms)

  def _read_sequence(self, weight: Sequence[object]) -> Weight:
    if len(weight) != self.num_params:
      raise ValueError(
        f"the weight has {len(weight)} coefficients: it must have "
        f"{self.num_params}, one for each parameter"
      )
    return split(0.0, weight)


def split(constant: object, coefficients: Sequence[object]) -> Weight:
  """Returns the weight with the given constant and coefficients."""
  numbers = [_number(value) for value in coefficients]
  terms = [(c, value) for c, value in enumerate(numbers) if value != 0.0]
  return Weight(_number(constant), terms)


def read_params(
  params: Integer | Sequence[str],
) -> tuple[int, tuple[str, ...] | None]:
  """Returns the number of parameters, and their names or None.

  Raises:
    TypeError: `params` is neither an integer nor a sequence of strings.
    ValueError: it is negative, or a name stands there twice or is empty.
  """
  rule = "params must be an integer >= 0 or a tuple of names"
  if isinstance(params, (int, onp.integer)) and not isinstance(params, bool):
    if not 0 <= params < 2**31:
      raise ValueError(f"params is {shown(params)}: {rule}, below 2**31")
    return int(params), None
  if not isinstance(params, (list, tuple)):
    raise TypeError(f"params is {raw_arguments.shown(params)}: {rule}")
  seen: set[str] = set()
  for name in params:
    if not isinstance(name, str):
      raise TypeError(f"params has {raw_arguments.shown(name)} in it: {rule}")
    if not name:
      raise ValueError(
        "params has an empty name in it: names must not be empty strings"
      )
    if name in seen:
      raise ValueError(
        f"params has {raw_arguments.shown(name)} in it twice: each name must "
        "be given once"
      )
    seen.add(name)
  return len(params), tuple(params)


def _is_vector(weight: object) -> TypeGuard[Sequence[object]]:
  """Returns whether a weight is an array with one dimension."""
  return hasattr(weight, "dtype") and static.rank(weight) == 1


def _number(value: object) -> float:
  """Converts a value to a float; raises unless it is a finite number."""
  if type(value) is not float:
    if isinstance(value, (bool, onp.bool_, str, bytes)):
      raise TypeError(f"{raw_arguments.shown(value)} is not a number")
    try:
      value = float(value)  # type: ignore[arg-type]
    except OverflowError:
      value = math.inf
    # All exceptions are caught: arrays and tracers raise their own exception
    # types.
    except Exception:
      raise TypeError(
        f"{shown(value)} is not a number; pass weights that are computed from traced arrays "
        "as edge_values="
      ) from None
  if not -math.inf < value < math.inf:
    raise ValueError(
      f"{raw_arguments.shown(value)} is not finite: weights must be finite"
    )
  return value
