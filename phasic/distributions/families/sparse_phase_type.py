"""Phase-type distributions of chains that are given by their edges."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy as onp

from phasic.distributions.absorption import atoms
from phasic.distributions.base import constraints
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import static_indices
from phasic.distributions.families import named_family
from phasic.internal import static
from phasic.internal import structures
from phasic.math.maximization import expected_paths
from phasic.math.maximization import ratios
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model import plausible
from phasic.math.model import value_checks


class Sparse(named_family.NamedFamily):
  """What both kinds of time have in common.

  A subclass names its edges' weights by `_WEIGHTS`, and makes them by `_EDGES`.
  """

  _WEIGHTS: str
  _CONSTRAINT: constraints.Constraint
  _EDGES: Any

  def _store(self, parameters: dict[str, Any]) -> None:
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
      name: static_indices.static_indices(name, parameters[name], end)
      for name, end in (("sources", p), ("targets", p + 1))
    }
    named_family.NamedFamily.__init__(self, {**parameters, **indices})

  @classmethod
  def _parameter_properties(cls) -> parameter_properties.Properties:
    properties = parameter_properties.ParameterProperties
    return {
      "initial_probs": properties(1, "subprobabilities"),
      cls._WEIGHTS: properties(1, cls._CONSTRAINT),
      "prob_zero": properties(0, "probability", optional=True),
    }

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self._parameters["initial_probs"])[-1]

  @property
  def initial_probs(self) -> Any:
    """Masses of the phases at the start, alpha (..., p)."""
    return self._parameters["initial_probs"]

  @property
  def sources(self) -> Any:
    """The phases that edges leave, host integers (m,)."""
    return self._parameters["sources"].values

  @property
  def targets(self) -> Any:
    """Where they lead, host integers (m,); p is absorption."""
    return self._parameters["targets"].values

  @property
  def prob_zero(self) -> Any:
    """The mass at zero, z (...), derived where it was not given."""
    return atoms.shown_mass(self)

  def _check_shapes(self) -> None:
    m = len(self.sources)
    if len(self.targets) != m:
      raise ValueError(
        f"sources have shape {(m,)} and targets {(len(self.targets),)}: both "
        "must be (m,)"
      )
    self._last_size(self._WEIGHTS, m)

  def _chain_of(self, **arrays: Any) -> tuple[Any, Any, Any, Any]:
    edges = self._EDGES(self.sources, self.targets, arrays[self._WEIGHTS])
    atom = arrays["prob_zero"]
    if atom is None:
      atom = np.zeros((), dtype=self.dtype)
    return arrays["initial_probs"], edges, None, atom

  def _is_plausible(self, known: Mapping[str, Any]) -> bool:
    edges = self._EDGES(self.sources, self.targets, known[self._WEIGHTS])
    start, atom = known["initial_probs"], known["prob_zero"]
    atom = onp.zeros(()) if atom is None else atom
    return plausible.is_model(start, edges, None, atom, self._DISCRETE)

  def _model(self) -> tuple[Any, Any, Any, Any]:
    chain = self._chain()
    if not self.validate_args:
      return chain
    names = ("initial_probs", self._WEIGHTS)
    return value_checks.check_model(*chain, self._DISCRETE, names)


@structures.register
class SparsePhaseType(Sparse):
  """The time until absorption of a chain that is given by its edges.

  It is the law of `PhaseType`, of a subgenerator that is never made. Between
  which phases there are edges is structure: distributions that share it share
  a compilation. Closures such as `convolution` and `maximum` are such laws.

  Example: two stages in a row.

    >>> from phasic.distributions import SparsePhaseType
    >>> dist = SparsePhaseType([1.0, 0.0], [0, 1], [1, 2], [2.0, 2.0])
    >>> print(f"{float(dist.mean()):.3f}, {float(dist.prob(1.0)):.6f}")
    1.000, 0.541341

  References:
    M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, ch. 2.
  """

  _WEIGHTS = "rates"
  _CONSTRAINT = constraints.EDGE_RATES
  _EDGES = edge_rates.EdgeRates

  def __init__(
    self,
    initial_probs: Any,
    sources: Any,
    targets: Any,
    rates: Any,
    prob_zero: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "SparsePhaseType",
  ):
    """Makes a batch of distributions.

    Args:
      initial_probs: alpha, (..., p), the masses of the phases at time zero.
      sources: integers (m,), known on the host, the phases that edges leave.
      targets: integers (m,), known on the host, the phases that they lead to;
        p is absorption. Parallel edges add up; an edge from a phase to itself
        changes nothing.
      rates: (..., m), finite and >= 0, per unit of time.
      prob_zero: z, (...); None for zero. Nothing is derived: alpha and z sum
        to one.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: indices are traced or no integers, or dtypes differ, or are
        complex, bool or half precision.
      ValueError: shapes do not fit, an array is empty, or an index is out of
        range; with `validate_args`, a value breaks a rule.
    """
    self._store(
      {
        "initial_probs": initial_probs,
        "sources": sources,
        "targets": targets,
        "rates": rates,
        "prob_zero": prob_zero,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )

  @property
  def rates(self) -> Any:
    """Rates of the edges, (..., m)."""
    return self._parameters["rates"]

  def _maximized(self, paths: expected_paths.ExpectedPaths) -> Any:
    start = ratios.start(self._arrays(), paths)
    return self.copy(**start, rates=self._likeliest(paths))


@structures.register
class SparseDiscretePhaseType(Sparse):
  """The number of steps of a chain that is given by its edges.

  It is the law of `DiscretePhaseType`, of a matrix that is never made; else it
  is what `SparsePhaseType` is. A phase is kept with what its edges leave of
  one, and derivatives are those of this rule: see `math.EdgeProbs`.

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
  _CONSTRAINT = constraints.EDGE_PROBS
  _EDGES = edge_probs.EdgeProbs

  def __init__(
    self,
    initial_probs: Any,
    sources: Any,
    targets: Any,
    probs: Any,
    prob_zero: Any = None,
    validate_args: bool = False,
    allow_nan_stats: bool = True,
    name: str = "SparseDiscretePhaseType",
  ):
    """Makes a batch of distributions.

    Args:
      initial_probs: alpha, (..., p), the masses of the phases at the start.
      sources: integers (m,), known on the host, the phases that edges leave.
      targets: integers (m,), known on the host, the phases that they lead to;
        p is absorption. Parallel edges add up.
      probs: (..., m), >= 0, the probabilities of the edges in a step; those
        from one phase sum to one, or less where there is no edge to itself.
      prob_zero: z, (...); None for zero. Nothing is derived: alpha and z sum
        to one.
      validate_args: whether to check values.
      allow_nan_stats: whether statistics may be NaN.
      name: the distribution's name.

    Raises:
      TypeError: indices are traced or no integers, or dtypes differ, or are
        complex, bool or half precision.
      ValueError: shapes do not fit, an array is empty, or an index is out of
        range; with `validate_args`, a value breaks a rule.
    """
    self._store(
      {
        "initial_probs": initial_probs,
        "sources": sources,
        "targets": targets,
        "probs": probs,
        "prob_zero": prob_zero,
        "validate_args": validate_args,
        "allow_nan_stats": allow_nan_stats,
        "name": name,
      }
    )

  @property
  def probs(self) -> Any:
    """Probabilities of the edges, (..., m)."""
    return self._parameters["probs"]

  def _maximized(self, paths: expected_paths.ExpectedPaths) -> Any:
    start = ratios.start(self._arrays(), paths)
    return self.copy(**start, probs=ratios.edge_probs(self._model()[1], paths))
