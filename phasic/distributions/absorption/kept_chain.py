"""Chains that distributions derive from their parameters, and keep."""

from __future__ import annotations

from typing import Any, ClassVar

from phasic.distributions.base import distribution
from phasic.distributions.base import kept_results
from phasic.distributions.base import structure
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.model.model_types import Model


class KeptChain(distribution.Distribution, kept_results.Keeper):
  """A distribution whose Markov chain follows from its parameters.

  A subclass derives the chain in `_derived_chain`, and checks its values in
  `_checked_chain`. It says by `_DISCRETE` whether time is counted in steps.
  """

  _DISCRETE = False
  # Whether the arrays of the chain are others than the parameters.
  _DERIVES = True
  # The value of `_kept` when the chain's values had been checked.
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
      # A kept chain that was not checked may still be there.
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
    names = operands.argument_names(self._DISCRETE)
    return operands.convert(*chain, names=names)
