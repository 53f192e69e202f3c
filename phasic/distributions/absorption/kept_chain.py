"""Chains that distributions derive from their parameters and keep, and their atoms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy as onp

from phasic.distributions.base import declared
from phasic.distributions.base import distribution
from phasic.distributions.base import kept_results
from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Result
from phasic.math.model import chain as chain_lib
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model


class KeptChain(distribution.Distribution, kept_results.Keeper):
  """A distribution whose Markov chain is computed from its parameters.

  A subclass derives the chain in `_derived_chain`, and checks its values in
  `_checked_chain`. It says by `_DISCRETE` whether time is counted in steps.
  """

  _DISCRETE = False
  # Whether the arrays of the chain are computed from the parameters, and not
  # the parameters themselves.
  _DERIVES = True
  # The `_kept` whose chain has passed the check of its values, so that the same
  # chain is not checked again.
  _valid: ClassVar[Any] = None

  def _chain(self) -> Model:
    """Returns initial masses, rates or edges, optional exits, optional atom.

    Their dtypes agree and their shapes fit. Variables are read, so that the
    current values are returned. The chain is derived once where nothing that it
    depends on can change.
    """
    if not self._DERIVES and self._has_plain_arrays:
      chain = self._derived_chain()
      if not isinstance(chain[1], edge_rates.EDGES):
        return chain
    return kept_results.derived(
      self, self._converted_chain, structure.chain_arrays
    )

  def _model(self) -> Model:
    """Returns the chain; with `validate_args` its values are checked."""
    if not self._parameters["validate_args"]:
      return self._chain()
    valid = self._valid
    if valid is not None and kept_results.is_current(self):
      kept = self._kept
      if kept is valid:
        return kept[1]
    chain = self._converted_model(self._checked_chain())
    if self._DERIVES:
      kept_results.keep(self, chain, structure.chain_arrays)
      # If `keep` could not keep this chain, `_kept` may still hold another one
      # that was not checked.
      kept = self._kept
      if kept is not None and kept[1] is chain:
        object.__setattr__(self, "_valid", kept)
    return chain

  def _derived_chain(self) -> Model:
    """Returns the chain for the current parameters."""
    raise NotImplementedError

  def _checked_chain(self) -> Model:
    """Returns the chain after checks of its values or of the parameters."""
    raise NotImplementedError

  def _origin(self) -> tuple[object, ...]:
    return tuple(self._parameters.values())

  def _origin_arrays(self) -> tuple[object, ...]:
    given = self._parameters
    names = self._properties()
    if self._has_plain_arrays:
      return tuple(given[name] for name in names)
    arrays = structure.leaves({name: given[name] for name in names})
    return tuple(arrays.values())

  def _converted_chain(self) -> Model:
    return self._converted_model(self._derived_chain())

  def _converted_model(self, chain: Model) -> Model:
    """Converts the arrays of a chain to one dtype, and checks their shapes.

    Arrays that the constructor has converted need neither, but variables, arrays
    put in place of the constructor's, and the arrays of edges do.
    """
    if self._has_plain_arrays and not isinstance(chain[1], edge_rates.EDGES):
      return chain
    return operands.convert(
      *chain, names=operands.argument_names(self._DISCRETE)
    )


_DERIVED = "z, (...). None derives it, z = 1 - sum(alpha), zero within 4 p eps."


def prob_zero(text: str = _DERIVED) -> declared.Derived:
  """Declares the parameter `prob_zero`, 1 - sum(initial_probs) by default."""
  return declared.array(0, "probability", text, default=None, shown=shown_mass)


def shown_mass(distribution: KeptChain) -> Result:
  """Returns the mass at zero: `prob_zero` if given, else the derived one."""
  given = distribution.parameters.get("prob_zero")
  if given is not None:
    return given
  return structures.as_result(mass_at_zero(distribution))


def mass_at_zero(distribution: KeptChain) -> Array:
  """Computes P(X = 0); its shape is the batch shape, or broadcasts to it."""
  initial_probs, _, _, prob_zero = distribution._chain()
  if prob_zero is not None:
    return prob_zero
  p = static.shape(initial_probs)[-1]
  tolerance = 4 * p * static.finfo_eps(initial_probs)
  none = np.zeros((0,), dtype=initial_probs.dtype)
  return chain_lib.derive_atom(initial_probs, none, tolerance)


def may_be_positive(distribution: KeptChain) -> bool:
  """Returns whether P(X = 0) is positive in the batch; True if it is traced."""
  known = static.concrete(mass_at_zero(distribution))
  return known is None or bool(onp.any(known > 0))
