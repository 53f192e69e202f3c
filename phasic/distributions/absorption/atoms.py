"""The parameter `prob_zero`, the mass at zero: its default and its value."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import Result
from phasic.math.model import chain
from phasic.math.model.model_types import Model

_DERIVED = "z, (...). None derives it, z = 1 - sum(alpha), zero within 4 p eps."


class HasChain(Protocol):
  """A distribution with a chain and, perhaps, a parameter `prob_zero`."""

  @property
  def parameters(self) -> dict[str, ParameterValue]:
    """The constructor's arguments, by name."""
    ...

  def _chain(self) -> Model:
    """Returns initial masses, rates, optional exits, optional atom."""
    ...


def prob_zero(text: str = _DERIVED) -> declared.Derived:
  """Declares the parameter `prob_zero`, 1 - sum(initial_probs) by default."""
  return declared.array(0, "probability", text, default=None, shown=shown_mass)


def shown_mass(distribution: HasChain) -> Result:
  """Returns the mass at zero: `prob_zero` if given, else the derived one."""
  given = distribution.parameters.get("prob_zero")
  if given is not None:
    return given
  return structures.as_result(mass_at_zero(distribution))


def mass_at_zero(distribution: HasChain) -> Array:
  """Computes P(X = 0), of the batch shape or one that broadcasts to it."""
  initial_probs, _, _, prob_zero = distribution._chain()
  if prob_zero is not None:
    return prob_zero
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * static.finfo_eps(initial_probs)
  none = np.zeros((0,), dtype=initial_probs.dtype)
  return chain.derive_atom(initial_probs, none, tolerance)


def may_be_positive(distribution: HasChain) -> bool:
  """Returns whether P(X = 0) is positive anywhere in the batch, or traced."""
  known = static.concrete(mass_at_zero(distribution))
  return known is None or bool(onp.any(known > 0))
