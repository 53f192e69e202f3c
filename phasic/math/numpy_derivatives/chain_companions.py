"""Values with derivatives of functions by elimination, in every substrate.

NumPy has no autodiff: here rules of `chain_derivatives` are laid out for the
arguments that `chain_calls.value` takes.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from phasic.internal import static
from phasic.internal import structures
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_arguments
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_solves
from phasic.math.model import edge_rates
from phasic.math.model import operands as operands_lib
from phasic.math.numeric import scaled_sums


class Rule(NamedTuple):
  """A function: its rule in `chain_calls` and those of its derivatives.

  Attributes:
    value: its rule.
    push: that of its tangents.
    pull: that of its cotangents.
    natural: whether the latter two take the model's own unit of time.
  """

  value: Any
  push: Any
  pull: Any
  natural: bool = False


def jvp(rule, option, values, names, tangents, event_ranks=()):
  """Returns the value and its derivative along tangents of the arguments.

  Args:
    rule: a `Rule`.
    option: what it takes besides arrays.
    values: as in `chain_calls.value`.
    names: as in `chain_calls.value`.
    tangents: one for each of the values, None for zeros.
    event_ranks: as in `chain_calls.value`.

  Raises:
    ValueError: a tangent does not fit.
  """
  if len(tangents) != len(values):
    raise ValueError(
      f"tangents has {len(tangents)} entries: it must have one for each of "
      f"{names}"
    )
  value = chain_calls.value(rule.value, option, values, names, event_ranks)
  arrays = operands_lib.convert(*values, names=names)
  filled = [
    evaluation.tangent(name, x, v)
    for name, x, v in zip(names, arrays, tangents, strict=True)
  ]
  if operands_lib.is_edges(arrays[1]):
    # Weights may have constants, but their tangents do not.
    filled[1] = arrays[1]._replace(parameters=filled[1], constants=None)
  model, others, batch, dtype = chain_arguments.convert(
    *values, names=names, event_ranks=event_ranks
  )
  moved, of_others, _, _ = chain_arguments.convert(
    *filled, names=names, event_ranks=event_ranks
  )
  system = _system(rule, model, names, dtype)
  wide = system.initial.dtype
  moves = [
    *_push_model(system, moved),
    *(structures.cast(x, wide) for x in of_others),
  ]
  others = [structures.cast(x, wide) for x in others]
  found = _checked(system, rule.push(option, system, others, moves))
  event = static.shape(found)[len(batch) :]
  found = np.broadcast_to(found, (*batch, *event))
  return value, structures.cast(found, dtype)


def vjp(rule, option, values, names, cotangent, wanted=None, event_ranks=()):
  """Returns the value and the cotangents of the arguments, None for None.

  Args:
    rule: a `Rule`.
    option: what it takes besides arrays.
    values: as in `chain_calls.value`.
    names: as in `chain_calls.value`.
    cotangent: of the value, broadcasts to its shape.
    wanted: names of arguments whose cotangents are wanted; None for all.
    event_ranks: as in `chain_calls.value`.

  Raises:
    ValueError: the cotangent does not fit, or `wanted` has another name.
  """
  wanted = evaluation.checked_names(wanted, names)
  value = chain_calls.value(rule.value, option, values, names, event_ranks)
  arrays = operands_lib.convert(*values, names=names)
  model, others, batch, dtype = chain_arguments.convert(
    *values, names=names, event_ranks=event_ranks
  )
  bar = structures.as_array(cotangent, dtype, "cotangent")
  bar = operands_lib.broadcast("cotangent", bar, static.shape(value))
  system = _system(rule, model, names, dtype)
  wide = system.initial.dtype
  others = [structures.cast(x, wide) for x in others]
  found = rule.pull(option, system, others, structures.cast(bar, wide))
  found = [_checked(system, x) for x in found]
  bars = _pull_model(system, model, *found[:3])
  bars = [*bars[:2], *found[3:], *bars[2:]]
  laid_out = [*model[:2], *others, *model[2:4]]
  result: list[Any] = []
  for name, x, padded, array in zip(names, bars, laid_out, arrays, strict=True):
    if array is None or name not in wanted:
      result.append(None)
      continue
    own = array.parameters if operands_lib.is_edges(array) else array
    x = _summed(x, padded, batch)
    result.append(structures.cast(np.reshape(x, static.shape(own)), dtype))
  return value, tuple(result)


def _system(rule, model, names, dtype):
  """Returns the system of a model in the unit of time of the rule."""
  system = chain_solves.derive(model, names[1] == "subtransition", dtype)
  return chain_solves.natural(system) if rule.natural else system


def _push_model(system, moved):
  """Returns tangents of alpha, of scaled weights and of the mass at zero.

  Args:
    system: the system.
    moved: tangents as `chain_arguments.Arguments`.
  """
  *arrays, edges = moved
  wide = system.initial.dtype
  initial, rates, exits, atom = (structures.cast(x, wide) for x in arrays)
  if edges is not None:
    coefficients = edges[3]
    if coefficients is not None:
      coefficients = structures.cast(coefficients, wide)
    weights = edge_rates.values(rates, None, coefficients)
  else:
    p = static.shape(rates)[-1]
    if static.shape(exits)[-1] == 0:
      exits = -np.sum(rates, axis=-1)
    off = np.where(np.eye(p) > 0, 0.0, rates)
    batch = static.broadcast_shapes(
      static.shape(off)[:-2], static.shape(exits)[:-1]
    )
    off = np.broadcast_to(off, (*batch, p, p))
    weights = np.concatenate(
      [
        np.reshape(off, (*batch, p * p)),
        np.broadcast_to(exits, (*batch, p)),
      ],
      axis=-1,
    )
  weights = scaled_sums.times_power(weights, -system.exponent[..., None])
  none = static.shape(atom)[-1] == 0
  return [initial, weights, -np.sum(initial, axis=-1) if none else atom[..., 0]]


def _pull_model(system, model, of_initial, of_weights, of_atom):
  """Returns cotangents of the first four of `chain_arguments.Arguments`."""
  weights = scaled_sums.times_power(of_weights, -system.exponent[..., None])
  if static.shape(model.atom)[-1] == 0:
    of_initial = of_initial - of_atom[..., None]
  if model.edges is not None:
    coefficients = model.edges[3]
    if coefficients is not None:
      coefficients = structures.cast(coefficients, weights.dtype)
      weights = np.matmul(weights[..., None, :], coefficients)[..., 0, :]
    return [of_initial, weights, None, of_atom[..., None]]
  p = static.shape(of_initial)[-1]
  exits = weights[..., p * p :]
  batch = static.shape(weights)[:-1]
  rates = np.reshape(weights[..., : p * p], (*batch, p, p))
  rates = np.where(np.eye(p) > 0, 0.0, rates)
  if static.shape(model.exits)[-1] == 0:
    rates = rates - exits[..., None]
  return [of_initial, rates, exits, of_atom[..., None]]


def _checked(system, x):
  """Returns x, (..., event), made NaN where the system is bad."""
  bad = np.where(system.bad, math.nan, 0.0)
  extra = static.rank(x) - static.rank(bad)
  return x + np.reshape(bad, (*static.shape(bad), *(1,) * extra))


def _summed(x, like, batch):
  """Returns x summed over the batch dimensions that `like` has not."""
  event = static.shape(x)[len(batch) :]
  x = np.broadcast_to(x, (*batch, *event))
  own = static.shape(like)[: len(batch)]
  axes = tuple(
    i
    for i, (a, b) in enumerate(zip(batch, own, strict=True))
    if isinstance(b, int) and b == 1 and not (isinstance(a, int) and a == 1)
  )
  return np.sum(x, axis=axes) if axes else x
