"""Checks of parameter values when a distribution is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

import numpy as onp

from phasic.distributions.base import constraints
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.math.model import plausible
from phasic.math.model import single_rounding


class Checked(Protocol):
  """A distribution whose parameters are checked."""

  validate_args: bool
  _is_warned_of: ClassVar[bool]
  _parameters: dict[str, ParameterValue]

  def _is_plausible(self, known: Mapping[str, ParameterValue]) -> bool:
    """Returns whether known values of the parameters appear to be valid."""
    ...

  def _is_surely_valid(self) -> bool:
    """Returns whether the parameters are known to be valid already."""
    ...

  def parameter_properties(self) -> parameter_properties.Properties:
    """Returns the properties of the array parameters, by name."""
    ...

  def copy(self, **overrides: object) -> object:
    """Returns a distribution with other values of parameters."""


def look_at(distribution: Checked) -> None:
  """Warns of invalid parameters, and corrects sums that are off by rounding.

  Nothing happens where values cannot be read at once, see `plausible`.

  Args:
    distribution: one that was made without `validate_args`.
  """
  if user_warnings.is_derived() or distribution._is_surely_valid():
    return
  known = _at_hand(distribution)
  if known is None or distribution._is_plausible(known):
    return
  texts = [*_mend(distribution, known), *broken_rules(distribution)]
  if texts:
    # In TensorFlow distributions are modules, whose attributes are tracked.
    object.__setattr__(distribution, "_is_warned_of", True)
    user_warnings.warn(f"{type(distribution).__name__}: {'; '.join(texts)}")


def broken_rules(distribution: Checked) -> list[str]:
  """Returns the message of the first rule that known parameters break."""
  known = _at_hand(distribution)
  if known is None or distribution._is_plausible(known):
    return []
  try:
    distribution.copy(**known, validate_args=True)
  except ValueError as error:
    return [str(error)]
  return []


def are_plausible(
  known: Mapping[str, ParameterValue],
  properties: parameter_properties.Properties,
) -> bool:
  """Returns whether parameters appear to meet their constraints.

  Args:
    known: their values on the host, None among them.
    properties: of the parameters.
  """
  return all(
    known[name] is None
    or prop.constraint.is_of_graph
    or _is_plausible(known, name, prop.constraint)
    for name, prop in properties.items()
  )


def _is_plausible(
  known: Mapping[str, ParameterValue],
  name: str,
  constraint: constraints.Constraint,
) -> bool:
  """Returns whether one parameter appears to meet its constraint."""
  x, atom = known[name], known.get("prob_zero")
  if isinstance(x, structure.EDGES):
    return plausible.are_edges(x, constraint == "subtransition")
  exits = known.get(constraint.exits)
  return plausible.is_parameter(x, constraint.name, exits, atom) and (
    not constraint.beside or atom is None or plausible.sum_to_one(x, atom)
  )


def _at_hand(distribution: Checked) -> dict[str, ParameterValue] | None:
  """Returns the parameters on the host; None if traced or on a device."""
  parameters = distribution._parameters
  names = distribution.parameter_properties()
  given = {name: parameters[name] for name in names}
  leaves = structure.leaves(given)
  known = plausible.values_at_hand(list(leaves.values()))
  if known is None:
    return None
  if leaves.keys() == given.keys():
    return dict(zip(names, known, strict=True))
  values = iter(known)
  return {name: _like(x, values) for name, x in given.items()}


def _like(given: object, values: Iterator[onp.ndarray | None]) -> object:
  """Returns `given`, nested mappings and edges, with `values` as its arrays."""
  if isinstance(given, Mapping):
    return {name: _like(x, values) for name, x in given.items()}
  if isinstance(given, structure.EDGES):
    return structure.mapped(lambda *_: next(values), "", given)
  return next(values)


def _mend(distribution: Checked, known: dict[str, ParameterValue]) -> list[str]:
  """Corrects sums that are off by rounding, and returns warning messages."""
  texts = []
  parameters: dict[str, ParameterValue] = distribution._parameters
  for name, prop in distribution.parameter_properties().items():
    x = known[name]
    if x is None or isinstance(x, (Mapping, *structure.EDGES)):
      continue
    if prop.constraint.is_of_graph:
      continue
    # Exits beside a matrix, or the mass at zero beside initial masses.
    other = prop.constraint.exits or prop.constraint.beside
    mended, divisors, text = single_rounding.mended(
      name,
      parameters[name],
      x,
      prop.constraint.name,
      known.get(prop.constraint.exits),
      known.get(prop.constraint.beside),
    )
    if text and not any(
      structures.is_variable(parameters.get(key)) for key in (name, other)
    ):
      texts.append(text)
      parameters[name] = structures.as_array(mended, None, name, copy=True)
      if divisors is not None and known.get(other) is not None:
        parameters[other] = structures.as_array(
          parameters[other] / divisors, None, other, copy=True
        )
  return texts
