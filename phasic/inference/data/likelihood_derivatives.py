"""Derivatives of log likelihoods with respect to parameter entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import numpy as onp

from phasic.distributions.base.distribution import Distribution
from phasic.inference.data import observations as observations_lib
from phasic.inference.parameters import coordinates as coordinates_lib
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.parameters import parameter_sets
from phasic.inference.parameters import unconstrained_map
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, Tree
from phasic.math.calls import gradients

MODE = "numpy"
Coordinates = coordinates_lib.Coordinates
Form = (
  coordinates_lib.Coordinates
  | numbers_lib.Numbers
  | parameter_sets.ParameterSet
)
Observations = observations_lib.Observations
_T = TypeVar("_T")


def log_likelihood(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> float:
  """Computes the log likelihood for given entries of the parameters."""
  return float(host(_VALUE(*_arguments(where, entries, observations))))


def value_and_gradient(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> tuple[float, onp.ndarray]:
  """Computes the log likelihood and its gradient in k entries."""
  value, gradient = _VALUE_AND_GRADIENT(
    *_arguments(where, entries, observations)
  )
  return float(host(value)), host(gradient)[where.indices]


def scores(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Computes the scores: the gradient of each observation's log likelihood.

  Returns:
    (n, k), for n observations and k entries.
  """
  arguments = _arguments(where, entries, observations)
  columns = [
    host(_SLOPE_OF_TERMS(*arguments, _unit(where, int(i))))
    for i in where.indices
  ]
  return stacked(columns, onp.shape(observations.lower))


def hessian(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> onp.ndarray:
  """Computes the Hessian of the log likelihood in k entries."""
  arguments = _arguments(where, entries, observations)
  return symmetric(
    where,
    lambda i: _SLOPE_OF_GRADIENT(*arguments, _unit(where, i)),
  )


def symmetric(
  where: unconstrained_map.UnconstrainedMap, row: Callable[[int], ArrayLike]
) -> onp.ndarray:
  """Computes a symmetrized Hessian in the selected entries.

  Args:
    where: the map whose `indices` select the entries.
    row: takes the index of an entry, returns its row of the Hessian in all
      entries.
  """
  rows = [host(row(int(i)))[where.indices] for i in where.indices]
  hessian = onp.reshape(rows, (len(rows), len(rows)))
  return (hessian + onp.transpose(hessian)) / 2


def jacobian(
  where: Form,
  entries: onp.ndarray,
  f: Callable[..., ArrayLike] | str,
  args: tuple[object, ...],
) -> onp.ndarray:
  """Computes the Jacobian of f(value, *args) in k entries.

  The value is the distribution, or the parameters of a model.

  Args:
    where: the entries.
    entries: their values.
    f: takes the value, or is the name of one of its methods.
    args: the further arguments of `f`.

  Returns:
    (..., k), where (...) is the shape of the value of `f`.
  """

  def function_at(x: Array) -> Tree:
    return called(f, where.root.value_at(x), args)

  at = where.array(where.embedded(entries))
  value, pullback = gradients.vjp(function_at, at)
  if static.rank(value) == 0:
    return host(pullback(np.ones_like(value))[0])[where.indices]
  columns = [
    host(gradients.jvp(function_at, (at,), (_unit(where, int(i)),))[1])
    for i in where.indices
  ]
  return stacked(columns, static.shape(value))


def called(
  f: Callable[..., ArrayLike] | str, value: object, args: tuple[object, ...]
) -> Tree:
  """Calls a function of a value, or the value's method of that name."""
  if isinstance(f, str):
    return getattr(value, f)(*args)
  return f(value, *args)


def value_and_slopes(
  where: Form,
  entries: onp.ndarray,
  f: Callable[..., ArrayLike] | str,
  args: tuple[object, ...],
  place: tuple[int, ...],
) -> tuple[float, onp.ndarray]:
  """Computes one number of f(value, *args), and its gradient in k entries.

  Arguments are as for `jacobian`; `place` is where the number is.
  """

  def number_at(x: Array) -> Tree:
    result = called(f, where.root.value_at(x), args)
    return result[place] if place else result

  value, slopes = gradients.value_and_gradient(
    number_at, where.array(where.embedded(entries))
  )
  return float(host(value)), host(slopes)[where.indices]


def stacked(columns: list[onp.ndarray], shape: static.Shape) -> onp.ndarray:
  """Stacks columns on a new last axis, (..., k), also if k is zero."""
  rows = onp.reshape(columns, (len(columns), *shape))
  return onp.moveaxis(rows, 0, -1)


def _value(
  entries: Array,
  tables: Mapping[str, coordinates_lib.Table],
  distribution: Distribution,
  observations: Observations,
) -> Array:
  changed = coordinates_lib.with_entries(distribution, tables, entries)
  with user_warnings.searching():
    return structures.cast(observations.log_likelihood(changed))


def _value_and_gradient(
  entries: Array,
  tables: Mapping[str, coordinates_lib.Table],
  distribution: Distribution,
  observations: Observations,
) -> tuple[Array, Array]:
  args = (tables, distribution, observations)
  with user_warnings.searching():  # An optimizer steps back from NaN.
    return gradients.value_and_gradient(lambda x: _value(x, *args), entries)


def _slope_of_gradient(
  entries: Array,
  tables: Mapping[str, coordinates_lib.Table],
  distribution: Distribution,
  observations: Observations,
  unit: Array,
) -> Array:
  args = (tables, distribution, observations)
  with user_warnings.searching():  # A fit says which errors it does not know.
    return gradients.hessian_vector_product(
      lambda x: _value(x, *args), (entries,), (unit,)
    )


def _slope_of_terms(
  entries: Array,
  tables: Mapping[str, coordinates_lib.Table],
  distribution: Distribution,
  observations: Observations,
  unit: Array,
) -> Array:
  def terms(x: Array) -> Array:
    changed = coordinates_lib.with_entries(distribution, tables, x)
    return observations.log_likelihood_terms(changed)

  with user_warnings.searching():
    return gradients.jvp(terms, (entries,), (unit,))[1]


def compiled(f: Callable[..., _T]) -> Callable[..., _T]:
  """Compiles a function once for all fits, if the backend compiles."""
  if MODE == "tf":
    import tensorflow

    return tensorflow.function(f, autograph=False)
  else:
    from phasic.internal import control_flow

    return control_flow.compiled(f)


_VALUE = compiled(_value)
_VALUE_AND_GRADIENT = compiled(_value_and_gradient)
_SLOPE_OF_GRADIENT = compiled(_slope_of_gradient)
_SLOPE_OF_TERMS = compiled(_slope_of_terms)


def _arguments(
  where: Coordinates, entries: onp.ndarray, observations: Observations
) -> tuple[
  Array, Mapping[str, coordinates_lib.Table], Distribution, Observations
]:
  return (
    where.array(where.embedded(entries)),
    where.changing,
    where.distribution,
    observations,
  )


def _unit(where: Form, i: int) -> Array:
  return where.array(onp.arange(len(where.all_entries)) == i)


def host(x: ArrayLike) -> onp.ndarray:
  """Converts a result to a host array in double precision."""
  return onp.asarray(static.concrete(x), onp.float64)
