"""Functions that give other rooms the hooks and arrays of a distribution."""

from __future__ import annotations

from collections.abc import Mapping
import operator
from typing import TypeVar

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import hooks
from phasic.distributions.base import observed_events as events_lib
from phasic.distributions.base import parameter_properties as properties_lib
from phasic.distributions.base import parameterized
from phasic.distributions.base import structure
from phasic.distributions.base.distribution import DistributionT
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.m_step import rate_updates

_WITHIN = "distribution"
_T = TypeVar("_T", bound=hooks.Hooks)


def chain_events(
  distribution: hooks.Hooks,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
) -> events_lib.ChainEvents | None:
  """Maps observations to events of a distribution's chain.

  Args:
    distribution: with a batch of shape (..., 1) or ().
    lower: (..., n), as all the others.
    upper: (..., n), or None where all are exact.
    entry: (..., n), or None.

  Returns:
    `ChainEvents`, or None if the distribution is not made of a chain.
  """
  return distribution._chain_events(lower, upper, entry)


def may_be_zero(distribution: hooks.Hooks) -> bool:
  """Returns cheaply whether a distribution may have an atom at zero."""
  return distribution._may_be_zero()


def beside_values(distribution: DistributionT) -> DistributionT:
  """Adds a last batch dimension of size one, which broadcasts with values."""
  return distribution._sliced((..., None))


def causes(distribution: hooks.Hooks) -> tuple[str | None, ...] | None:
  """Returns the causes of absorption of a distribution that is not a chain."""
  return distribution._causes()


def linear_chain(
  chain: events_lib.HasModel,
) -> tuple[events_lib.HasModel, float]:
  """Returns the chain for the E-step, and by how much its time exceeds X."""
  return chain._linear_chain()


def m_step(
  distribution: _T, statistics: rate_updates.SufficientStatistics
) -> _T:
  """Returns the distribution after the M-step, given E-step statistics.

  Args:
    distribution: the distribution of the E-step.
    statistics: the sufficient statistics of the E-step.

  Raises:
    TypeError: the family has no M-step.
  """
  with user_warnings.derived():
    return distribution._m_step(statistics)


def em_update(
  distribution: _T,
  lower: Array,
  upper: Array | None,
  weights: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> _T | None:
  """Makes an EM step for a distribution that is not made of a single chain.

  Args:
    distribution: a distribution.
    lower: (..., n), as all the others; see `Observations`.
    upper: None where all are exact.
    weights: None for ones.
    entry: None if observations do not start late.
    cause: numbers of causes, or None.

  Returns:
    The distribution after the step; None if it has no step of its own.
  """
  with user_warnings.derived():
    return distribution._em_update(lower, upper, weights, entry, cause)


def check_has_m_step(distribution: distribution_lib.Distribution) -> None:
  """Raises TypeError if the family of a distribution has no M-step."""
  hooks.check_distribution("dist", distribution)
  kind = type(distribution)
  if kind._em_update is not hooks.Hooks._em_update:
    return
  if kind._m_step is hooks.Hooks._m_step:
    distribution._m_step(None)  # type: ignore[arg-type]
  within = distribution.parameters.get(_WITHIN)
  if within is not None:
    check_has_m_step(within)


def m_step_fixed(distribution: hooks.Hooks) -> tuple[str, ...]:
  """Returns dotted names of parameters that the M-step leaves unchanged."""
  return distribution._m_step_fixed()


def m_step_on_host(distribution: hooks.Hooks) -> bool:
  """Returns whether the M-step needs concrete values of the statistics."""
  return distribution._m_step_on_host()


def arrays(
  distribution: parameterized.Parameterized,
) -> Mapping[str, ParameterValue]:
  """Returns the current array parameters by name; None for absent ones."""
  return distribution._arrays()


def array_properties(
  distribution: parameterized.Parameterized,
) -> Mapping[str, properties_lib.ParameterProperties]:
  """Returns the properties of the array parameters, by name."""
  return distribution._array_properties()


def given(
  distribution: parameterized.Parameterized, name: str
) -> ParameterValue:
  """Returns a parameter as the constructor got it, for example as a mapping."""
  return distribution._given_array(name)


def graph_parameter_names(
  distribution: parameterized.Parameterized, name: str
) -> tuple[str, ...] | None:
  """Returns the names of the graph parameters that an array holds."""
  return distribution._graph_of(name).parameter_names


def batch_shape(distribution: hooks.Hooks) -> static.Shape:
  """Returns the batch shape; dynamic sizes are scalar arrays."""
  return distribution._batch_shape()


def with_batch_shape(
  distribution: DistributionT, shape: static.Shape
) -> DistributionT:
  """Broadcasts all parameters to a batch shape.

  Args:
    distribution: a distribution.
    shape: the batch shape; that of the distribution broadcasts to it.
  """
  return distribution._sliced((), shape)


def owners(
  distribution: distribution_lib.Distribution,
) -> list[tuple[str, distribution_lib.Distribution]]:
  """Returns a distribution and the distributions that it wraps, with paths.

  The path is the prefix "distribution." for each level of wrapping.
  """
  found, path = [("", distribution)], ""
  while _WITHIN in distribution.parameters:
    distribution = distribution.parameters[_WITHIN]
    path += f"{_WITHIN}."
    found.append((path, distribution))
  return found


def arrays_of(distribution: distribution_lib.Distribution) -> dict[str, object]:
  """Returns all array parameters, also wrapped ones, by path and name."""
  return {
    f"{path}{name}": structure.array_of(owner._given_array(name))
    for path, owner in owners(distribution)
    for name in owner._array_properties()
  }


def with_current_values(distribution: DistributionT) -> DistributionT:
  """Replaces variables among the parameters by their values, each read once."""
  if distribution._has_plain_arrays and _WITHIN not in distribution._parameters:
    return distribution
  given = distribution.parameters
  found = {
    name: _current(name, given[name])
    for name in distribution.parameter_properties()
  }
  if _WITHIN in given:
    found[_WITHIN] = with_current_values(given[_WITHIN])
  if all(x is given[name] for name, x in found.items()):
    return distribution
  with user_warnings.derived():
    return distribution.copy(**found)


def _current(name: str, value: ParameterValue) -> ParameterValue:
  """Returns a parameter with the current values of its variables."""
  if structures.is_variable(value):
    return structures.as_array(value, None, name)
  found: ParameterValue
  if isinstance(value, Mapping):
    found = {k: _current(name, x) for k, x in value.items()}
    same = all(x is value[k] for k, x in found.items())
  elif structure.is_edges(value):
    found = structure.mapped(_current, name, value)
    same = all(map(operator.is_, found, value))
  elif isinstance(value, tuple):
    found = tuple(_current(name, x) for x in value)
    same = all(map(operator.is_, found, value))
  else:
    return value
  return value if same else found


def with_arrays(
  distribution: DistributionT, arrays: Mapping[str, object], **options: object
) -> DistributionT:
  """Replaces arrays of a distribution and of distributions that it wraps.

  Args:
    distribution: the distribution.
    arrays: by path and name, as in `arrays_of`.
    **options: arguments of all distributions whose arrays are replaced.
  """
  prefix = f"{_WITHIN}."
  own: dict[str, object] = {}
  within: dict[str, object] = {}
  for path, x in arrays.items():
    if path.startswith(prefix):
      within[path.removeprefix(prefix)] = x
    else:
      own[path] = structure.with_array(given(distribution, path), x)
  if within:
    inner = distribution.parameters[_WITHIN]
    own[_WITHIN] = with_arrays(inner, within, **options)
  with user_warnings.derived():
    return distribution._with_arrays(own, **options)
