"""Properties of a distribution's parameters, and checks of known values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
from typing import Any, TypeAlias

import numpy as onp

from phasic.distributions.base import bijectors
from phasic.distributions.base import constraints
from phasic.distributions.base import structure
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, Tree
from phasic.math.model import edge_probs
from phasic.math.model import plausible
from phasic.math.model import single_rounding
from phasic.math.model import sparse_matrices

# A constructor's argument: an array, edges, a distribution, a number or an
# option, depending on its name.
ParameterValue: TypeAlias = Tree


@dataclasses.dataclass(frozen=True, init=False)
class ParameterProperties:
  """Properties of one array-valued parameter.

  Attributes:
    event_ndims: number of trailing dimensions of one parameter value; the
      dimensions before are batch dimensions.
    constraint: the set of its values, an object that equals its name; a name is
      taken for it: "subprobabilities" (masses >= 0 with a sum <= 1),
      "probabilities" (their sum is 1), "subgenerator" (off-diagonals >= 0, row
      sums <= 0), "subtransition" (entries >= 0, row sums <= 1), "nonnegative",
      "positive", "probability" (in [0, 1]), "positive probability" (in (0, 1]),
      "increasing" (positive, none below the one before), "strictly increasing"
      (each above the one before) or "parameters" (those for which a graph's
      weights are >= 0).
    optional: whether None is allowed.
    fitted: whether fits change it; False for known values, such as bounds.
    jumps: whether the density jumps at its values, so that no fit to exact times
      may change it: the likelihood jumps where such a value passes a time.

  Raises:
    ValueError: there is no constraint of that name.

  Example: the constraint of a rate, and the dimensions of initial probabilities.

    >>> from phasic.distributions import Erlang, PhaseType
    >>> Erlang.parameter_properties()["rate"].constraint == "positive"
    True
    >>> PhaseType.parameter_properties()["initial_probs"].event_ndims
    1
  """

  event_ndims: int
  constraint: constraints.Constraint
  optional: bool
  fitted: bool
  jumps: bool

  def __init__(
    self,
    event_ndims: int,
    constraint: str | constraints.Constraint,
    optional: bool = False,
    fitted: bool = True,
    jumps: bool = False,
  ):
    """Stores the properties; a constraint may be given by its name."""
    raw_arguments.check_flags(optional=optional, fitted=fitted, jumps=jumps)
    event_ndims = raw_arguments.integer("event_ndims", event_ndims)
    if not 0 <= event_ndims <= raw_arguments.MAX_DIMENSIONS:
      raise ValueError(
        f"event_ndims is {raw_arguments.shown(event_ndims)}: it must be from 0 to "
        f"{raw_arguments.MAX_DIMENSIONS}"
      )
    if not isinstance(constraint, constraints.Constraint):
      constraint = constraints.named(constraint)
    given = (event_ndims, constraint, optional, fitted, jumps)
    for field, value in zip(dataclasses.fields(self), given, strict=True):
      object.__setattr__(self, field.name, value)

  def default_constraining_bijector(self) -> bijectors.Bijector:
    """Returns a bijector from real numbers onto the constraint's interior.

    Parameters of a graph are taken to be positive.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> properties = PhaseType.parameter_properties()
      >>> properties["subgenerator"].default_constraining_bijector()
      Subgenerator(event_ndims=2)
    """
    return self.constraint.bijector(self.event_ndims)


Properties = Mapping[str, ParameterProperties]


def split_shape(
  prop: ParameterProperties, value: object
) -> tuple[static.Shape, static.Shape]:
  """Splits the shape of a parameter's value into batch and event shape.

  Args:
    prop: the parameter's properties.
    value: an array, or edges in the place of a matrix, whose events are vectors.
  """
  rank = prop.event_ndims
  if isinstance(value, structure.EDGES):
    value, rank = value.parameters, 1
  whole = static.shape(value)
  cut = len(whole) - rank
  return tuple(whole[:cut]), tuple(whole[cut:])


def without_sparse_matrices(
  parameters: Mapping[str, object], properties: Properties
) -> Mapping[str, object]:
  """Replaces sparse matrices among the parameters by edges.

  Args:
    parameters: the parameters by name.
    properties: of those that are arrays.
  """
  for name, prop in properties.items():
    family, exits = prop.constraint.edges, prop.constraint.exits
    if family is not None:
      matrix, left = sparse_matrices.as_edges(
        name,
        parameters[name],
        parameters[exits],
        family is edge_probs.EdgeProbs,
      )
      parameters = {**parameters, name: matrix, exits: left}
  return parameters


def batch_shapes(
  properties: Properties, parameters: Mapping[str, object]
) -> list[static.Shape]:
  """Returns the batch shapes of the parameters that are not None."""
  return [
    split_shape(prop, parameters[name])[0]
    for name, prop in properties.items()
    if parameters[name] is not None
  ]


def batch_shape(
  properties: Properties,
  parameters: Mapping[str, object],
  wrapped: static.Shape | None = None,
) -> static.Shape:
  """Returns the batch shape that all parameters broadcast to.

  Args:
    properties: of the array parameters.
    parameters: all parameters.
    wrapped: the batch shape of the distribution among them, if there is one.

  Raises:
    ValueError: they do not broadcast; the message names them.
  """
  shapes = batch_shapes(properties, parameters)
  names = [name for name in properties if parameters[name] is not None]
  if wrapped is not None:
    shapes, names = [*shapes, wrapped], [*names, "distribution"]
  try:
    return static.broadcast_shapes(*shapes)
  except ValueError:
    pairs = zip(names, shapes, strict=True)
    listed = ", ".join(f"{name} {tuple(shape)}" for name, shape in pairs)
    raise ValueError(f"batch shapes do not broadcast: {listed}") from None


def check_parameters(
  arrays: Mapping[str, Array | None],
  properties: Properties,
) -> dict[str, Array | None]:
  """Checks parameters, and returns them by name; None stays None."""
  return {
    name: x if x is None else properties[name].constraint.check(name, x)
    for name, x in arrays.items()
  }


def look_at(distribution: Any) -> None:
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
  texts = _mend(distribution, known)
  if (broken := broken_rule(distribution)) is not None:
    texts.append(broken)
  if texts:
    # In TensorFlow distributions are modules, whose ordinary assignment would
    # track the attribute.
    object.__setattr__(distribution, "_is_warned_of", True)
    user_warnings.warn(f"{type(distribution).__name__}: {'; '.join(texts)}")


def broken_rule(distribution: Any) -> str | None:
  """Returns the message of the first rule that concrete parameters break."""
  known = _at_hand(distribution)
  if known is None or distribution._is_plausible(known):
    return None
  try:
    distribution.copy(**known, validate_args=True)
  except ValueError as error:
    return str(error)
  return None


def are_plausible(
  known: Mapping[str, ParameterValue],
  properties: Properties,
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


def _at_hand(distribution: Any) -> dict[str, ParameterValue] | None:
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


def _mend(distribution: Any, known: dict[str, ParameterValue]) -> list[str]:
  """Corrects sums that are off by rounding, and returns warning messages."""
  texts = []
  parameters: dict[str, ParameterValue] = distribution._parameters
  for name, prop in distribution.parameter_properties().items():
    x = known[name]
    is_array = x is not None and not isinstance(x, (Mapping, *structure.EDGES))
    if not is_array or prop.constraint.is_of_graph:
      continue
    # The parameter that is summed together with this one: the exits of a
    # matrix, or the mass at zero of initial masses.
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
