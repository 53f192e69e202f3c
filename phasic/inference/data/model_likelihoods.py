"""Log likelihoods that users write, as functions of entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import TypeVar

import numpy as np
import numpy as onp

from phasic.inference.data import likelihood_derivatives
from phasic.inference.data import likelihoods
from phasic.inference.data import models
from phasic.inference.parameters import numbers as numbers_lib
from phasic.inference.parameters import parameter_sets
from phasic.inference.parameters.host_values import host_values
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, ArrayLike, Tree
from phasic.math.calls import gradients

_T = TypeVar("_T")
Form = numbers_lib.Numbers | parameter_sets.ParameterSet


class Compiled:
  """The derivatives of a log likelihood, compiled once."""

  def __init__(
    self,
    value_at: Callable[..., Array],
    terms_at: Callable[..., Array] | None = None,
  ):
    """Compiles functions.

    Args:
      value_at: takes all entries and the data, returns a scalar.
      terms_at: takes the same, returns the terms of the observations, (n,).
    """
    compiled = likelihood_derivatives.compiled
    self.value: Callable[..., ArrayLike] = compiled(value_at)
    self.evaluated: Callable[..., tuple[ArrayLike, ArrayLike]] = compiled(
      lambda entries, *data: gradients.value_and_gradient(
        lambda x: value_at(x, *data), entries
      )
    )
    self.bent: Callable[..., ArrayLike] = compiled(
      lambda entries, unit, *data: gradients.hessian_vector_product(
        lambda x: value_at(x, *data), (entries,), (unit,)
      )
    )
    if terms_at is not None:
      self.terms: Callable[..., ArrayLike] = compiled(terms_at)
      self.sloped: Callable[..., ArrayLike] = compiled(
        lambda entries, unit, *data: gradients.jvp(
          lambda x: terms_at(x, *data), (entries,), (unit,)
        )[1]
      )


class WrittenLikelihood:
  """A scalar log likelihood that the user wrote."""

  def __init__(
    self,
    compiled: Compiled,
    form: Form,
    data: Tree = (),
    starts: Sequence[onp.ndarray] = (),
  ):
    """Makes the log likelihood of entries.

    Args:
      compiled: the compiled functions.
      form: the map from entries to what the user's function takes.
      data: further arguments of the functions.
      starts: the entries of all starts, from which scales follow.
    """
    self.total = 1.0
    self.dtype = form.dtype
    self.weights = onp.ones(0)
    self._form = form
    self._starts = starts
    self._compiled = compiled
    self._data = data
    self._last = likelihoods.LastHessian()

  def value(self, inner: Form, entries: onp.ndarray) -> float:
    """Computes the log likelihood; -inf if the user's function raises.

    It may raise at a bound, such as a rate of zero.
    """
    try:
      return self.value_and_gradient(inner, entries)[0]
    except (ArithmeticError, ValueError):
      return -math.inf

  def value_and_gradient(
    self, inner: Form, entries: onp.ndarray
  ) -> tuple[float, onp.ndarray]:
    """Computes the log likelihood and its gradient in k entries."""
    value, slopes = self._called(self._compiled.evaluated, inner, entries)
    return (
      float(likelihood_derivatives.host(value)),
      likelihood_derivatives.host(slopes)[inner.indices],
    )

  def hessian(self, inner: Form, entries: onp.ndarray) -> onp.ndarray:
    """Computes the Hessian of the log likelihood in k entries."""
    units = self._units()

    def row(i: int) -> ArrayLike:
      return self._called(self._compiled.bent, inner, entries, units[i])

    return self._last.known(
      inner, entries, lambda: likelihood_derivatives.symmetric(inner, row)
    )

  def scores(self, inner: Form, entries: onp.ndarray) -> onp.ndarray:
    """Raises NotImplementedError: the observations are not known."""
    raise NotImplementedError

  def scales(self, entries: onp.ndarray) -> onp.ndarray:
    """Returns the largest entry of each array, here or at one of the starts."""
    form = self._form
    largest = onp.max([onp.abs(entries), *onp.abs(self._starts)], axis=0)
    for i in set(form.arrays):
      in_array = form.arrays == i
      largest[in_array] = onp.max(largest[in_array])
    return form.scales(largest)

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether all entries are finite: all such entries are possible."""
    return bool(onp.all(onp.isfinite(entries)))

  def _units(self) -> list[Array]:
    """Returns unit vectors of all entries."""
    return list(map(self._form.array, onp.eye(len(self._form.names))))

  def _called(
    self,
    f: Callable[..., _T],
    inner: Form,
    entries: onp.ndarray,
    *args: Array,
  ) -> _T:
    """Calls a function of all entries."""
    whole = inner.embedded(entries)
    at_edge = not onp.all(self._form.is_inside(whole))
    # At a bound, the user's function may make a distribution with a rate of
    # zero, which would warn. Inside the bounds NaN needs no warning, since a
    # search steps back from it.
    with user_warnings.derived() if at_edge else user_warnings.searching():
      return f(self._form.array(whole), *args, *self._data)


