"""Regressions: distributions whose time, intensity or parameters have effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import copy
import math
from typing import Any, Self

import numpy as np
import numpy as onp

from phasic import distributions as distributions_lib
from phasic import inference
from phasic.internal import raw_arguments
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike
from phasic.internal.tables import TableLike
from phasic.regression import designs
from phasic.regression import layouts
from phasic.regression import parts
from phasic.regression import predictors
from phasic.regression import reading
from phasic.regression import specs
from phasic.regression import terms

_REAL = (-math.inf, math.inf)


class Regression(inference.LikelihoodModel):
  """A distribution that depends on covariates, for `inference.fit_mle`.

  A linear predictor eta = x b of the covariates x of a subject acts on

      time: T exp(eta), so that positive coefficients b mean longer lives
        (accelerated failure times, as in survreg of R and in lifelines);
      intensity: all rates of the chain are multiplied by exp(eta), so that
        positive coefficients mean shorter lives. Of a homogeneous chain this is
        the effect on time with the other sign, of MatrixWeibull that effect
        times minus the concentration. After other time changes, such as that
        of MatrixGompertz, it is another model. With one phase it has
        proportional hazards;
      initial_probs: the probability that phase i is the first one is
        proportional to alpha_i exp(eta_i), with eta = 0 for the first phase that
        may be the first (a mixture of experts, with logits);
      params: a parameter of the distribution or of its graph, by name:
        logarithms of rates and other positive numbers, log odds of
        probabilities.

  There are no intercepts: the parameters of the distribution are fitted, too,
  and are those of a subject whose covariates are all zero, or at the reference
  level. With `intercept` there is one for time; then hold the time scale of the
  distribution, by `fixed` of `fit_mle`, since the two are not identified
  together.

  Each effect is a formula, "age + C(sex)", which needs formulaic and pandas; a
  list of names of columns; or an array (n,) or (n, k). See `covariates.design`.
  Coefficients are named by effect and column: "time[age]", "intensity[age]",
  "initial_probs[age, 1]" for phase 1, "log illness[dose]", "logit p[dose]".

  `fit_mle` starts from the fit without covariates. All subjects share one call
  of the kernel for effects on time and on initial probabilities; others need a
  chain for each row of covariates, and rows that are equal share one.

  Example: two drugs; the second one lets patients live longer.

    >>> from phasic import inference
    >>> from phasic.distributions import Erlang
    >>> from phasic.regression import Regression
    >>> table = {"drug": [0, 0, 0, 1, 1, 1]}
    >>> data = inference.Observations([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    >>> fit = inference.fit_mle(
    ...   Regression(Erlang(1, 1.0), time=["drug"]), data, covariates=table
    ... )
    >>> print(f"{float(fit.parameters['time'][0]):.4f}")  # log(2)
    0.6931

  References:
    J. P. Klein, M. L. Moeschberger, Survival analysis, 2003, ch. 12.
    M. Bladt, J. Yslas, Phase-type mixture-of-experts regression for loss
      severities, Scand. Actuar. J., 2023.
    H. Albrecher, M. Bladt, M. Bladt, J. Yslas, Mortality modeling and regression
      with matrix distributions, Insur. Math. Econ. 107, 2022.
  """

  def __init__(
    self,
    distribution: distributions_lib.Distribution,
    *,
    time: reading.Effect | None = None,
    intensity: reading.Effect | None = None,
    initial_probs: reading.Effect | None = None,
    params: Mapping[str, reading.Effect] | None = None,
    intercept: bool = False,
    strata: str | ArrayLike | None = None,
    offsets: Mapping[str, str | ArrayLike] | None = None,
    penalizer: float = 0.0,
  ):
    """Makes a regression.

    Args:
      distribution: the distribution at covariates zero, where a fit starts.
      time: the effect on time.
      intensity: the effect on intensities.
      initial_probs: the effect on initial probabilities.
      params: effects on parameters, by name: "rate", "rates[1]", or the name of
        a parameter of a graph.
      intercept: whether the effect on time has an intercept.
      strata: the name of a column, or labels (n,): each stratum has a
        distribution of its own, and all have the same effects.
      offsets: terms of linear predictors without a coefficient, by name of the
        effect: a column, or an array (n,).
      penalizer: c >= 0; a fit subtracts c / 2 times the sum of squares of all
        coefficients, of standardized columns, from the mean log likelihood.

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: there is no effect, or the distribution cannot have one.
    """
    raw_arguments.check_flags(intercept=intercept)
    effects = {
      "time": time,
      "intensity": intensity,
      "initial_probs": initial_probs,
    }
    self._spec = specs.spec_of(
      distribution, effects, params, intercept, strata, offsets, penalizer
    )
    self._read: designs.Columns | None = None

  def __repr__(self) -> str:
    effects = ", ".join(f"{k}={x!r}" for k, x in self._spec.effects.items())
    return f"Regression({self._spec.distribution!r}, {effects})"

  @property
  def _columns(self) -> designs.Columns:
    """The columns that were read with the data."""
    if self._read is None:
      raise ValueError(
        "the regression has no covariates yet: fit_mle(regression, observations, "
        "covariates=table), or with_data(observations, table), reads them"
      )
    return self._read

  @property
  def parameters(self) -> reading.Parameters:
    """The distribution, and coefficients of zero, by name of the effect."""
    columns, spec = self._columns, self._spec
    start: dict[str, Any] = dict.fromkeys(
      self._distribution_names, spec.distribution
    )
    for name, names in columns.names.items():
      shape: tuple[int, ...] = (len(names),)
      if name == "initial_probs":
        shape = (*shape, len(spec.others))
      zeros = onp.zeros(shape)
      start[name] = structures.as_array(zeros, spec.distribution.dtype, name)
    return start

  @property
  def _distribution_names(self) -> list[str]:
    if self._spec.strata is None:
      return [specs.BASE]
    return [f"{specs.BASE}[{level}]" for level in self._columns.levels]

  @property
  def bounds(self) -> Mapping[str, Sequence[float]]:  # type: ignore[override]
    """The bounds of the coefficients, which are real."""
    return dict.fromkeys(self._columns.names, _REAL)

  @property
  def labels(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
    """The names of the coefficients of each effect."""
    return {
      name: [f"{x}, {i}" for x in names for i in self._spec.others]
      if name == "initial_probs"
      else names
      for name, names in self._columns.names.items()
    }

  @property
  def scales(self) -> Mapping[str, onp.ndarray]:  # type: ignore[override]
    """Sizes of coefficients, one over the standard deviation of a column."""
    return {name: 1.0 / x for name, x in self._spreads(1.0).items()}

  def _spreads(self, intercept: float) -> dict[str, onp.ndarray]:
    """Returns standard deviations of columns, in the shapes of coefficients."""
    spreads: dict[str, onp.ndarray] = {}
    for name, x in self._columns.spreads.items():
      if name == "time" and self._spec.intercept:
        x = onp.concatenate([onp.full(1, intercept), x[1:]])
      if name == "initial_probs":
        x = x[:, None] * onp.ones(len(self._spec.others))
      spreads |= {name: x}
    return spreads

  def with_data(
    self, data: inference.Observations, covariates: TableLike | None
  ) -> tuple[Self, designs.RegressionData]:
    """Returns the regression and its data, with covariates read.

    Args:
      data: (n,), the observed times.
      covariates: a table with a row for each of them; None where all effects
        are arrays.

    Raises:
      TypeError: `data` are not `Observations`.
      ValueError: a column is missing, constant or collinear, has a missing
        value, or numbers of rows differ.
    """
    columns, laid_out = designs.read(self._spec, data, covariates)
    bound = copy.copy(self)
    # Functions that are compiled for other data are not kept.
    vars(bound).pop("_kept", None)
    vars(bound).update(_read=columns)
    return bound, laid_out

  def start(
    self, data: designs.RegressionData, options: Mapping[str, object]
  ) -> reading.Parameters:
    """Returns the fits without covariates, with coefficients of zero."""
    parameters = dict(self.parameters)
    for name, part in zip(self._distribution_names, data.parts, strict=True):
      parameters[name] = self._fit_of_part(name, part, options)
    return parameters

  def _fit_of_part(
    self, name: str, part: layouts.Part, options: Mapping[str, object]
  ) -> distributions_lib.Distribution:
    """Fits the distribution to one stratum, without covariates."""
    given: Any = options
    columns = self._columns.names
    coefficients = {*columns} | {
      f"{effect}[{label}]"
      for effect, labels in self.labels.items()
      for label in labels
    }

    def within(names: Sequence[str]) -> list[str]:
      kept = []
      for x in names:
        if x in coefficients or not isinstance(x, str):
          continue
        if name != specs.BASE and x.startswith(f"{name}."):
          kept.append(x.removeprefix(f"{name}."))
        elif not x.startswith(f"{specs.BASE}["):
          kept.append(x)
      return kept

    bounds = given.get("bounds") or {}
    keys = {x: within([x]) for x in bounds}
    fit = inference.fit_mle(
      self._spec.distribution,
      layouts.flat(part),
      fixed=within(given.get("fixed", ())),
      tied=[y for x in given.get("tied", ()) if (y := within(x))],
      free=within(given.get("free", ())),
      bounds={inner[0]: bounds[x] for x, inner in keys.items() if inner},
    )
    return fit.distribution

  def log_likelihood_terms(
    self, parameters: reading.Parameters, data: designs.RegressionData
  ) -> Array:
    """Computes the log likelihood of each observation, (n,).

    It is differentiable, and can be compiled and mapped over parameters, e.g.
    for samplers of other packages.

    Args:
      parameters: distributions and coefficients, in the form of `parameters`.
      data: what `with_data` returned.

    Example: a normal prior for the coefficient, for a sampler.

      >>> import numpy as np
      >>> from phasic import inference
      >>> from phasic.distributions import Erlang
      >>> from phasic.regression import Regression
      >>> regression, data = Regression(Erlang(1, 1.0), time=["x"]).with_data(
      ...   inference.Observations([1.0, 2.0, 5.0]), {"x": [0.0, 0.0, 1.0]}
      ... )
      >>> def log_posterior(rate, b):
      ...   parameters = {"distribution": Erlang(1, rate), "time": b[None]}
      ...   terms = regression.log_likelihood_terms(parameters, data)
      ...   return np.sum(terms) - b**2 / 2.0
      >>> print(f"{log_posterior(np.asarray(0.5), np.asarray(1.0)):.4f}")
      -5.9991
    """
    by_part = []
    for name, part in zip(self._distribution_names, data.parts, strict=True):
      dist = parameters[name]
      effects = predictors.effects_of(
        self._spec, parameters, dist, part.designs, part.offsets
      )
      values = terms.log_likelihood_terms(dist, effects, part.observations)
      by_part.append(layouts.in_order(values, part))
    order: Any = data.order
    if order is None:
      return by_part[0]
    return np.take(np.concatenate(by_part, axis=-1), order, axis=-1)

  def penalty(self, parameters: reading.Parameters) -> ArrayLike:
    """Computes c / 2 times the sum of squares of standardized coefficients."""
    total: Any = 0.0
    if self._spec.penalizer:
      dtype = self._spec.distribution.dtype
      for name, spread in self._spreads(0.0).items():
        scaled = parameters[name] * structures.cast(onp.asarray(spread, dtype))
        total = total + np.sum(scaled * scaled)
    return self._spec.penalizer / 2.0 * total

  def weights(self, data: designs.RegressionData) -> ArrayLike | None:
    """Returns the weights of the observations."""
    return data.weights

  def observations(
    self, data: designs.RegressionData
  ) -> inference.Observations:
    """Returns the observed times, without weights."""
    return designs.observations(data)

  def distributions(
    self, parameters: reading.Parameters, data: designs.RegressionData
  ) -> distributions_lib.Distribution:
    """Returns a batch with the distribution of each observed subject."""
    return self._batch(parameters, designs.rows_of(data))

  def with_observations(
    self, data: designs.RegressionData, observations: inference.Observations
  ) -> designs.RegressionData:
    """Returns the data of the same subjects with other times."""
    return designs.with_observations(self._spec, data, observations)

  def predict(
    self, parameters: reading.Parameters, covariates: TableLike | None
  ) -> distributions_lib.Distribution:
    """Returns a batch of distributions, one for each row of a table.

    Args:
      parameters: in the form of `parameters`.
      covariates: a table with the columns of all effects, strata and offsets.
        For effects that are arrays it has arrays by the name of the effect.
    """
    if covariates is None:
      raise TypeError(
        "covariates is None: predictions need a table with a row for each subject"
      )
    rows = designs.at(self._spec, self._columns, covariates)
    return self._batch(parameters, rows)

  def _batch(
    self, parameters: reading.Parameters, rows: designs.Rows
  ) -> distributions_lib.Distribution:
    """Returns the distributions of subjects."""
    dists = [parameters[name] for name in self._distribution_names]
    dist = dists[0]
    if self._spec.strata is not None:
      dist = parts.taken(dists, rows.stratum)
    effects = predictors.effects_of(
      self._spec, parameters, dist, rows.matrices, rows.offsets
    )
    return terms.with_effects(dist, effects)
