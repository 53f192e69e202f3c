"""Implements the methods of absorption times by functions of the chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as onp

from phasic.distributions.absorption import comparable
from phasic.distributions.absorption import kept_chain
from phasic.distributions.base import hooks
from phasic.distributions.base import method_results
from phasic.distributions.base import observed_events
from phasic.distributions.base import samples
from phasic.distributions.base import structure
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike, SanitizedSeed
from phasic.math.calls import evaluation
from phasic.math.elimination import chain_calls
from phasic.math.elimination import chain_passages
from phasic.math.elimination import exponential_tilting
from phasic.math.likelihood import diagnosis
from phasic.math.likelihood import hazards
from phasic.math.m_step import rate_updates
from phasic.math.model import chain as chain_lib
from phasic.math.model import function_kinds
from phasic.math.model import operands
from phasic.math.model import value_checks
from phasic.math.model.model_types import Model, TimedModel
from phasic.math.moments import generating_functions
from phasic.math.moments import moments
from phasic.math.quadrature import information
from phasic.math.quadrature import quadrature_points
from phasic.math.quantiles import quantiles
from phasic.math.sampling import sampling

# One elimination computes both of these statistics, in this order.
_SHARED = (chain_calls.MEAN, chain_calls.VARIANCE)


class ChainHooks(comparable.Comparable, kept_chain.KeptChain):
  """Implements the methods of `AbsorptionTime` with functions of the chain.

  A subclass has four array parameters, those of the functions of `math` in
  their order; or it overrides `_derived_chain`.
  """

  # A cache for a chain whose arrays never change: these arrays, and the mean
  # and variance of the chain.
  _moments: ClassVar[tuple[tuple[object, ...], tuple[Array, Array]] | None] = (
    None
  )
  # Whether the initial masses and a given mass at zero are free parameters,
  # whose sum may differ from one.
  _FREE_START = True
  # Whether the density of every distribution of this class is nonincreasing.
  _FALLS = False

  def _keep(self, parameters: Mapping[str, object]) -> None:
    """Stores and checks the parameters, see `Parameterized`."""
    super()._keep(parameters)
    self._check_shapes()
    # This call raises ValueError if the batches of parameters do not broadcast.
    self._batch_shape()
    self._check_values(self._model)

  def _check_shapes(self) -> None:
    """Raises ValueError unless the shapes of the parameters fit."""
    names = operands.argument_names(self._DISCRETE)
    operands.check_shapes(*self._derived_chain(), names=names)

  def _derived_chain(self) -> Model:
    initial_probs, matrix, exits, prob_zero = self._arrays().values()
    return initial_probs, matrix, exits, prob_zero

  def _checked_chain(self) -> Model:
    names = ("initial_probs", operands.argument_names(self._DISCRETE)[1])
    return value_checks.check_model(*self._chain(), self._DISCRETE, names)

  def _model_of_data(self) -> Model:
    """Returns the chain, with NaN for masses that do not sum to one.

    Log likelihoods of data use it. Other functions follow their formulas in
    free coordinates, as derivatives do.
    """
    initial_probs, matrix, exits, prob_zero = self._model()
    if self._FREE_START:
      initial_probs = chain_lib.proper_masses(initial_probs, prob_zero)
    return initial_probs, matrix, exits, prob_zero

  def _whole_model(self) -> Model:
    """Returns the chain, with NaN for a mass at zero that underflowed.

    Entropies and divergences use it, as they contain the logarithm of this
    mass.
    """
    return self._model()

  def _with(self, argument: Array) -> TimedModel:
    """Returns the arguments of functions of a value and this chain."""
    initial_probs, matrix, exits, prob_zero = self._model()
    return initial_probs, matrix, argument, exits, prob_zero

  def _check_value(self, value: Array) -> Array:
    if self._DISCRETE:
      return value_checks.check_counts(value)
    return value_checks.check_times(value)

  def _support(self) -> samples.Support:
    whole = "nonnegative_integer" if self._DISCRETE else "nonnegative"
    return samples.Support(whole)

  def _is_reparameterized(self) -> bool:
    if self._DISCRETE:
      return False
    given = "prob_zero" in self.parameter_properties()
    atom = self._arrays()["prob_zero"] if given else None
    known = None if atom is None else static.concrete(atom)
    return atom is None or (known is not None and not onp.any(known))

  def _sample_n(self, n: int, seed: SanitizedSeed) -> Array:
    moves = self._is_reparameterized()
    return sampling.sample(n, seed, self._model(), self._DISCRETE, moves)

  def _evaluate(self, kind: str, value: Array) -> Array:
    return evaluation.value_of_arrays(kind, self._with(value), self._DISCRETE)

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

  def _hazard_function(self, value: Array) -> Array:
    return hazards.evaluate(self._with(value), self._DISCRETE)

  def _log_hazard_function(self, value: Array) -> Array:
    return hazards.evaluate_log(self._with(value), self._DISCRETE)

  def _mean(self) -> Array:
    return self._spread(chain_calls.MEAN)

  def _variance(self) -> Array:
    return self._spread(chain_calls.VARIANCE)

  def _stddev(self) -> Array:
    return self._spread(chain_calls.STDDEV)

  def _spread(self, option: str) -> Array:
    model = self._model()
    may_keep = self._kept is not None or not self._DERIVES
    if may_keep and option in _SHARED and chain_calls.shares_elimination(model):
      arrays = structure.chain_arrays(model)
      if structures.are_lasting(arrays):
        return self._mean_and_variance(model, arrays)[_SHARED.index(option)]
    return chain_calls.spread_of_arrays(option, model, self._DISCRETE)

  def _mean_and_variance(
    self, model: Model, arrays: tuple[object, ...]
  ) -> tuple[Array, Array]:
    """Computes both for a chain that never changes, once."""
    kept = self._moments
    if (
      kept is not None
      and structure.are_same(kept[0], arrays)
      and structures.are_lasting(kept[1])
    ):
      return kept[1]
    moments = chain_calls.mean_and_variance(model, self._DISCRETE)
    if structures.make_lasting(moments):
      object.__setattr__(self, "_moments", (arrays, moments))
    return moments

  def _moment(self, k: int) -> Array:
    return self._raw_moments(k)[..., k - 1]

  def _raw_moments(self, k: int) -> Array:
    """Returns the first k raw moments, (..., k)."""
    return moments.power(self._model(), k, self._DISCRETE)

  def _mode(self) -> Array:
    self._missing("mode", "densities of chains may have several maxima")

  def _erlang_parts(self) -> tuple[int, Array] | None:
    """Returns the number of stages and the rate of an Erlang distribution.

    The rate is NaN where it is invalid. None means that the distribution is not
    known to be an Erlang distribution.
    """
    return None

  def _entropy(self) -> Array:
    return information.entropy_of(self._whole_model(), self._DISCRETE)

  def _nodes(self, batch: static.Shape) -> quadrature_points.QuadraturePoints:
    model = comparable.broadcast_start(self._whole_model(), batch)
    return quadrature_points.model_points(model, self._DISCRETE)

  def _cross_entropy(self, other: hooks.Hooks) -> Array:
    if not isinstance(other, ChainHooks):
      return super()._cross_entropy(other)
    comparable.check_same_kind("cross_entropy", self, other)
    return information.compare(
      "cross_entropy",
      self._whole_model(),
      other._whole_model(),
      self._DISCRETE,
    )

  def _quantile(self, value: Array) -> Array:
    return self._inverse("cdf", value)

  def _quantile_log_survival(self, value: Array) -> Array:
    return self._inverse("log_survival", value)

  def _quantile_log_cdf(self, value: Array) -> Array:
    return self._inverse("log_cdf", value)

  def _inverse(self, form: str, value: Array) -> Array:
    """Computes quantiles of probabilities in a form of `kernel_ops`."""
    return quantiles.evaluate_arrays(form, self._with(value), self._DISCRETE)

  def _laplace_transform(self, u: Array) -> Array:
    rule = exponential_tilting.laplace
    return chain_calls.value(rule, self._with(u), self._DISCRETE, u=0)

  def _moment_generating_function(self, s: Array) -> Array:
    return generating_functions.evaluate(self._with(s), self._DISCRETE)

  def _probability_generating_function(self, z: Array) -> Array:
    if not self._DISCRETE:
      self._missing(
        "probability_generating_function",
        "values are not whole numbers: E z^X is laplace_transform(-log(z))",
      )
    return chain_calls.value(
      chain_passages.generating, self._with(z), True, z=0
    )

  def _late(self) -> onp.ndarray:
    # One step; in continuous time so early a time that the functions are cheap
    # for large chains, too.
    return onp.asarray(1.0 if self._DISCRETE else 1e-30)

  def _reasons(self, value: ArrayLike, method: str) -> onp.ndarray:
    """Returns why a method gives NaN at each value, "ok" where it does not."""
    initial_probs, matrix, exits, prob_zero = self._chain()
    value = self._converted(value)
    return diagnosis.reasons(
      function_kinds.kind_of(method),
      (initial_probs, matrix, value, exits, prob_zero),
      discrete=self._DISCRETE,
    )

  def _chain_events(
    self, lower: Array, upper: Array | None, entry: Array | None
  ) -> observed_events.ChainEvents:
    return observed_events.entered(self, lower, upper, entry)

  def _m_step_rates(
    self, statistics: rate_updates.SufficientStatistics
  ) -> Array:
    """Computes the M-step for the parameters of the edges, (..., d)."""
    edges = self._model()[1]
    assert operands.is_edges(edges)  # The families that use it have edges.
    return rate_updates.edge_parameters(edges, statistics)


@method_results.register_kl(ChainHooks, ChainHooks)
def kl_divergence(p: ChainHooks, q: ChainHooks) -> Array:
  """Computes the Kullback-Leibler divergence between two chains."""
  comparable.check_same_kind("kl_divergence", p, q)
  return information.compare(
    "kl_divergence", p._whole_model(), q._whole_model(), p._DISCRETE
  )
