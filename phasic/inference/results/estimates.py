"""The base of all fits: errors, intervals, criteria and a summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
import math
from typing import TypeVar

import numpy as onp

from phasic.inference.data import likelihoods
from phasic.inference.data import observations as observations_lib
from phasic.inference.results import assessment
from phasic.inference.results import confidence
from phasic.inference.results import quantities
from phasic.inference.results import records
from phasic.inference.results import summaries
from phasic.inference.results import uncertainty as uncertainty_lib
from phasic.internal import late_names
from phasic.internal.arrays import ArrayLike
from phasic.internal.tables import TableLike

# The attributes that are computed on first use, which pickles do not have.
COMPUTED = ("_form", "_entries", "_likelihood", "_bootstrap", "uncertainty")


_FitT = TypeVar("_FitT", bound="Estimates")


class Estimates:
  """Estimated parameters, and the log likelihood that they maximize."""

  log_likelihood: float
  record: records.Record
  at_bounds: Sequence[str]

  @property
  def _form(self) -> uncertainty_lib.Form:
    """The map of the entries that were fitted."""
    raise NotImplementedError

  @property
  def _entries(self) -> onp.ndarray:
    """The values of the entries that were fitted."""
    raise NotImplementedError

  @property
  def _likelihood(self) -> likelihoods.Likelihood:
    """The log likelihood as a function of the entries."""
    raise NotImplementedError

  @property
  def _counted(self) -> observations_lib.Observations | None:
    """The observed times, or None if the data are not such."""
    raise NotImplementedError

  def _function(
    self, f: quantities.Function, covariates: TableLike | None
  ) -> quantities.Function:
    """Returns a function of what the entries make, given the user's function.

    Raises:
      TypeError: there are covariates, and the fit takes none.
    """
    raise NotImplementedError

  @functools.cached_property
  def uncertainty(self) -> uncertainty_lib.Uncertainty:
    """The uncertainty of the parameters, computed on first use."""
    return assessment.assess(
      self._likelihood,
      self._form,
      self._entries,
      self.at_bounds,
      self.record.converged,
    )

  @property
  def standard_errors(self) -> Mapping[str, onp.ndarray]:
    """The standard errors by name of the parameter, as read-only arrays.

    Parameters of a graph that have names are "params[birth]", as in `statuses`.
    They are NaN where no standard error exists: where a parameter is on the boundary, not
    identified, fixed or zero by structure. `statuses` says which.
    """
    return dict(self.uncertainty.standard_errors)

  @property
  def statuses(self) -> Mapping[str, str]:
    """The status of each fitted entry, by name.

    "identified", "on the boundary (zero)", "on the boundary (certain)" of a
    probability whose alternatives are zero, "at a bound", or "not identified"
    and a reason:

      "not identified (flat likelihood)": the likelihood is the same along a
        direction of the parameters that changes the entry;
      "not identified (only together with others)": to first order the density
        of no observation changes along one; there the information may be
        positive definite, but by chance;
      "not identified (only in a sum: see sums)": that is so as entries, such as
        the rates of two stages, are equal; `sums` has the sums that are known;
      "not identified (no maximum)": the likelihood rises as the entry, or its
        inverse, grows without end.

    "unknown (the fit did not converge)" says that nothing is known yet.
    """
    return dict(self.uncertainty.statuses)

  @property
  def sums(self) -> Mapping[tuple[str, ...], tuple[float, float]]:
    """Sums of entries that are identified only as a sum, with standard errors.

    Where two stages in a row have ended with equal rates, these have no standard
    errors of their own: the data do not tell how far apart they are. Half the sum
    is the estimate of a fit in which the two are `tied`. The rate of a stage may
    be a sum itself, of a progression rate and an exit rate.

    Example:

      >>> from phasic import inference
      >>> from phasic.distributions import Hypoexponential
      >>> data = inference.Observations([0.5, 0.8, 1.0, 1.1, 1.3])
      >>> fit = inference.fit_mle(Hypoexponential([1.0, 1.5]), data)
      >>> for names, (value, error) in fit.sums.items():
      ...   print(names, f"{value:.3f}, {error:.3f}")
      ('rates[0]', 'rates[1]') 4.255, 1.346
    """
    return dict(self.uncertainty.sums)

  @property
  def num_parameters(self) -> int:
    """The number of fitted free parameters, including those on the boundary."""
    return self._form.num_free

  @property
  def num_observations(self) -> float:
    """The number of observations, the sum of the weights."""
    return float(onp.sum(self._likelihood.weights))

  @property
  def aic(self) -> float:
    """Akaike's information criterion, 2 k - 2 log L for k parameters.

    Raises:
      ValueError: the observations are not a sample, see
        `observations_from_density`.

    Reference: H. Akaike, A new look at the statistical model identification,
      IEEE Trans. Automat. Contr. 19, 1974.
    """
    self._check_sample("aic")
    return 2.0 * self.num_parameters - 2.0 * self.log_likelihood

  @property
  def bic(self) -> float:
    """Schwarz's Bayesian information criterion, k log n - 2 log L.

    k is the number of parameters, n the sum of the weights.

    Raises:
      ValueError: the observations are not a sample, see
        `observations_from_density`.

    Reference: G. Schwarz, Estimating the dimension of a model, Ann. Statist. 6,
      1978.
    """
    self._check_sample("bic")
    size = math.log(self.num_observations)
    return self.num_parameters * size - 2.0 * self.log_likelihood

  def _check_sample(self, name: str) -> None:
    """Raises ValueError if the weights sum to one, and thus are not counts."""
    total = self.num_observations
    if total < 1.0 + 1e-9 and len(self._likelihood.weights) > 1:
      raise ValueError(
        f"{name} needs a sample, but the weights of the observations sum to "
        f"{total:g}: give counts as weights, or compare log_likelihood"
      )

  def covariance(
    self, robust: bool = False, clusters: ArrayLike | None = None
  ) -> tuple[tuple[str, ...], onp.ndarray]:
    """Returns the names of the k fitted entries, and their covariance matrix.

    The matrix is read-only. It is NaN in rows and columns of those that have no
    standard error.

    Args:
      robust: whether the covariance is the sandwich H B H, with the inverse
        information H and the sum B of the outer products of the weighted scores,
        as if the distribution were not the true one. Weights are those of a
        sample, as in survreg of R; repeat rows where they are counts.
      clusters: (n,), labels of observations that depend on each other, such as
        the number of a hospital; scores are summed in each cluster. It implies
        `robust`.
    """
    uncertainty = self._uncertainty(robust, clusters)
    return uncertainty.names, uncertainty.covariance

  def standard_error_of(
    self,
    f: Callable[..., ArrayLike] | str,
    *args: object,
    covariates: TableLike | None = None,
    robust: bool = False,
    clusters: ArrayLike | None = None,
  ) -> onp.ndarray:
    """Computes the standard error of a function of what was fitted.

    By the delta method, with exact derivatives, it is sqrt(g' C g) for the
    gradient g and the parameters' covariance C. It is NaN where the data do not
    know the function: where it changes in a direction in which the likelihood
    does not. Parameters on the boundary are taken as known.

    Args:
      f: takes the distribution and returns an array; or the name of a method.
        Of a model without covariates it takes the parameters, by name.
      *args: of the method, after the distribution.
      covariates: a table with a row for each subject; `f` takes the batch of
        their distributions.
      robust: see `covariance`.
      clusters: see `covariance`.

    Raises:
      ValueError: a value is NaN, or the level of a quantile is not a
        probability between zero and one, or no logarithm of one.

    Example: the mean, which equals the sample mean for this family.

      >>> from phasic import inference
      >>> from phasic.distributions import Erlang
      >>> data = inference.Observations([0.5, 1.0, 1.5, 3.0])
      >>> fit = inference.fit_mle(Erlang(2, 1.0), data)
      >>> print(f"{float(fit.distribution.mean()):.4f}")
      1.5000
      >>> bool(fit.standard_error_of("mean") > 0)
      True

    Reference: A. W. van der Vaart, Asymptotic statistics, 1998, ch. 3.
    """
    uncertainty = self._uncertainty(robust, clusters)
    return uncertainty.standard_error_of(self._function(f, covariates), args)

  def confidence_interval(
    self,
    quantity: quantities.Function,
    *args: object,
    covariates: TableLike | None = None,
    confidence_level: float = 0.95,
    method: str = "wald",
    bounds: quantities.Bounds | None = None,
    robust: bool = False,
    clusters: ArrayLike | None = None,
    bootstrap: confidence.Resampled | None = None,
  ) -> confidence.ConfidenceInterval:
    """Computes a confidence interval of a parameter or of a function.

    "wald" takes the standard error by the delta method, on a scale that keeps
    the bounds of the quantity: logarithms of rates, means and quantiles, log
    odds of probabilities. "profile" has all values that the quantity takes at
    parameters whose log likelihood is less than half a quantile of chi-square
    below the maximum; it needs a search for each end, is the same on every
    scale, and is more accurate in small samples. "bootstrap" has percentiles
    over fits to resamples.

    Ends are NaN where the data do not know the quantity, and where a parameter
    is on the boundary, see `statuses`; those of a profile are infinite, or the
    bound, where the likelihood does not fall.

    Args:
      quantity: the name of a parameter or entry, such as "rates[0]"; or a
        function of the distribution, or the name of a method. Of a model
        without covariates a function takes the parameters, by name.
      *args: of the function, after the distribution.
      covariates: a table with a row for each subject; the function takes the
        batch of their distributions.
      confidence_level: between zero and one.
      method: "wald", "profile" or "bootstrap".
      bounds: (low, high), the range of a function, which its scale keeps; None
        for the range of a method, and for the real numbers.
      robust: of "wald", see `covariance`.
      clusters: of "wald", see `covariance`.
      bootstrap: what `inference.bootstrap` returned; None for 200 resamples.

    Returns:
      The estimate and both ends, in the shape of the quantity.

    Raises:
      ImportError: SciPy is missing, which profiles need.
      TypeError: an argument has a wrong type.
      ValueError: the method or level is unknown, a value is NaN, or nothing was
        fitted.

    Example: a rate, from four events in total time eight.

      >>> from phasic import inference
      >>> from phasic.distributions import Erlang
      >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
      >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
      >>> for method in ("wald", "profile"):
      ...   interval = fit.confidence_interval("rate", method=method)
      ...   print(f"{interval.low:.4f} {interval.high:.4f}")
      0.1877 1.3322
      0.1552 1.1615

    References:
      D. J. Venzon, S. H. Moolgavkar, A method for computing profile-likelihood
        based confidence intervals, Appl. Statist. 37, 1988.
      A. W. van der Vaart, Asymptotic statistics, 1998, ch. 3.
    """
    level = confidence.checked_level(confidence_level)
    confidence.check_method(method, ("wald", "profile", "bootstrap"))
    is_robust = robust or clusters is not None
    if is_robust and method != "wald":
      raise ValueError(
        f"robust errors go with method 'wald', and method is {method!r}: leave "
        "robust and clusters out, or resample clusters by inference.bootstrap"
      )
    ends = quantities.range_of(quantity, bounds)
    f = self._function(quantity, covariates)
    if method == "bootstrap":
      resampled = self._bootstrap if bootstrap is None else bootstrap
      return resampled.confidence_interval(f, *args, confidence_level=level)
    uncertainty = self._uncertainty(robust, clusters)
    resolved = quantities.quantity_of(uncertainty, f, args, ends)
    return confidence.interval_of(uncertainty, resolved, level, method)

  def summary(
    self,
    confidence_level: float = 0.95,
    robust: bool = False,
    clusters: ArrayLike | None = None,
  ) -> summaries.Summary:
    """Returns a table of all fitted parameters, with errors and intervals.

    Intervals are those of `confidence_interval` by "wald". Coefficients, which
    may be zero and of either sign, have exp(coefficient), z and p, the
    probability of a larger |z| if the coefficient is zero.

    Args:
      confidence_level: between zero and one.
      robust: see `covariance`.
      clusters: see `covariance`.

    Example:

      >>> from phasic import inference
      >>> from phasic.distributions import Erlang
      >>> data = inference.Observations([1.0, 1.0, 2.0, 4.0])
      >>> fit = inference.fit_mle(Erlang(1, 1.0), data)
      >>> print(fit.summary())
            estimate  standard error  95 % low  95 % high
      rate       0.5            0.25  0.187659     1.3322
      <BLANKLINE>
      log likelihood -6.77259, AIC 15.5452, BIC 14.9315, observations 4, events 4
      L-BFGS-B, Newton steps in a trust region converged
    """
    level = confidence.checked_level(confidence_level)
    uncertainty = self._uncertainty(robust, clusters)
    facts = {"log likelihood": self.log_likelihood}
    if self.num_observations >= 1.0 + 1e-9:
      facts |= {"AIC": self.aic, "BIC": self.bic}
    return summaries.summarize(
      uncertainty,
      level,
      facts | summaries.counts(self._counted, self.num_observations),
      self.record,
      robust or clusters is not None,
    )

  @functools.cached_property
  def _bootstrap(self) -> confidence.Resampled:
    """The bootstrap with its default options."""
    # The function is in a room above this one.
    package = __package__.rpartition(".")[0]
    bootstrap = late_names.attribute(package, "bootstrap")
    result: confidence.Resampled = bootstrap(self)
    return result

  def _uncertainty(
    self, robust: bool, clusters: ArrayLike | None
  ) -> uncertainty_lib.Uncertainty:
    """Returns the uncertainty by information or by the sandwich."""
    if robust or clusters is not None:
      return self.uncertainty.robust(clusters)
    return self.uncertainty


def form_of(fit: Estimates) -> uncertainty_lib.Form:
  """Returns the map of the entries that were fitted."""
  return fit._form  # noqa: SLF001


def entries_of(fit: Estimates) -> onp.ndarray:
  """Returns the values of the entries that were fitted."""
  return fit._entries  # noqa: SLF001


def likelihood_of(fit: Estimates) -> likelihoods.Likelihood:
  """Returns the log likelihood as a function of the entries."""
  return fit._likelihood  # noqa: SLF001


def with_likelihood(fit: _FitT, likelihood: likelihoods.Likelihood) -> _FitT:
  """Returns the fit with the log likelihood that has been maximized.

  Standard errors then take its last Hessian.
  """
  fit.__dict__.update(_likelihood=likelihood)
  return fit


def counted_by(fit: Estimates) -> observations_lib.Observations | None:
  """Returns the observed times, or None if the data are not such."""
  return fit._counted  # noqa: SLF001


def function_of(
  fit: Estimates, f: quantities.Function, covariates: TableLike | None
) -> quantities.Function:
  """Returns a function of what the entries make, given the user's function."""
  return fit._function(f, covariates)  # noqa: SLF001
