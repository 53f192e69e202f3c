"""The base class of distributions of a time until absorption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import types
from typing import Any

import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import path_sampling
from phasic.distributions.absorption import renewal_methods
from phasic.distributions.base import chain_events
from phasic.distributions.base import divergences
from phasic.distributions.base import methods
from phasic.distributions.base import reparameterization
from phasic.distributions.base import supports
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array
from phasic.internal.arrays import ArrayLike
from phasic.internal.arrays import Result
from phasic.internal.arrays import Seed
from phasic.math.calls import evaluation
from phasic.math.likelihood import hazards
from phasic.math.m_step import rate_updates
from phasic.math.m_step import sufficient_statistics
from phasic.math.model import operands
from phasic.math.model import value_checks
from phasic.math.model.model_types import Model
from phasic.math.moments import discrete_moments
from phasic.math.moments import discrete_passages
from phasic.math.moments import generating_functions
from phasic.math.moments import moments
from phasic.math.moments import passages
from phasic.math.moments.occupancy import discrete_occupancy
from phasic.math.moments.occupancy import occupancy
from phasic.math.quadrature import information
from phasic.math.quadrature import quadrature_points
from phasic.math.quantiles import quantiles
from phasic.math.quantiles import quantiles_discrete
from phasic.math.sampling import sampling


class AbsorptionTime(
  comparable.Comparable,
  path_sampling.PathSampling,
  renewal_methods.RenewalMethods,
):
  """The time until absorption of a finite Markov chain.

  A subclass says by `_DISCRETE` whether time is counted in steps. Its four
  array parameters are those of the functions of `math`, in their order; or it
  has a `_chain` of its own.
  """

  _DISCRETE = False
  # Whether the density is known to fall.
  _FALLS = False

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Distribution`."""
    super()._keep(parameters)
    self._check_shapes()
    self._batch_shape()  # Which raises where batches do not broadcast.
    self._check_values(self._model)

  def _check_shapes(self) -> None:
    """Raises ValueError unless the shapes of the parameters fit."""

  @property
  def num_phases(self) -> int:
    """The number of phases p."""
    return static.shape(self._chain()[0])[-1]

  @property
  def reparameterization_type(
    self,
  ) -> reparameterization.ReparameterizationType:
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
      return reparameterization.FULLY_REPARAMETERIZED
    return reparameterization.NOT_REPARAMETERIZED

  def _is_reparameterized(self) -> bool:
    if self._DISCRETE:
      return False
    given = "prob_zero" in self.parameter_properties()
    atom = self._arrays()["prob_zero"] if given else None
    known = None if atom is None else static.concrete(atom)
    return atom is None or (known is not None and not onp.any(known))

  def expected_visits(self) -> Result:
    """Computes the expected numbers of visits to the phases, (..., p).

    In continuous time visits are entries, the start counted; in discrete time
    they are the steps made from a phase, alpha (I - T)^-1. They are inf where
    the chain may be caught.

    Example:

      >>> from phasic.distributions import PhaseType
      >>> dist = PhaseType([1.0, 0.0], [[-2.0, 1.0], [1.0, -1.0]])
      >>> [f"{float(x):.6f}" for x in dist.expected_visits()]
      ['2.000000', '1.000000']
    """
    module = discrete_passages if self._DISCRETE else passages
    found = module.expected_visits(*self._model())
    return self._statistic("expected_visits", found)

  def occupancy(self, value: ArrayLike) -> Result:
    """Returns P(in phase j at a time), alpha exp(S t) or alpha T^k, (..., p).

    Probabilities sum up to `survival_function(value)`.

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
    function = discrete_occupancy if self._DISCRETE else occupancy
    return structures.as_result(self._with(function, self._time(value)))

  @property
  def _moments(self) -> types.ModuleType:
    """Returns the module with the functions of moments."""
    return discrete_moments if self._DISCRETE else moments

  def _mean(self) -> Array:
    return self._moments.mean(*self._model())

  def _variance(self) -> Array:
    return self._moments.variance(*self._model())

  def _stddev(self) -> Array:
    return self._moments.stddev(*self._model())

  def _moment(self, k: int) -> Array:
    return self._raw_moments(k)[..., k - 1]

  def _raw_moments(self, k: int) -> Array:
    """Returns the first k raw moments, (..., k)."""
    return self._moments.raw_moments(k, *self._model())

  def _mode(self) -> Array:
    self._missing("mode", "densities of chains may have several tops")

  def _erlang_parts(self) -> tuple[int, Array] | None:
    """Returns the number of stages and their rate of an Erlang distribution.

    The rate is NaN where it is bad. None where it is not known.
    """
    return None

  def _entropy(self) -> Array:
    return information.entropy_of(self._whole_model(), self._DISCRETE)

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    model = comparable.broadcast_start(self._whole_model(), batch)
    return quadrature_points.of_model(model, self._DISCRETE)

  def _cross_entropy(self, other: methods.Methods) -> Array:
    if not isinstance(other, AbsorptionTime):
      return super()._cross_entropy(other)
    comparable.check_same_kind("cross_entropy", self, other)
    return information.compare(
      "cross_entropy",
      self._whole_model(),
      other._whole_model(),
      self._DISCRETE,
    )

  def _quantile(self, value: Array) -> Array:
    module = quantiles_discrete if self._DISCRETE else quantiles
    return self._with(module.quantile, value)

  def _quantile_log_survival(self, value: Array) -> Array:
    module = quantiles_discrete if self._DISCRETE else quantiles
    return self._with(module.quantile_log_survival, value)

  def _quantile_log_cdf(self, value: Array) -> Array:
    module = quantiles_discrete if self._DISCRETE else quantiles
    return self._with(module.quantile_log_cdf, value)

  def _laplace_transform(self, u: Array) -> Array:
    if self._DISCRETE:
      return self._with(generating_functions.discrete_laplace_transform, u)
    return self._with(passages.laplace_transform, u)

  def _moment_generating_function(self, s: Array) -> Array:
    if self._DISCRETE:
      function = generating_functions.discrete_moment_generating_function
      return self._with(function, s)
    return self._with(generating_functions.moment_generating_function, s)

  def _probability_generating_function(self, z: Array) -> Array:
    if not self._DISCRETE:
      self._missing(
        "probability_generating_function",
        "values are not whole numbers: E z^X is laplace_transform(-log(z))",
      )
    return self._with(discrete_passages.probability_generating_function, z)

  def _hazard_function(self, value: Array) -> Array:
    discrete = self._DISCRETE
    function = (
      hazards.discrete_hazard_function if discrete else hazards.hazard_function
    )
    return self._with(function, value)

  def _log_hazard_function(self, value: Array) -> Array:
    discrete = self._DISCRETE
    function = (
      hazards.discrete_log_hazard_function
      if discrete
      else hazards.log_hazard_function
    )
    return self._with(function, value)

  def _with(self, function: Callable[..., Array], argument: Array) -> Array:
    """Returns a function of `math` of this model and an array."""
    initial_probs, matrix, exits, prob_zero = self._model()
    return function(argument, initial_probs, matrix, exits, prob_zero)

  def _support(self) -> supports.Support:
    kind = "nonnegative_integer" if self._DISCRETE else "nonnegative"
    return supports.Support(kind)

  def _chain(self) -> Model:
    """Initial masses, rates (a matrix or edges), exits or None, atom or None.

    As they are now: variables are read.
    """
    arrays = self._arrays()
    initial_probs, matrix, exits, prob_zero = (
      arrays[name] for name in self.parameter_properties()
    )
    return initial_probs, matrix, exits, prob_zero

  def _model(self) -> Model:
    """Returns the chain, checked with `validate_args`."""
    chain = self._chain()
    if self.validate_args:
      names = ("initial_probs", operands.names(self._DISCRETE)[1])
      return value_checks.check_model(*chain, self._DISCRETE, names)
    return chain

  def _whole_model(self) -> Model:
    """Returns the model for methods in which tiny probabilities matter.

    It is NaN where one of them is lost.
    """
    return self._model()

  def _evaluate(self, kind: str, value: Array) -> Array:
    initial_probs, matrix, exits, prob_zero = self._model()
    arguments = (initial_probs, matrix, value, exits, prob_zero)
    return evaluation.value(kind, arguments, discrete=self._DISCRETE)

  def _log_prob(self, value: Array) -> Array:
    return self._evaluate("log_density", value)

  def _prob(self, value: Array) -> Array:
    return self._evaluate("density", value)

  def _log_cdf(self, value: Array) -> Array:
    return self._evaluate("log_cdf", value)

  def _cdf(self, value: Array) -> Array:
    return self._evaluate("cdf", value)

  def _log_survival_function(self, value: Array) -> Array:
    return self._evaluate("log_survival", value)

  def _survival_function(self, value: Array) -> Array:
    return self._evaluate("survival", value)

  def _sample_n(self, n: int, seed: Seed) -> Array:
    return sampling.sample(
      n,
      seed,
      *self._model(),
      discrete=self._DISCRETE,
      differentiable=self._is_reparameterized(),
    )

  def _check_value(self, value: Array) -> Array:
    if self._DISCRETE:
      return value_checks.check_counts(value)
    return value_checks.check_times(value)

  def _batch_shape(self) -> static.Shape:
    return operands.check_shapes(
      *self._chain(), names=operands.names(self._DISCRETE)
    )

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> chain_events.ChainEvents:
    return chain_events.entered(self, lower, upper, entry)

  def _m_step_rates(
    self, statistics: sufficient_statistics.SufficientStatistics
  ) -> Array:
    """Computes the M-step of the parameters of the edges, (..., d)."""
    edges: Any = self._model()[1]
    return rate_updates.edge_parameters(edges, statistics)


@divergences.register_kl(AbsorptionTime, AbsorptionTime)
def kl_divergence(p: AbsorptionTime, q: AbsorptionTime) -> Array:
  """Computes the divergence of two chains, the rule of `register_kl`."""
  comparable.check_same_kind("kl_divergence", p, q)
  return information.compare(
    "kl_divergence", p._whole_model(), q._whole_model(), p._DISCRETE
  )
