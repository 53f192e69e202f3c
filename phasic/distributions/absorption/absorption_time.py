"""The base class of times until absorption, and their dense form."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import TypeVar

import numpy as np

from phasic.distributions.absorption import chain_hooks
from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import conversions
from phasic.distributions.base import method_results
from phasic.distributions.base import samples
from phasic.internal import random
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import (
  Array,
  ArrayLike,
  Integer,
  Result,
  Seed,
  ShapeLike,
)
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.model import chain
from phasic.math.model import edge_rates
from phasic.math.model import operands
from phasic.math.moments import occupancy
from phasic.math.moments import renewals
from phasic.math.sampling import sample_paths


class AbsorptionTime(chain_hooks.ChainHooks):
  """The time until absorption of a finite Markov chain.

  Arguments of methods are times, finite and >= 0, or whole numbers of steps;
  else results are NaN.
  """

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self._chain()[0])[-1]

  def _may_be_zero(self) -> bool:
    return kept_chain.may_be_positive(self)

  @property
  def reparameterization_type(self) -> samples.ReparameterizationType:
    """Whether samples can be differentiated in the parameters.

    Those of continuous distributions can, by implicit reparameterization, if
    `prob_zero` is None or known to be zero: where there may be an atom, and for
    counts, asking for a derivative raises NotImplementedError. Initial
    masses are free coordinates: where they leave a mass at zero, samples
    there have the derivative zero.

    A sample whose quantile is not found, as the kernel cannot evaluate the
    model there (see `diagnose`), is one of simulation, whose derivative is
    NaN; in functions traced by JAX or TensorFlow it is NaN itself.
    """
    if self._is_reparameterized():
      return samples.FULLY_REPARAMETERIZED
    return samples.NOT_REPARAMETERIZED

  def expected_visits(self) -> Result:
    """Computes the expected number of visits to each phase, of shape (..., p).

    In continuous time visits are entries, the start counted; in discrete time
    they are the steps made from a phase, alpha (I - T)^-1. They are inf where
    the chain may be caught.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0, 0.0], [[-2.0, 1.0], [1.0, -1.0]])
      >>> [f"{float(x):.6f}" for x in dist.expected_visits()]
      ['2.000000', '1.000000']
    """
    visits = chain_passages.visits
    rule = chain_passages.sojourn_times if self._DISCRETE else visits
    return self._statistic(
      "expected_visits", chain_calls.value(rule, self._model(), self._DISCRETE)
    )

  def occupancy(self, value: ArrayLike) -> Result:
    """Computes the probabilities of the phases at the given times.

    They are alpha exp(S t), in discrete time alpha T^k, and sum to
    `survival_function(value)`.

    Args:
      value: times t, or whole numbers of steps k, (...); finite and >= 0, else
        results are NaN.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> erlang = PhaseType([1.0, 0.0], [[-1.0, 1.0], [0.0, -1.0]])
      >>> [f"{float(x):.6f}" for x in erlang.occupancy(2.0)]
      ['0.135335', '0.270671']
    """
    value = self._checked("occupancy", value)
    probs = occupancy.evaluate(self._with(value), self._DISCRETE)
    return self._result("occupancy", probs, value)

  def sample_paths(
    self,
    num_jumps: Integer,
    sample_shape: ShapeLike = (),
    seed: Seed | None = None,
  ) -> sample_paths.PhasePaths:
    """Samples paths of the chain; equal seeds give equal paths.

    A path starts in a phase drawn from the initial masses, stays there for an
    exponential time, in discrete time for a geometric number of steps, jumps to
    another phase, and so on until it is absorbed. What it costs grows with the
    number of jumps; `sample` does not run paths.

    Args:
      num_jumps: k, how many jumps are followed, absorption among them.
      sample_shape: an int or a tuple of ints.
      seed: as `sample` takes it.

    Returns:
      A named tuple of arrays of shape sample_shape + batch_shape + (k + 1,).
      `phases`, int32: the first phase and those after each jump; the number of
      phases p stands for absorption. `times`: when they were entered, the time
      of absorption from there on. A phase that is never left is followed by
      itself, at time inf. Where a value of the model breaks a rule phases are
      -1 and times NaN. There are no derivatives.

    Raises:
      TypeError: the seed is None or not of such a type, or a size is no
        integer.
      ValueError: a size is negative, or more than 2^27 jumps are asked for.

    Example: two stages, one after the other.

      >>> from phasic.distributions import Erlang
      >>> paths = Erlang(2, 1.0).sample_paths(3, seed=1)
      >>> [int(phase) for phase in paths.phases]
      [0, 1, 2, 2]

    References:
      D. T. Gillespie, Exact stochastic simulation of coupled chemical
        reactions, J. Phys. Chem. 81, 1977.
    """
    batch = self._batch_shape()
    shape = samples.static_shape(sample_shape)
    jumps = sample_paths.checked_jumps(num_jumps, shape, batch)
    salted = random.sanitize_seed(seed, salt=f"{type(self).__name__} paths")
    paths = sample_paths.sample_paths(
      math.prod(shape), jumps, salted, *self._model(), discrete=self._DISCRETE
    )
    whole = (*shape, *batch, jumps + 1)
    phases, times = (np.reshape(x, whole) for x in paths)
    return sample_paths.PhasePaths(phases, times)

  def renewal_density(self, value: ArrayLike) -> Result:
    """Returns the renewal density at t, broadcast over value and batch.

    Times distributed as X follow each other from zero on; m(t) dt is the
    probability that one of them ends between t and t + dt, and its integral
    the expected number of such ends. In discrete time it is the probability
    that one ends at step n, and one for n = 0. Times of length zero count for
    nothing, or: X is taken given X > 0, with a = alpha / sum(alpha),

        m(t) = a exp((S + s a) t) s,    u(n) = a (T + t a)^(n-1) t.

    With the atom z, m(t) / (1 - z) counts all that ends, those of length zero
    too. m(t) tends to 1 / E[X | X > 0].

    Args:
      value: t or n, (...), finite and >= 0, else the result is NaN.

    Raises:
      TypeError: dtypes differ.
      ValueError: shapes do not fit, or the phases in which the chain may end,
        times all phases, are more than 2^24.

    Example: ends of exponential times come at their rate.

      >>> from phasic.distributions import Erlang
      >>> print(f"{float(Erlang(1, 2.0).renewal_density(7.0)):.6f}")
      2.000000
      >>> print(f"{float(Erlang(2, 2.0).renewal_density(0.25)):.6f}")
      0.632121

    References:
      M. F. Neuts, Matrix-geometric solutions in stochastic models, 1981, sec.
        2.4.
    """
    value = self._checked("renewal_density", value)
    return self._result(
      "renewal_density",
      renewals.renewal_density(self._model(), value, self._DISCRETE),
      value,
    )

  def _mean_residual_life(self, value: Array) -> Array:
    return renewals.mean_residual_life(self._model(), value, self._DISCRETE)

  def _limited_expected_value(self, value: Array) -> Array:
    return renewals.limited_expected_value(self._model(), value, self._DISCRETE)


_T = TypeVar("_T", bound=AbsorptionTime)


def dense_form(distribution: AbsorptionTime, family: Callable[..., _T]) -> _T:
  """Returns the PhaseType or DiscretePhaseType with the same chain.

  Exits are given where edges or exits were: nothing is subtracted.

  Args:
    distribution: the distribution.
    family: the class of the result.

  Raises:
    ValueError: there are more than 4096 phases.
  """
  conversions.warn_of_variables(family.__name__, distribution)
  initial_probs, matrix, exits, prob_zero = distribution._chain()
  method_results.warn_of_representation(distribution, initial_probs)
  discrete = distribution._DISCRETE
  if operands.is_edges(matrix):
    dtype = distribution.dtype
    p = static.shape(initial_probs)[-1]
    matrix, exits = edge_rates.dense(p, edge_rates.convert(matrix, dtype))
    leaving = np.sum(matrix, axis=-1) + exits
    diagonal = -leaving
    if discrete:
      # Edges from a phase to itself are already on the diagonal. What a row and
      # its exit lack to a sum of one is added to it, unless that is only
      # rounding error.
      tolerance = 4 * p * static.finfo_eps(initial_probs)
      diagonal = chain.snap(1.0 - leaving, tolerance)
    matrix = matrix + np.eye(p, dtype=dtype) * diagonal[..., None]
  with user_warnings.derived():
    return family(
      initial_probs,
      matrix,
      exits,
      prob_zero,
      validate_args=distribution.validate_args,
      allow_nan_stats=distribution.allow_nan_stats,
      name=distribution.name,
    )
