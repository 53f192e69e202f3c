"""Every function of `ph.inference`, in all substrates."""

from collections.abc import Callable
import functools
import math
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import matplotlib as mpl
from matplotlib import pyplot as plt
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_distributions_cases as distributions_cases

mpl.use("Agg")

LOWER = (0.5, 0.8, 1.0, 1.7, 2.5, 3.0, 4.0)
UPPER = (0.5, 0.8, 1.0, 1.7, 2.5, 3.5, math.inf)
# Optimizers accumulate rounding errors, and stop within their tolerance.
FITTED = 1e-6


class Substrate(distributions_cases.Substrate):
  """A substrate with data, starts and fits of few steps."""

  def __init__(self, name: str):
    super().__init__(name)
    self.inference = comparisons.SUBSTRATES[name].inference

  def data(self) -> Any:
    return self.inference.Observations(
      self.array(LOWER), self.array(UPPER), self.array(onp.ones(7))
    )

  def coxian(self) -> Any:
    return self.pd.Coxian(self.array([1.0]), self.array([0.25, 1.0]))

  def exponential(self) -> Any:
    return self.pd.Erlang(1, self.array(1.0))

  @functools.cached_property
  def fit(self) -> Any:
    return self.inference.fit_mle(self.exponential(), self.data(), max_steps=3)

  @functools.cached_property
  def wider_fit(self) -> Any:
    return self.inference.fit_em(self.coxian(), self.data(), max_steps=2)


substrate_of = functools.cache(Substrate)


def _facts(fit: Any) -> Any:
  """Returns the reported facts of a fit."""
  return {
    "distribution": fit.distribution,
    "log_likelihood": fit.log_likelihood,
    "aic": fit.aic,
    "bic": fit.bic,
    "num_observations": fit.num_observations,
    "num_parameters": fit.num_parameters,
  }


def _unconstrained(x: Substrate) -> Any:
  free, to_distribution = x.inference.unconstrained(x.coxian())
  return free, to_distribution(free + 0.5)


def _density(t: onp.ndarray) -> onp.ndarray:
  return t * onp.exp(-t)


def _weighted(observations: Any) -> Any:
  return [
    observations.lower,
    observations.upper,
    observations.weights,
    observations.entry,
    observations.cause,
  ]


def _choice(x: Substrate) -> Any:
  found = x.inference.choose_num_phases(
    lambda p: x.pd.Erlang(p, x.array(0.5 * p)), x.data(), (1, 2), max_steps=3
  )
  facts = {n: _facts(fit) for n, fit in found.fits.items()}
  return found.criterion, facts, _facts(found.best)


def _maximum_facts(maximum: Any) -> Any:
  """Returns the reported facts of a maximum."""
  return {
    "parameters": maximum.parameters,
    "log_likelihood": maximum.log_likelihood,
    "covariance": maximum.covariance(),
    "interval": maximum.confidence_interval("start", method="profile"),
    "error": maximum.standard_error_of(lambda rate: 1.0 / rate),
    "statuses": dict(maximum.statuses),
  }


def _bootstrap(x: Substrate) -> Any:
  fit = x.inference.fit_mle(x.exponential(), _right_censored(x))
  # Resamples of a seed are the same everywhere.
  results = [
    x.inference.bootstrap(fit, 3, seed=1, method=method)
    for method in ("cases", "parametric")
  ]
  return [
    (
      result.entries,
      result.standard_error_of("mean"),
      result.confidence_interval("mean", method="normal"),
      result.fitted(0),
    )
    for result in results
  ]


