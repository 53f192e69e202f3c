"""The base classes of distributions that have another one as a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import comparable
from phasic.distributions.base import conversions
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import inferring
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import special_methods
from phasic.distributions.families import named_family
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates
from phasic.math.model import value_rules
from phasic.math.model.model_types import Model


class WrappedDistribution(comparable.Comparable):
  """A distribution that is made from another one, a time until absorption.

  The batches of `distribution` and of the parameters that are arrays broadcast
  with each other; their dtypes agree.
  """

  distribution: absorption_time.AbsorptionTime = declared.static(
    "the distribution of X, of phase type."
  )

  # Whether the wrapped distribution may be discrete.
  _TAKES_DISCRETE = True
  # The class of distributions that may be wrapped, and its name in messages.
  _WRAPS: ClassVar[type[comparable.Comparable]] = absorption_time.AbsorptionTime
  _WRAPPED_RULE = "of phase type"

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    wrapped = parameters["distribution"]
    hooks.check_substrate("distribution", wrapped)
    name = type(wrapped).__name__
    if not isinstance(wrapped, self._WRAPS):
      raise TypeError(
        f"distribution is {name}: it must be {self._WRAPPED_RULE}"
      )
    discrete = (
      isinstance(wrapped, absorption_time.AbsorptionTime) and wrapped._DISCRETE
    )
    if discrete and not self._TAKES_DISCRETE:
      raise TypeError(f"distribution is {name}: it must be in continuous time")
    arrays = {
      name: conversions.settled(name, parameters[name])
      for name in self.parameter_properties()
    }
    dtype = dtypes.common_dtype(arrays, default=wrapped.dtype)
    if dtype != wrapped.dtype:
      raise TypeError(
        f"distribution is {wrapped.dtype} and {', '.join(arrays)} {dtype}: "
        "floating arguments must have one dtype"
      )
    kept = {
      name: x
      if x is None or structures.is_variable(x)
      else structures.as_array(x, dtype, name)
      for name, x in arrays.items()
    }
    super()._keep({**parameters, **kept})

  @classmethod
  def _children(cls) -> tuple[str, ...]:
    return ("distribution", *super()._children())

  def _batch_shape(self) -> static.Shape:
    return parameter_properties.batch_shape(
      self.parameter_properties(),
      self._parameters,
      self.distribution._batch_shape(),
    )

  def _sliced(
    self, index: special_methods.Index, batch: static.Shape | None = None
  ) -> Self:
    batch = self._batch_shape() if batch is None else batch
    sliced = special_methods.slice_parameters(
      self.parameter_properties(),
      conversions.kept_by_slices(self),
      index,
      batch,
    )
    return self.copy(
      distribution=self.distribution._sliced(index, batch), **sliced
    )

  def _broadcast_model(self, batch: static.Shape) -> Model:
    """Returns the chain of the wrapped distribution, broadcast to a batch."""
    return comparable.broadcast_start(self.distribution._model(), batch)

  def _may_be_zero(self) -> bool:
    return self.distribution._may_be_zero()

  def _is_whole(self) -> bool:
    """Returns whether values are whole numbers."""
    return self.distribution._support().constraint == "nonnegative_integer"

  def _is_value(self, value: Array) -> Array:
    """Returns which arguments of partial means are valid."""
    rule = value_rules.COUNT if self._is_whole() else value_rules.TIME
    return rule.holds(value)

  def _m_step_fixed(self) -> tuple[str, ...]:
    return tuple(
      f"distribution.{x}" for x in inferring.m_step_fixed(self.distribution)
    )

  def _m_step_on_host(self) -> bool:
    return inferring.m_step_on_host(self.distribution)


class HeldAround(WrappedDistribution):
  """A wrapper whose own parameters the M-step does not change."""

  def _m_step(self, statistics: rate_updates.SufficientStatistics) -> Self:
    return self.copy(
      distribution=inferring.m_step(self.distribution, statistics)
    )

  def _m_step_fixed(self) -> tuple[str, ...]:
    names = [name for name, x in self._arrays().items() if x is not None]
    return (*names, *super()._m_step_fixed())


class OnSamePhases(WrappedDistribution, named_family.ParametricFamily):
  """A time until absorption with the phases of the wrapped distribution."""

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return self.distribution.num_phases

  @property
  def _DISCRETE(self) -> bool:  # type: ignore[override]
    return self.distribution._DISCRETE

  def _origin(self) -> tuple[object, ...]:
    return (*super()._origin(), *self.distribution._origin())

  def _origin_arrays(self) -> tuple[object, ...]:
    inner = self.distribution._origin_arrays()
    return (*super()._origin_arrays(), *inner)
