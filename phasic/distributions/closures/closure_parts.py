"""Conversion of distributions to chains, and of combined chains back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as onp

from phasic.distributions.absorption import absorption_time
from phasic.distributions.absorption import discrete_phase_type
from phasic.distributions.absorption import kept_chain
from phasic.distributions.absorption import phase_type
from phasic.distributions.base import adopted_dtypes
from phasic.distributions.base import constraints
from phasic.distributions.base import conversions
from phasic.distributions.base import declared
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.families import named_family
from phasic.distributions.wrapped import shifted
from phasic.distributions.wrapped import wrapped_distribution
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal import user_warnings
from phasic.internal.arrays import Array
from phasic.math.closures import chain_parts
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import plausible
from phasic.math.model import single_rounding

# The type of a closure's result: a phase-type distribution in continuous or
# discrete time.
PhaseType: TypeAlias = (
  phase_type.PhaseType | discrete_phase_type.DiscretePhaseType
)


def check_all(
  name: str, distributions: object
) -> Sequence[absorption_time.AbsorptionTime]:
  """Checks that distributions have one kind of time and one dtype.

  Args:
    name: the argument's name.
    distributions: a list or tuple of them.

  Raises:
    TypeError: it is something else, one is not of phase type, or time or
      dtypes differ.
    ValueError: there are none, or batches do not broadcast.
  """
  if not isinstance(distributions, (list, tuple)):
    raise TypeError(
      f"{name} is {type(distributions).__name__}: it must be a list or tuple "
      "of phase-type distributions"
    )
  if not distributions:
    raise ValueError(f"{name} is empty: it must have at least one distribution")
  for i, one in enumerate(distributions):
    check(f"{name}[{i}]", one)
  first = distributions[0]
  for i, one in enumerate(distributions):
    if one._DISCRETE != first._DISCRETE:
      kinds = ("continuous", "discrete")
      raise TypeError(
        f"{name}[0] is in {kinds[first._DISCRETE]} time and {name}[{i}] in "
        f"{kinds[one._DISCRETE]} time: all must have the same kind of time"
      )
  check_broadcast({f"{name}[{i}]": one for i, one in enumerate(distributions)})
  return distributions


def check(name: str, distribution: object) -> None:
  """Raises TypeError unless the argument is a phase-type distribution."""
  hooks.check_substrate(name, distribution)
  if not isinstance(distribution, absorption_time.AbsorptionTime):
    kind = type(distribution)
    advice = ""
    if isinstance(distribution, shifted.Shifted):
      advice = "; add a fixed delay last, as in convolution([a, b]) + delay"
    raise TypeError(
      f"{name} is {kind.__name__}: it must be a phase-type distribution, a time "
      f"until absorption{advice}"
    )


def check_broadcast(
  distributions: Mapping[str, absorption_time.AbsorptionTime],
) -> None:
  """Raises unless dtypes are equal and batch shapes broadcast.

  Args:
    distributions: by name; all that has a dtype and a batch shape.
  """
  items = list(distributions.items())
  first, one = items[0]
  shapes = {name: other._batch_shape() for name, other in items}
  for name, other in items:
    if other.dtype != one.dtype:
      raise TypeError(
        f"{first} is {one.dtype} and {name} is {other.dtype}: floating "
        "arguments must have one dtype"
      )
  check_batches(shapes)


def check_batches(shapes: dict[str, static.Shape]) -> None:
  """Raises ValueError unless the given batch shapes broadcast."""
  try:
    static.broadcast_shapes(*shapes.values())
  except ValueError:
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    raise ValueError(f"batch shapes do not broadcast: {listed}") from None


def parts(
  distribution: absorption_time.AbsorptionTime,
) -> chain_parts.ChainParts:
  """Returns the chain of a distribution as `ChainParts`."""
  model = distribution._model()
  method_results.warn_of_representation(distribution, model[0])
  return chain_parts.parts_of_model(
    model, distribution._DISCRETE, _no_atom(distribution, model[3])
  )


def _no_atom(
  distribution: absorption_time.AbsorptionTime, prob_zero: Array | None
) -> bool:
  """Returns whether the mass at zero is known to be zero."""
  derived = prob_zero is None
  known = static.concrete(
    kept_chain.mass_at_zero(distribution) if derived else prob_zero
  )
  if known is not None:
    return not onp.any(known)
  if derived:
    return False
  # While functions are traced, only named families are known to have no atom.
  if isinstance(distribution, wrapped_distribution.WrappedDistribution):
    return False
  family = isinstance(distribution, named_family.ParametricFamily)
  return family and distribution._is_reparameterized()


def combined(
  chain: chain_parts.ChainParts,
  children: Sequence[absorption_time.AbsorptionTime],
  name: str,
  options: declared.Options,
) -> PhaseType:
  """Returns the distribution of the absorption time of `ChainParts`.

  Where there can be no mass at zero this is known while functions are traced.

  Args:
    chain: the parts.
    children: its components: its values are checked if the values of one are.
    name: its name, where options have none.
    options: for the constructor.
  """
  conversions.warn_of_variables(name, *children)
  checked = any(child.validate_args for child in children)
  arguments: declared.Options = {"validate_args": checked, "name": name}
  closure = made(chain, children[0].dtype, arguments | options)
  return adopted_dtypes.mark(closure, children)


def made(
  chain: chain_parts.ChainParts, dtype: str, options: declared.Options
) -> PhaseType:
  """Returns the distribution of `ChainParts`, whose values have been checked.

  Args:
    chain: the parts.
    dtype: of the distribution.
    options: for the constructor.
  """
  sources, targets, weights = chain_parts.edge_arrays(chain)
  initial, weights = (
    structures.cast(x, dtype) for x in (chain.initial, weights)
  )
  if chain.atom is None:
    atom = structures.constant(onp.zeros(()), dtype)
  else:
    atom = structures.cast(chain.atom, dtype)
  # Who gave the values has been warned of invalid ones.
  with user_warnings.derived():
    if chain.stay is None:
      rates = edge_rates.EdgeRates(sources, targets, weights)
      return phase_type.PhaseType(initial, rates, None, atom, **options)
    probs = edge_probs.EdgeProbs(sources, targets, weights)
    return discrete_phase_type.DiscretePhaseType(
      initial, probs, None, atom, **options
    )


def checked_values(
  what: str,
  name: str,
  x: Array,
  constraint: constraints.Constraint,
  options: declared.Options,
  validates: bool = False,
) -> Array:
  """Checks the values of an array that a closure takes, and returns them.

  With `validate_args` an invalid value raises, else it causes a warning. Sums
  that are off by the rounding of float32 are corrected, with a warning.

  Args:
    what: the name of the closure.
    name: the name of the array.
    x: the array.
    constraint: its rule.
    options: of the closure.
    validates: `validate_args` where the options have none.
  """
  validates = options.get("validate_args", validates)
  raw_arguments.check_flags(validate_args=validates)
  if validates:
    return constraint.check(name, x)
  known = plausible.values_at_hand([x])
  if known is None or plausible.is_parameter(known[0], constraint.name):
    return x
  x, _, text = single_rounding.mended(name, x, known[0], constraint.name)
  try:
    constraint.check(name, x)
  except ValueError as error:
    text = str(error)
  if text:
    user_warnings.warn(f"{what}: {text}")
  return x