EXACT_CALLS: dict[str, Callable[[Substrate], Any]] = {
  "em_step": lambda x: x.inference.em_step(x.coxian(), x.data()),
  "kaplan_meier": lambda x: x.inference.kaplan_meier(
    x.inference.Observations.right_censored(
      x.array([1.0, 2.0, 2.0, 5.0]), [1, 1, 0, 1]
    )
  ),
  "match_moments": lambda x: x.inference.match_moments(2.0, 7.0, 40.0),
  "observations_from_density": lambda x: _weighted(
    x.inference.observations_from_density(_density, tolerance=1e-4)
  ),
  "initial_guess": lambda x: x.inference.initial_guess(x.data(), 2, "coxian"),
  "unconstrained": _unconstrained,
  "add_phase": lambda x: x.inference.add_phase(x.coxian()),
}
FITS: dict[str, Callable[[Substrate], Any]] = {
  "bootstrap": _bootstrap,
  "choose_num_phases": _choice,
  "fit_em": lambda x: _facts(x.wider_fit),
  "fit_mle": lambda x: _facts(x.fit),
  "maximize": lambda x: _maximum_facts(
    x.inference.maximize(
      lambda rate: x.data().log_likelihood(x.pd.Erlang(1, rate)), x.array(1.0)
    )
  ),
  "likelihood_ratio": lambda x: x.inference.likelihood_ratio(
    x.fit, x.wider_fit
  ),
}
PLOTS: dict[str, Callable[[Substrate], Any]] = {
  "plot_coefficients": lambda x: x.inference.plot_coefficients(
    x.inference.fit_mle(x.exponential(), _right_censored(x)), ["rate"]
  ),
  "plot_hazard": lambda x: x.inference.plot_hazard(
    x.coxian(), _right_censored(x)
  ),
  "plot_posterior_predictive": lambda x: x.inference.plot_posterior_predictive(
    x.pd.Erlang(2, x.array([0.5, 0.6])), _right_censored(x), seed=x.seed(3)
  ),
  "plot_quantiles": lambda x: x.inference.plot_quantiles(
    x.coxian(), _right_censored(x)
  ),
  "plot_survival": lambda x: x.inference.plot_survival(
    x.coxian(), _right_censored(x)
  ),
}
OBSERVATIONS: dict[str, Callable[[Substrate], Any]] = {
  "check_fits": lambda x: x.data().check_fits(x.coxian()),
  "counting": lambda x: x.data().counting(),
  "exact": lambda x: _weighted(x.inference.Observations.exact(x.array(LOWER))),
  "from_json": lambda x: _weighted(
    x.inference.Observations.from_json(x.data().to_json())
  ),
  "from_table": lambda x: _weighted(
    x.inference.Observations.from_table(
      {"months": [3.0, 7.5], "died": [True, False]},
      time="months",
      event="died",
    )
  ),
  "grouped": lambda x: _weighted(
    x.inference.Observations.grouped([-1.0, 1.0, 2.0, math.inf], [10, 4, 1])
  ),
  "log_likelihood": lambda x: x.data().log_likelihood(x.coxian()),
  "log_likelihood_terms": lambda x: x.data().log_likelihood_terms(x.coxian()),
  "right_censored": lambda x: _weighted(_right_censored(x)),
  "to_json": lambda x: x.data().to_json(),
}
DATASETS: dict[str, Callable[[Substrate], Any]] = {
  name: lambda x, name=name: dict(getattr(x.inference.datasets, name)())
  for name in ("claims", "clinic_visits", "pumps", "trial")
}
# Classes of which the functions above return instances.
STRUCTURES = (
  "Bootstrap",
  "Choice",
  "ConfidenceInterval",
  "EmStep",
  "Fit",
  "LikelihoodModel",
  "LikelihoodRatio",
  "Maximum",
  "ModelFit",
  "Observations",
  "Record",
  "Summary",
  "SurvivalEstimate",
  "Uncertainty",
  "Unconstrained",
)


def _right_censored(x: Substrate) -> Any:
  return x.inference.Observations.right_censored(
    x.array([1.0, 2.0, 2.0, 5.0]), [1, 1, 0, 1]
  )


class PublicInferenceTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_all_names_are_called(self, substrate):
    inference = comparisons.SUBSTRATES[substrate].inference
    called = (*EXACT_CALLS, *FITS, *PLOTS, *STRUCTURES, "datasets")
    self.assert_complete(inference, called, "the tables of this file")
    called = (*DATASETS, "Dataset")
    self.assert_complete(inference.datasets, called, "DATASETS")
    methods = distributions_cases.public_methods(inference.Observations)
    self.assertEqual(
      sorted(set(methods) - set(OBSERVATIONS)),
      [],
      "Observations has public methods that are not in OBSERVATIONS: add them",
    )

  @parameterized.named_parameters(*comparisons.in_others(EXACT_CALLS))
  def test_functions(self, name, substrate):
    self.assert_same_call(EXACT_CALLS[name], substrate)

  @parameterized.named_parameters(*comparisons.in_others(OBSERVATIONS))
  def test_observations(self, name, substrate):
    self.assert_same_call(OBSERVATIONS[name], substrate)

  @parameterized.named_parameters(*comparisons.in_others(DATASETS))
  def test_datasets(self, name, substrate):
    self.assert_same_call(DATASETS[name], substrate, 0)

  @parameterized.named_parameters(*comparisons.in_others(FITS))
  def test_fits(self, name, substrate):
    self.assert_same_call(FITS[name], substrate, FITTED)

  def assert_same_call(self, call, substrate, rtol=comparisons.RTOL):
    expected = call(substrate_of("numpy"))
    self.assert_agrees(call(substrate_of(substrate)), expected, rtol)

  @parameterized.parameters(*comparisons.OTHERS)
  def test_uncertainty(self, substrate):
    found, expected = (substrate_of(x).fit for x in (substrate, "numpy"))
    for fact in (
      lambda fit: fit.covariance(),
      lambda fit: fit.standard_error_of("mean"),
      lambda fit: fit.standard_errors,
      lambda fit: fit.statuses,
      lambda fit: fit.uncertainty.eigenvalues,
      lambda fit: fit.uncertainty.standard_error_of("mean", ()),
      lambda fit: fit.confidence_interval("rate", method="profile"),
      lambda fit: fit.confidence_interval("survival_function", 2.0),
      lambda fit: fit.summary(robust=True).to_dict(),
    ):
      self.assert_agrees(fact(found), fact(expected), FITTED)

  @parameterized.named_parameters(*comparisons.in_others(PLOTS))
  def test_plots(self, name, substrate):
    found, expected = (
      PLOTS[name](substrate_of(x)) for x in (substrate, "numpy")
    )
    self.addCleanup(plt.close, "all")
    self.assertEqual(found.get_xlabel(), expected.get_xlabel())
    self.assertEqual(found.get_ylabel(), expected.get_ylabel())
    self.assertEqual(len(found.lines), len(expected.lines))
    if name == "plot_posterior_predictive":
      return  # Samples differ between substrates.
    for line, reference in zip(found.lines, expected.lines, strict=True):
      self.assert_agrees(
        onp.asarray(line.get_xydata(), "float64"),
        onp.asarray(reference.get_xydata(), "float64"),
        1e-9,
      )

  def test_anchors(self):
    """Tests the reference substrate, NumPy, by closed forms."""
    x = substrate_of("numpy")
    lower, upper = onp.asarray(LOWER), onp.asarray(UPPER)
    exact = lower == upper
    mass = onp.where(exact, 1.0, onp.exp(-lower) - onp.exp(-upper))
    terms = onp.where(exact, -lower, onp.log(mass))
    found = x.data().log_likelihood_terms(x.exponential())
    self.assert_agrees(found, terms)
    matched = x.inference.match_moments(2.0, 7.0, 40.0)
    moments = [float(matched.moment(k)) for k in (1, 2, 3)]
    onp.testing.assert_allclose(moments, [2.0, 7.0, 40.0], rtol=1e-12)
    # The estimate for exponential times is events over the time at risk.
    data = _right_censored(x)
    fit = x.inference.fit_mle(x.exponential(), data)
    onp.testing.assert_allclose(fit.distribution.rate, 3 / 10, rtol=1e-7)
    estimate = x.inference.kaplan_meier(data)
    onp.testing.assert_allclose(estimate.survival, [0.75, 0.5, 0.0])


if __name__ == "__main__":
  absltest.main()
