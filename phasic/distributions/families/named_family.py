"""The base class of named families."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import constraints
from phasic.distributions.base import parameter_properties
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import autodiff
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.math.model.model_types import Model
from phasic.math.numeric import exact_sums


class ParametricFamily(absorption_time.AbsorptionTime):
  """The base class of named families in continuous or discrete time.

  A subclass declares its parameters, and makes the chain of them in
  `_chain_of`. All else comes from `AbsorptionTime`.
  """

  _FREE_START = False

  def as_phase_type(
    self,
  ) -> phase_type.PhaseType | discrete_phase_type.DiscretePhaseType:
    """Returns the same distribution as a `PhaseType` or `DiscretePhaseType`.

    Its arrays are dense, and functions of the parameters of this one.

    Raises:
      ValueError: there are more than 4096 phases.
    """
    if self._DISCRETE:
      return absorption_time.dense_form(
        self, discrete_phase_type.DiscretePhaseType
      )
    return absorption_time.dense_form(self, phase_type.PhaseType)

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not.

    Invalid parameters of the family are reported first.
    """
    reasons = super()._reasons(value, method)
    for name, prop in self.parameter_properties().items():
      x = self._arrays()[name]
      if x is None:
        continue
      values = comparable.host(x)
      bad, rule = prop.constraint.broken(values, prop.event_ndims)
      reasons = onp.where(bad & (reasons != "ok"), f"{name}: {rule}", reasons)
    return reasons

  def _may_be_zero(self) -> bool:
    return "prob_zero" in self.parameter_properties() and super()._may_be_zero()

  def _chain_of(self, *args: ParameterValue, **arrays: ParameterValue) -> Model:
    """Returns the chain for parameter values, see `KeptChain._chain`."""
    raise NotImplementedError(
      f"{type(self).__name__} must define the method _chain_of"
    )

  def _derived_chain(self) -> Model:
    return self._chain_of(**self._arrays())

  def _checked_chain(self) -> Model:
    return self._chain_of(**self._own())

  def _own(self) -> dict[str, ParameterValue]:
    """Returns the current parameters; with `validate_args` they are checked."""
    arrays = self._arrays()
    return self._checked_parameters(arrays) if self.validate_args else arrays

  def _checked_parameters(
    self, arrays: Mapping[str, ParameterValue]
  ) -> dict[str, ParameterValue]:
    """Checks parameters against their constraints, and returns them."""
    return parameter_properties.check_parameters(
      arrays, self.parameter_properties()
    )

  def _check_shapes(self) -> None:
    """Raises ValueError unless the shapes of the parameters fit."""
    # The check of `ChainHooks` would build the chain. Families override this
    # with a check of shapes alone.

  def _last_size(self, name: str, wanted: int | None = None) -> int:
    """Returns the last dimension of a parameter's shape, checked.

    Args:
      name: the parameter's name.
      wanted: the required value; None for any positive one.

    Raises:
      ValueError: it is something else, or not known statically.
    """
    shape = static.shape(self._parameters[name])
    size = shape[-1] if shape else None
    if not isinstance(size, int) or (wanted is None and size == 0):
      raise ValueError(
        f"{name} has shape {shape}: it must be (..., p) with a known p > 0"
      )
    if wanted is not None and size != wanted:
      raise ValueError(f"{name} has shape {shape}: it must be (..., {wanted})")
    return size


class NamedFamily(ParametricFamily):
  """A family of distributions in continuous time."""

  def as_phase_type(self) -> phase_type.PhaseType:
    """Returns the same distribution as `PhaseType`.

    Its arrays are dense, and functions of the parameters of this one.

    Raises:
      ValueError: there are more than 4096 phases.
    """
    return absorption_time.dense_form(self, phase_type.PhaseType)


class DiscreteFamily(ParametricFamily):
  """A family of distributions in discrete time."""

  _DISCRETE = True

  def as_phase_type(self) -> discrete_phase_type.DiscretePhaseType:
    """Returns the same distribution as `DiscretePhaseType`.

    Its arrays are dense, and functions of the parameters of this one.

    Raises:
      ValueError: there are more than 4096 phases.
    """
    return absorption_time.dense_form(
      self, discrete_phase_type.DiscretePhaseType
    )


def no_atom(probs: Array) -> Array:
  """Returns a mass at zero: 0, or NaN where probabilities do not sum to one.

  Probabilities are not normalized, and missing mass is not put at zero.
  """
  finite = np.where(probs < float("inf"), probs, float("nan"))
  total = exact_sums.compensated_sum(autodiff.stop_gradient(finite))
  near = np.abs(total - 1) <= constraints.sum_tolerance(probs)
  return np.where(near, np.zeros_like(total), float("nan"))


def positive(rate: Array) -> Array:
  """Returns a rate where it is positive and finite, and NaN elsewhere."""
  return np.where((rate > 0) & (rate < float("inf")), rate, float("nan"))


def first_of(count: int, dtype: str) -> Array:
  """Returns the initial masses of `count` phases: 1 for the first, else 0."""
  return structures.cast(onp.where(onp.arange(count) == 0, 1.0, 0.0), dtype)