class ModelLikelihood(WrittenLikelihood):
  """The log likelihood of data under a `LikelihoodModel`."""

  def __init__(
    self,
    model: models.LikelihoodModel,
    form: parameter_sets.ParameterSet,
    data: object,
    weights: onp.ndarray | None = None,
  ):
    """Makes the log likelihood of entries.

    Args:
      model: the model.
      form: the map from entries to its parameters.
      data: what the model takes.
      weights: of a fit's observations, (n,); None for those of the data, which
        are checked.

    Raises:
      ValueError: the terms or weights have a wrong shape.
    """

    def terms_at(entries: Array, data: Tree, weights: Array) -> Array:
      del weights
      return model.log_likelihood_terms(form.value_at(entries), data)

    def value_at(entries: Array, data: Tree, weights: Array) -> Array:
      parameters = form.value_at(entries)
      terms = model.log_likelihood_terms(parameters, data)
      weighted = weights * np.where(weights != 0, terms, 0.0)
      penalty = structures.cast(model.penalty(parameters), form.dtype)
      return structures.cast(np.sum(weighted) - np.sum(weights) * penalty)

    def penalty_at(entries: onp.ndarray) -> float:
      parameters = form.value_at(form.array(entries))
      return float(host_values("penalty", model.penalty(parameters)))

    key = form.key
    compiled = models.kept(model, key, lambda: Compiled(value_at, terms_at))
    super().__init__(compiled, form, (data, form.array(onp.ones(1))))
    self._penalty_at = penalty_at
    # The weights of a fit have been checked, and terms need not be computed.
    self.weights = (
      self._checked(model.weights(data)) if weights is None else (weights)
    )
    self.total = float(onp.sum(self.weights))
    self._data = (data, form.array(self.weights))

  def _checked(self, weights: ArrayLike | None) -> onp.ndarray:
    """Returns weights as the terms need them, (n,); None stands for ones.

    Raises:
      ValueError: the terms or weights have a wrong shape, or weights break a
        rule.
    """
    num_terms = onp.shape(self.terms(self._form, self._form.entries))
    if len(num_terms) != 1 or not num_terms[0]:
      raise ValueError(
        f"log_likelihood_terms returned shape {num_terms}: it must be (n,), with "
        "one term for each of n > 0 observations"
      )
    if weights is None:
      return onp.ones(num_terms)
    known = host_values("weights", weights)
    if onp.shape(known) != num_terms:
      raise ValueError(
        f"weights has shape {onp.shape(known)}: it must be {num_terms}, as the "
        "terms of the log likelihood"
      )
    if not onp.all((known >= 0) & (known < onp.inf)):
      raise ValueError("weights must be >= 0 and finite")
    if not onp.any(known > 0):
      raise ValueError(
        "all weights are zero: a fit needs an observation with a positive weight"
      )
    return known

  def terms(self, inner: Form, entries: onp.ndarray) -> onp.ndarray:
    """Computes the log likelihood of each observation, (n,)."""
    return likelihood_derivatives.host(
      self._called(self._compiled.terms, inner, entries)
    )

  def unpenalized(self, inner: Form, entries: onp.ndarray) -> float:
    """Computes the log likelihood without the penalty."""
    value = float(
      likelihood_derivatives.host(
        self._called(self._compiled.value, inner, entries)
      )
    )
    return value + self.total * self._penalty_at(inner.embedded(entries))

  def scores(self, inner: Form, entries: onp.ndarray) -> onp.ndarray:
    """Computes the gradient of each observation's log likelihood, (n, k)."""
    units = self._units()
    columns = [
      likelihood_derivatives.host(
        self._called(self._compiled.sloped, inner, entries, units[i])
      )
      for i in inner.indices
    ]
    return likelihood_derivatives.stacked(columns, onp.shape(self.weights))

  def is_possible(self, entries: onp.ndarray) -> bool:
    """Returns whether the distributions of the model end for certain."""
    assert isinstance(self._form, parameter_sets.ParameterSet)
    return super().is_possible(entries) and all(
      map(likelihoods.ends_for_certain, self._form.distributions_at(entries))
    )


def scalar(
  log_likelihood: Callable[[object], Array], form: numbers_lib.Numbers
) -> Compiled:
  """Compiles a log likelihood of numbers, which must be a scalar."""

  def value_at(entries: Array) -> Array:
    value = log_likelihood(form.value_at(entries))
    if static.rank(value) != 0:
      raise TypeError(
        f"log_likelihood returned an array of shape {static.shape(value)}: it "
        "must return a scalar; sum over the data"
      )
    return value

  return Compiled(value_at)
