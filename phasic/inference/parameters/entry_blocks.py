"""A distribution's parameters as entries that are not derived from others.

Exits are told and not derived, so is a mass at zero: nothing is subtracted.
Increasing rates are told by their differences.
"""

from collections.abc import Mapping
import math
from typing import Any, NamedTuple

import numpy as np
import numpy as onp

from phasic.distributions.families import sparse_phase_type
from phasic.distributions.wrapped import residual_life
from phasic.distributions.wrapped import truncated_phase_type
from phasic.inference.parameters import nested_arrays
from phasic.inference.parameters.host_values import host_values
from phasic.internal import static
from phasic.internal import user_warnings

# Laws whose own parameters are known, not fitted: bounds, and a time that has
# passed.
_OF_KNOWN = (
  truncated_phase_type.TruncatedPhaseType,
  residual_life.ResidualLife,
)


class Kind(NamedTuple):
  """What an entry may be.

  Attributes:
    group: of which sum it is part; None for positive numbers.
    may_be_zero: whether that is in the domain.
    is_entry: False for what is not a number of its own, as a diagonal, or
      changes nothing, as a rate from a phase to itself.
    is_fitted: False for what is known, as the bounds of a truncation.
  """

  group: Any = None
  may_be_zero: bool = True
  is_entry: bool = True
  is_fitted: bool = True


class Block(NamedTuple):
  """The entries of one parameter.

  Attributes:
    sizes: the shape of the parameter.
    values: of the entries, flat.
    names: of the entries.
    kinds: of the entries.
    slack: of the sums that begin here, whether there may be less.
  """

  sizes: tuple[int, ...]
  values: onp.ndarray
  names: list[str]
  kinds: list[Kind]
  slack: dict[Any, bool]


def of(distribution: Any) -> tuple[Any, dict[str, Block]]:
  """Returns the distribution with nothing derived, and its parameters' blocks.

  Raises:
    NotImplementedError: a parameter is no array, as those of `Epochs`.
    TypeError: parameters are traced.
    ValueError: a value breaks a rule.
  """
  distribution = _explicit(distribution)
  blocks: dict[str, Block] = {}
  for path, owner in nested_arrays.owners(distribution):
    properties = owner.parameter_properties()
    arrays = owner._arrays()
    for name, prop in properties.items():
      if name not in arrays:
        raise NotImplementedError(
          f"there is no fit of {type(owner).__name__}, whose {name} are several "
          "arrays: climb inference.log_likelihood with an optimiser of your own"
        )
      if arrays[name] is not None:
        values = host_values(f"{path}{name}", arrays[name])
        blocks[f"{path}{name}"] = _block(path, name, prop, values, owner)
  return distribution, blocks


def rebuilt(distribution: Any, arrays: Mapping[str, Any]) -> Any:
  """Returns a distribution with parameters made of blocks' arrays."""
  changed = dict(arrays)
  mappings = names_of_mappings(distribution)
  for path, owner in nested_arrays.owners(distribution):
    for name, prop in owner.parameter_properties().items():
      whole = f"{path}{name}"
      if whole not in arrays:
        continue
      x = arrays[whole]
      if prop.constraint == "increasing":
        changed[whole] = np.cumsum(x, axis=-1)
      elif prop.constraint == "subgenerator":
        # The diagonal is not read where exits are given; it is told for
        # readers.
        total = np.sum(x, axis=-1) + arrays[f"{path}exit_rates"]
        eye = np.eye(static.shape(x)[-1], dtype=static.dtype_name(x))
        changed[whole] = np.where(eye > 0, 0.0 - total[..., None], x)
      elif whole in mappings:
        changed[whole] = {
          own: x[..., i] for i, own in enumerate(mappings[whole])
        }
  return nested_arrays.with_arrays(distribution, changed, validate_args=False)


def names_of_mappings(distribution: Any) -> dict[str, tuple[str, ...]]:
  """Returns the names in parameters that are mappings, by their paths."""
  return {
    f"{path}{name}": owner.graph.parameter_names
    for path, owner in nested_arrays.owners(distribution)
    for name in owner.parameter_properties()
    if isinstance(owner.parameters[name], Mapping)
  }


def increasing(distribution: Any) -> tuple[str, ...]:
  """Returns the paths of parameters that are told by their differences."""
  return tuple(
    f"{path}{name}"
    for path, owner in nested_arrays.owners(distribution)
    for name, prop in owner.parameter_properties().items()
    if prop.constraint == "increasing"
  )


def _explicit(distribution: Any) -> Any:
  """Returns the same distribution with exits and masses at zero given."""
  changed: dict[str, Any] = {}
  if "distribution" in distribution.parameters:
    changed["distribution"] = _explicit(distribution.distribution)
  properties = distribution.parameter_properties()
  arrays = distribution._arrays()
  dtype = distribution.dtype
  for matrix, exits, one in (
    ("subgenerator", "exit_rates", 0.0),
    ("subtransition", "exit_probs", 1.0),
  ):
    if matrix in properties and exits in properties and arrays[exits] is None:
      values = host_values(matrix, arrays[matrix])
      rest = _rest(matrix, values, one, static.finfo_eps(dtype))
      changed[exits] = onp.asarray(rest, dtype)
  names = ("initial_probs", "prob_zero")
  if all(name in properties for name in names) and arrays["prob_zero"] is None:
    alpha = host_values("initial_probs", arrays["initial_probs"])
    rest = _rest("initial_probs", alpha, 1.0, static.finfo_eps(dtype))
    if rest > 0:
      changed["prob_zero"] = onp.asarray(rest, dtype)
  with user_warnings.derived():
    return distribution.copy(**changed) if changed else distribution


