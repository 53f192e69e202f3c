"""Constraints: the sets of valid values of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy as onp

from phasic.distributions.base import bijectors
from phasic.distributions.base import entries as entries_lib
from phasic.distributions.base import structure
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.model import edge_probs
from phasic.math.model import edge_rates
from phasic.math.model.edge_rates import Edges
from phasic.math.model.value_rules import check
from phasic.math.model.value_rules import check_sums
from phasic.math.numeric import exact_sums

Broken = tuple[onp.ndarray, str]
# An array of the backend, or a NumPy array on the host.
_X = TypeVar("_X", bound=Array | onp.ndarray)


class Constraint:
  """The set of valid values of a parameter; in this base class, numbers >= 0.

  Attributes:
    name: by which `ParameterProperties` and the kernel's checks know it.
    exits: the name of the parameter that stands beside a matrix.
    is_of_graph: whether it constrains a graph's parameters, which may be given
      by their names.
    numpyro: the name of NumPyro's constraint; None if that has none.
    is_whole: whether NumPyro's is of a vector, and not of each number.
    tfp: the name of TensorFlow Probability's bijector; None if that has none.
    by_differences: whether a fit moves what each is above the one before.
    beside: the name of a parameter with which it sums to one.
    total: the sum of the parameter's last axis and what `exits` or `beside` names.
    may_be_zero: whether zero is a valid value.
    edges: what may be given in the place of a matrix; None for nothing.
  """

  name = "nonnegative"
  exits = ""
  is_of_graph = False
  numpyro: str | None = "nonnegative"
  is_whole = False
  tfp: str | None = "Exp"
  by_differences = False
  beside = ""
  total = 1.0
  may_be_zero = True
  edges: type[Edges] | None = None
  _rule = "it must be >= 0 and finite"
  _bijector: type[bijectors.Bijector] = bijectors.Exp

  def __repr__(self) -> str:
    return repr(self.name)

  def __eq__(self, other: object) -> bool:
    # A constraint equals its name.
    if isinstance(other, str):
      return self.name == other
    return type(self) is type(other)

  def __hash__(self) -> int:
    return hash(self.name)

  def bijector(self, event_ndims: int) -> bijectors.Bijector:
    """Returns a bijector from real numbers onto the interior of the set."""
    return self._bijector(event_ndims)

  def check(self, name: str, x: Array) -> Array:
    """Checks the values of a parameter and returns it; messages use `name`."""
    return check(name, x, self.holds(x), self._rule)

  def holds(self, x: _X) -> _X:
    """Returns which numbers are in the set, on the host or not."""
    return self._holds(x, self.may_be_zero)

  def _holds(self, x: _X, may_be_zero: bool) -> _X:
    """Returns which numbers are in the set, to which zero may be added."""
    good = (x >= 0) if may_be_zero else (x > 0)
    return good & (x < float("inf"))  # type: ignore[return-value]

  def broken(self, x: onp.ndarray, event_ndims: int) -> Broken:
    """Returns a mask of invalid parameters in a batch, and the broken rule.

    Zero is not reported, as it causes no NaN.

    Args:
      x: its values, (..., event), on the host.
      event_ndims: the number of dimensions of an event.
    """
    axes = tuple(range(-event_ndims, 0))
    return ~onp.all(self._holds(x, True), axis=axes), self._rule

  def entries(
    self, values: onp.ndarray, names: Sequence[str], place: entries_lib.Place
  ) -> entries_lib.Entries:
    """Returns the independent entries, the numbers that a fit changes.

    Args:
      values: the parameter's, on the host.
      names: of its entries.
      place: where it is.
    """
    kind = entries_lib.Kind(may_be_zero=self.may_be_zero)
    return entries_lib.same(values, names, kind)

  def of_entries(self, x: Array, others: Mapping[str, Array]) -> Array:
    """Computes the parameter from its entries, an array of the same shape.

    Args:
      x: the entries.
      others: the values of the other parameters, by name.
    """
    return x


class _Positive(Constraint):
  """Numbers > 0."""

  name = "positive"
  numpyro = "positive"
  may_be_zero = False
  _rule = "it must be > 0 and finite"


class _Increasing(_Positive):
  """Numbers > 0 in ascending order."""

  name = "increasing"
  numpyro = "ascending"
  is_whole = True
  tfp = None
  by_differences = True
  _may_be_equal = True
  _bijector = bijectors.Increasing

  def check(self, name: str, x: Array) -> Array:
    x = super().check(name, x)
    before = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    return check(name, x, x >= before, "they must be ascending")

  def entries(
    self, values: onp.ndarray, names: Sequence[str], place: entries_lib.Place
  ) -> entries_lib.Entries:
    return entries_lib.differences(values, names, self._may_be_equal)

  def of_entries(self, x: Array, others: Mapping[str, Array]) -> Array:
    return np.cumsum(x, axis=-1)


class _StrictlyIncreasing(_Increasing):
  """Numbers > 0, each above the one before."""

  name = "strictly increasing"
  _may_be_equal = False

  def check(self, name: str, x: Array) -> Array:
    x = super().check(name, x)
    steps = x[..., 1:] > x[..., :-1]
    rises = np.concatenate([x[..., :1] > 0, steps], axis=-1)
    return check(name, x, rises, "each must be above the one before")


class _Probability(Constraint):
  """Numbers in [0, 1]; a fit keeps sum(initial_probs) + prob_zero = 1."""

  name = "probability"
  numpyro = "unit_interval"
  tfp = "Sigmoid"
  _rule = "it must be in [0, 1]"
  _bijector = bijectors.Sigmoid

  def _holds(self, x: _X, may_be_zero: bool) -> _X:
    good = (x >= 0) if may_be_zero else (x > 0)
    return good & (x <= 1)  # type: ignore[return-value]

  def entries(
    self, values: onp.ndarray, names: Sequence[str], place: entries_lib.Place
  ) -> entries_lib.Entries:
    beside = place.owner.parameter_properties()
    if place.name == "prob_zero" and "initial_probs" in beside:
      return entries_lib.same(values, names, entries_lib.Kind(place.start))
    if place.name == "exit_probs":
      kinds = [entries_lib.Kind(place.step(i)) for i in range(len(names))]
      return entries_lib.Entries(values, names, kinds, {})
    kinds = [entries_lib.Kind(x, may_be_zero=self.may_be_zero) for x in names]
    return entries_lib.Entries(values, names, kinds, dict.fromkeys(names, True))


class _PositiveProbability(_Probability):
  """Numbers in (0, 1]."""

  name = "positive probability"
  may_be_zero = False

  def check(self, name: str, x: Array) -> Array:
    return check(name, x, self._holds(x, False), "it must be in (0, 1]")


class _Probabilities(Constraint):
  """Masses >= 0 whose sum is one."""

  name = "probabilities"
  numpyro: str | None = "simplex"
  tfp: str | None = "SoftmaxCentered"
  is_whole = True
  _sum_rule = "1"
  _bijector: type[bijectors.Bijector] = bijectors.SoftmaxCentered

  def check(self, name: str, x: Array) -> Array:
    x = super().check(name, x)
    sums = exact_sums.compensated_sum(x)
    good = self._fits(sums - 1.0, sum_tolerance(x))
    rule = f"this sum must be {self._sum_rule} within 4 p eps"
    return check_sums(f"sum({name})", x, good, rule, sums)

  def broken(self, x: onp.ndarray, event_ndims: int) -> Broken:
    bad, _ = super().broken(x, event_ndims)
    good: onp.ndarray = self._fits(onp.sum(x, axis=-1) - 1.0, sum_tolerance(x))
    return bad | ~good, f"they must be >= 0, and their sum {self._sum_rule}"

  def _fits(self, excess: _X, tolerance: float) -> _X:
    """Returns whether sums are valid that exceed one by `excess`."""
    is_low = excess <= tolerance
    return is_low if self.beside else is_low & (excess >= -tolerance)  # type: ignore[return-value]

  def entries(
    self, values: onp.ndarray, names: Sequence[str], place: entries_lib.Place
  ) -> entries_lib.Entries:
    # The masses and the parameter beside them, such as `prob_zero`, are summed
    # together: so their entries are in one group.
    group = place.start if self.beside else f"{place.path}{place.name}"
    given = place.owner.parameters.get(self.beside)
    may_lack = bool(self.beside) and given is None
    eps = static.finfo_eps(place.owner.dtype)
    return entries_lib.masses(values, names, group, may_lack, eps)


class _Subprobabilities(_Probabilities):
  """Masses >= 0 whose sum is at most one."""

  name = "subprobabilities"
  numpyro = None
  tfp = None
  beside = "prob_zero"
  _sum_rule = "<= 1"
  _bijector = bijectors.SoftmaxWithSlack


class _Matrix(Constraint):
  """Matrices between phases, in whose place edges may be given."""

  numpyro = None
  tfp = None
  # Returns the entries, given the source and the target phase of each.
  _between: Callable[..., entries_lib.Entries]

  def entries(
    self, values: onp.ndarray, names: Sequence[str], place: entries_lib.Place
  ) -> entries_lib.Entries:
    edges = place.owner.parameters[place.name]
    if not structure.is_edges(edges):
      ends = onp.indices(onp.shape(values))
    elif edges.coefficients is None:
      ends = onp.stack([onp.asarray(edges.sources), onp.asarray(edges.targets)])
    else:
      # Edges with coefficients have weights that are linear in parameters.
      # These parameters are the entries, and they are positive.
      return entries_lib.same(values, names, entries_lib.Kind())
    return self._between(values, names, ends, place)


class _Subtransition(_Matrix):
  """Matrices of probabilities whose rows sum to at most one."""

  name = "subtransition"
  exits = "exit_probs"
  edges = edge_probs.EdgeProbs
  _bijector = bijectors.SoftmaxWithSlack
  _between = staticmethod(entries_lib.steps)


class _Subgenerator(_Matrix):
  """Subgenerators: off-diagonal rates >= 0, and row sums at most zero."""

  name = "subgenerator"
  exits = "exit_rates"
  total = 0.0
  edges = edge_rates.EdgeRates
  _bijector = bijectors.Subgenerator
  _between = staticmethod(entries_lib.rates)

  def of_entries(self, x: Array, others: Mapping[str, Array]) -> Array:
    # If exits are given, no method reads the diagonal. It is set for users who
    # read the matrix.
    total = np.sum(x, axis=-1) + others[self.exits]
    eye = np.eye(static.shape(x)[-1], dtype=static.dtype_name(x))
    return np.where(eye > 0, 0.0 - total[..., None], x)


class _Parameters(Constraint):
  """Parameters of a graph for which its weights are >= 0."""

  name = "parameters"
  is_of_graph = True
  numpyro = "real"


PROBABILITIES = _Probabilities()
_NAMED = {
  x.name: x
  for x in (
    Constraint(),
    _Positive(),
    _Parameters(),
    _Probability(),
    _PositiveProbability(),
    _Subprobabilities(),
    PROBABILITIES,
    _Increasing(),
    _StrictlyIncreasing(),
    _Subtransition(),
    _Subgenerator(),
  )
}


def named(name: str) -> Constraint:
  """Returns the constraint that has the given name.

  Raises:
    ValueError: there is none.
  """
  found = _NAMED.get(name) if isinstance(name, str) else None
  if found is None:
    raise ValueError(
      f"constraint is {raw_arguments.shown(name)}: it must be one of "
      f"{', '.join(_NAMED)}"
    )
  return found


def sum_tolerance(probs: Array | onp.ndarray) -> float:
  """Returns the tolerance for the sum of p probabilities, 4 p eps."""
  return 4 * static.shape(probs)[-1] * static.finfo_eps(probs)
