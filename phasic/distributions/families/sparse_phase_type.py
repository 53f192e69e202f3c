"""Phase-type distributions of chains that are given by their edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy as onp

from phasic.distributions.absorption import atoms
from phasic.distributions.base import constraints
from phasic.distributions.base import declared
from phasic.distributions.base import structure
from phasic.distributions.families import named_family
from phasic.internal import static
from phasic.internal import structures
from phasic.math.m_step import rate_updates
from phasic.math.m_step import sufficient_statistics
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import plausible
from phasic.math.model import value_checks
from phasic.math.model.model_types import Edges
from phasic.math.model.model_types import Model

_ATOM = "z, (...); None for zero. Nothing is derived: alpha and z sum to one."


class Sparse(named_family.NamedFamily):
  """The base class of sparse distributions in both kinds of time.

  A subclass names its edges' weights by `_WEIGHTS`, and makes them by `_EDGES`.
  """

  _WEIGHTS: ClassVar[str]
  _EDGES: ClassVar[type[Edges]]

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the constructor's arguments."""
    initial_probs = parameters["initial_probs"]
    if not hasattr(initial_probs, "shape"):
      initial_probs = structures.as_array(initial_probs, None, "initial_probs")
    shape = static.shape(initial_probs)
    if not shape or not isinstance(shape[-1], int) or shape[-1] == 0:
      raise ValueError(
        f"initial_probs has shape {shape}: it must be (..., p) with p > 0 known"
      )
    p = shape[-1]
    indices = {
      name: structure.static_indices(name, parameters[name], end)
      for name, end in (("sources", p), ("targets", p + 1))
    }
    super()._keep({**parameters, **indices})

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self._parameters["initial_probs"])[-1]

  def _check_shapes(self) -> None:
    sources, targets = self._ends()
    m, n = len(sources), len(targets)
    if m != n:
      raise ValueError(
        f"sources have shape {(m,)} and targets {(n,)}: both must be (m,)"
      )
    self._last_size(self._WEIGHTS, m)

  def _ends(self) -> tuple[onp.ndarray, onp.ndarray]:
    """Returns the phases that edges leave, and those that they lead to."""
    ends = self._parameters["sources"], self._parameters["targets"]
    return ends[0].values, ends[1].values

  def _chain_of(self, **arrays: Any) -> Model:
    edges = self._EDGES(*self._ends(), arrays[self._WEIGHTS])
    atom = arrays["prob_zero"]
    if atom is None:
      atom = np.zeros((), dtype=self.dtype)
    return arrays["initial_probs"], edges, None, atom

  def _is_plausible(self, known: Mapping[str, Any]) -> bool:
    edges = self._EDGES(*self._ends(), known[self._WEIGHTS])
    start, atom = known["initial_probs"], known["prob_zero"]
    atom = onp.zeros(()) if atom is None else atom
    return plausible.is_model(start, edges, None, atom, self._DISCRETE)

  def _model(self) -> Model:
    chain = self._chain()
    if not self.validate_args:
      return chain
    names = ("initial_probs", self._WEIGHTS)
    return value_checks.check_model(*chain, self._DISCRETE, names)


@structures.register
class SparsePhaseType(Sparse):
  """The time until absorption of a chain that is given by its edges.

  It is the distribution of `PhaseType`, of a subgenerator that is never made.
  Between which phases there are edges is structure: distributions that share it
  share a compilation. Closures such as `convolution` and `maximum` are such
  distributions.

  Example: two stages in a row.

    >>> from phasic.distributions import SparsePhaseType
    >>> dist = SparsePhaseType([1.0, 0.0], [0, 1], [1, 2], [2.0, 2.0])
    >>> print(f"{float(dist.mean()):.3f}, {float(dist.prob(1.0)):.6f}")
    1.000, 0.541341

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _WEIGHTS = "rates"
  _EDGES = edge_rates.EdgeRates

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at time zero.",
  )
  sources: declared.Indices = declared.static(
    "integers (m,), known on the host, the phases that edges leave.",
    shown=lambda self: self._parameters["sources"].values,
  )
  targets: declared.Indices = declared.static(
    "integers (m,), known on the host, the phases that they lead to; p is absorption. Parallel edges add up; an edge from a phase to itself changes nothing.",
    shown=lambda self: self._parameters["targets"].values,
  )
  rates: declared.Required = declared.array(
    1, constraints.EDGE_RATES, "(..., m), finite and >= 0, per unit of time."
  )
  prob_zero: declared.Derived = atoms.prob_zero(_ATOM)

  def _m_step(
    self, statistics: sufficient_statistics.SufficientStatistics
  ) -> Self:
    start = rate_updates.start(self._arrays(), statistics)
    return self.copy(**start, rates=self._m_step_rates(statistics))


@structures.register
class SparseDiscretePhaseType(Sparse):
  """The number of steps of a chain that is given by its edges.

  It is the distribution of `DiscretePhaseType`, of a matrix that is never made;
  else it is what `SparsePhaseType` is. A phase is kept with what its edges
  leave of one, and derivatives are those of this rule: see `math.EdgeProbs`.

  Example: throws of a die until the second six.

    >>> from phasic.distributions import SparseDiscretePhaseType
    >>> dist = SparseDiscretePhaseType([1.0, 0.0], [0, 1], [1, 2], [1 / 6] * 2)
    >>> print(f"{float(dist.mean()):.3f}, {float(dist.prob(3)):.6f}")
    12.000, 0.046296

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _DISCRETE = True
  _WEIGHTS = "probs"
  _EDGES = edge_probs.EdgeProbs

  initial_probs: declared.Required = declared.array(
    1,
    "subprobabilities",
    "alpha, (..., p), the masses of the phases at the start.",
  )
  sources: declared.Indices = declared.static(
    "integers (m,), known on the host, the phases that edges leave.",
    shown=lambda self: self._parameters["sources"].values,
  )
  targets: declared.Indices = declared.static(
    "integers (m,), known on the host, the phases that they lead to; p is absorption. Parallel edges add up.",
    shown=lambda self: self._parameters["targets"].values,
  )
  probs: declared.Required = declared.array(
    1,
    constraints.EDGE_PROBS,
    "(..., m), >= 0, the probabilities of the edges in a step; those from one phase sum to one, or less where there is no edge to itself.",
  )
  prob_zero: declared.Derived = atoms.prob_zero(_ATOM)

  def _m_step(
    self, statistics: sufficient_statistics.SufficientStatistics
  ) -> Self:
    start = rate_updates.start(self._arrays(), statistics)
    edges: Any = self._model()[1]
    return self.copy(**start, probs=rate_updates.edge_probs(edges, statistics))