def _rest(name: str, values: onp.ndarray, one: float, eps: float) -> Any:
  """Returns what rows lack of a total; nothing within rounding."""
  rows = onp.reshape(values, (-1, onp.shape(values)[-1]))
  found = onp.zeros(len(rows))
  for i, row in enumerate(rows):
    rest = math.fsum([one, *(-x for x in row)])
    bound = 4 * len(row) * eps * max(one, float(onp.max(onp.abs(row))))
    if not rest >= -bound:
      raise ValueError(
        f"row {i} of {name} sums to {one - rest:g}: it must be <= {one:g}"
      )
    found[i] = rest if rest > bound else 0.0
  return onp.reshape(found, onp.shape(values)[:-1])


def _block(
  path: str, name: str, prop: Any, values: onp.ndarray, owner: Any
) -> Block:
  """Returns the entries of one parameter."""
  whole = f"{path}{name}"
  shape = onp.shape(values)
  labels = _labels(whole, shape)
  if name == "params" and owner.graph.parameter_names:
    labels = [f"{whole}[{own}]" for own in owner.graph.parameter_names]
  size = len(labels)
  constraint = prop.constraint
  slack: dict[Any, bool] = {}
  if constraint == "increasing":
    values = onp.diff(values, axis=-1, prepend=0.0)
    first = onp.arange(shape[-1]) == 0
    kinds = [Kind(may_be_zero=not x) for x in first]
    labels = [
      x if i == 0 else f"{x} - {labels[i - 1]}" for i, x in enumerate(labels)
    ]
  elif constraint == "subgenerator":
    eye = onp.ravel(onp.eye(shape[-1], dtype=bool))
    kinds = [Kind(is_entry=not x) for x in eye]
    values = onp.where(onp.eye(shape[-1], dtype=bool), 0.0, values)
  elif constraint in ("subprobabilities", "probabilities"):
    group = f"{path}start" if name == "initial_probs" else whole
    told = owner._arrays().get("prob_zero") is not None
    total = math.fsum(onp.ravel(values))
    near = abs(total - 1.0) <= 4 * size * static.finfo_eps(owner.dtype)
    slack = {group: not (constraint == "probabilities" or told or near)}
    kinds = [Kind(group)] * size
  elif constraint == "subtransition":
    rows = onp.repeat(onp.arange(shape[-2]), shape[-1])
    kinds = [Kind(f"{path}step {i}") for i in rows]
    slack = {kind.group: False for kind in kinds}
  elif name == "exit_probs":
    kinds = [Kind(f"{path}step {i}") for i in range(size)]
  elif name == "prob_zero" and "initial_probs" in owner.parameter_properties():
    kinds = [Kind(f"{path}start")]
  elif constraint in ("probability", "positive probability"):
    may = constraint == "probability"
    kinds = [Kind(label, may_be_zero=may) for label in labels]
    slack = dict.fromkeys(labels, True)
  elif constraint in ("positive", "nonnegative", "parameters"):
    kinds = [Kind(may_be_zero=constraint != "positive")] * size
  else:
    raise NotImplementedError(f"there is no fit of {whole}: it is {constraint}")
  if isinstance(owner, _OF_KNOWN):
    # The likelihood would have bounds at the ends of the data.
    kinds = [kind._replace(is_fitted=False) for kind in kinds]
  if isinstance(owner, sparse_phase_type.SparsePhaseType) and name == "rates":
    kinds = [
      kind._replace(is_entry=bool(source != target))
      for kind, source, target in zip(
        kinds, owner.sources, owner.targets, strict=True
      )
    ]
  is_steps = isinstance(owner, sparse_phase_type.SparseDiscretePhaseType)
  if is_steps and name == "probs":
    kinds, slack = _of_steps(path, values, owner)
  flat = onp.ravel(values)
  for label, x, kind in zip(labels, flat, kinds, strict=True):
    counts = kind.is_entry and kind.is_fitted
    if counts and not 0.0 <= x < math.inf:
      raise ValueError(
        f"{label} is {x:g}: a fit starts from a number that is >= 0 and finite"
      )
  return Block(shape, flat, labels, kinds, slack)


def _of_steps(
  path: str, values: onp.ndarray, owner: Any
) -> tuple[list[Kind], dict[Any, bool]]:
  """Returns what edges' probabilities are: sums by the phases that they leave.

  They sum to one, or to less where no edge is from the phase to itself.
  """
  sources, targets = onp.asarray(owner.sources), onp.asarray(owner.targets)
  groups = [f"{path}step {source}" for source in sources]
  slack: dict[Any, bool] = {}
  for source, group in zip(sources, groups, strict=True):
    rows = sources == source
    rest = 1.0 - math.fsum(values[rows])
    near = abs(rest) <= 4 * int(sum(rows)) * static.finfo_eps(owner.dtype)
    slack[group] = not (near or onp.any(targets[rows] == source))
  return [Kind(group) for group in groups], slack


def _labels(whole: str, shape: tuple[int, ...]) -> list[str]:
  """Returns names of entries, such as rates[1] and subgenerator[0, 2]."""
  if not shape:
    return [whole]
  return [
    f"{whole}[{', '.join(map(str, place))}]" for place in onp.ndindex(*shape)
  ]
