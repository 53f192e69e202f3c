"""A table of the families: their construction and their distributions."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import mpmath
import numpy as onp

from phasic import distributions as pd
from tests.oracle import family_oracle as oracle


class Case(NamedTuple):
  """A member of a family.

  Attributes:
    build: builds the distribution from array parameters by name; other keyword
      arguments go to the constructor.
    parameters: valid parameters, as lists and floats.
    law: builds the oracle's distribution from the same parameters, as `mpf`.
    values: arguments of functions of a value, including tails.
    discrete: whether values are integers.
    atom: whether there is a mass at zero.
    moments: whether mean and variance exist.
    family: the name of the class.
  """

  build: Callable[..., Any]
  parameters: Mapping[str, Any]
  law: Callable[..., oracle.Law]
  values: tuple[float, ...]
  discrete: bool = False
  atom: bool = False
  moments: bool = True

  @property
  def family(self) -> str:
    return type(self.make()).__name__

  def make(self, dtype: str = "float64", **options: Any) -> Any:
    """Builds the distribution of the case's parameters."""
    arrays = {k: onp.asarray(v, dtype) for k, v in self.parameters.items()}
    return self.build(**arrays, **options)

  def batched(self, shape: tuple[int, ...]) -> Any:
    """Builds a batch of equal distributions."""
    arrays = {
      name: onp.broadcast_to(x, (*shape, *onp.shape(x))).copy()
      for name, x in self.parameters.items()
    }
    return self.build(**arrays)

  def exact(self, **changes: Any) -> oracle.Law:
    """Returns the oracle's distribution, optionally with changed parameters."""
    return self.law(**{**_exact(self.parameters), **changes})

  def logs(self, kind: str) -> onp.ndarray:
    """Computes logarithms of the oracle's function of the values, as floats."""
    with mpmath.workdps(oracle.DIGITS):
      function = getattr(self.exact(), kind)
      found = [function(mpmath.mpf(t)) for t in self.values]
      return onp.asarray([float(mpmath.log(x)) for x in found])


def _exact(parameters: Mapping[str, Any]) -> dict[str, Any]:
  return {
    name: [mpmath.mpf(x) for x in value]
    if isinstance(value, list)
    else mpmath.mpf(value)
    for name, value in parameters.items()
  }


_TIMES = (1e-20, 1e-3, 0.5, 2.0, 7.0, 40.0, 600.0)
_HEAVY = (1e-3, 0.5, 2.0, 7.0, 40.0, 1e4)
_COUNTS = (1.0, 2.0, 3.0, 7.0, 20.0, 150.0)


def _erlang(count: int) -> Callable[..., Any]:
  return lambda rate, **options: pd.Erlang(count, rate, **options)


def _hyper_erlang(mixture_probs: Any, rates: Any, **options: Any) -> Any:
  return pd.HyperErlang(mixture_probs, (1, 4, 2), rates, **options)


def _trials(success_prob: Any, **options: Any) -> Any:
  return pd.NegativeBinomialTrials(3, success_prob, **options)


def _failures(success_prob: Any, **options: Any) -> Any:
  return pd.NegativeBinomialFailures(4, success_prob, **options)


def _of_erlang(cls: Any) -> Callable[..., Any]:
  """Builds a distribution from an Erlang distribution of two stages."""

  def build(rate: Any, *, validate_args: bool = False, **others: Any) -> Any:
    base = pd.Erlang(2, rate, validate_args=validate_args)
    return cls(base, validate_args=validate_args, **others)

  return build


def _residual(mixture_probs: Any, rates: Any, time: Any, **options: Any) -> Any:
  checks = {k: v for k, v in options.items() if k == "validate_args"}
  base = pd.Hyperexponential(mixture_probs, rates, **checks)
  return pd.ResidualLife(base, time, **options)


def _residual_law(mixture_probs: Any, rates: Any, time: Any) -> oracle.Law:
  left = [
    p * mpmath.exp(-r * time) for p, r in zip(mixture_probs, rates, strict=True)
  ]
  laws = [oracle.exponential(r) for r in rates]
  return oracle.mixture([x / sum(left) for x in left], laws)


def _excess(mixture_probs: Any, rates: Any, **options: Any) -> Any:
  checks = {k: v for k, v in options.items() if k == "validate_args"}
  return pd.Equilibrium(
    pd.Hyperexponential(mixture_probs, rates, **checks), **options
  )


def _excess_law(mixture_probs: Any, rates: Any) -> oracle.Law:
  means = [p / r for p, r in zip(mixture_probs, rates, strict=True)]
  laws = [oracle.exponential(r) for r in rates]
  return oracle.mixture([x / sum(means) for x in means], laws)


def _residual_trials(success_prob: Any, time: Any, **options: Any) -> Any:
  checks = {k: v for k, v in options.items() if k == "validate_args"}
  return pd.ResidualLife(_trials(success_prob, **checks), time, **options)


def _truncated_trials(
  success_prob: Any, low: Any, high: Any, **options: Any
) -> Any:
  checks = {k: v for k, v in options.items() if k == "validate_args"}
  return pd.TruncatedPhaseType(
    _trials(success_prob, **checks), low, high, **options
  )


def _of_law(inverse: Callable[..., Any]) -> Callable[..., oracle.Law]:
  """Returns the oracle's distribution of a transformed Erlang variable."""

  def law(rate: Any, **parameters: Any) -> oracle.Law:
    base = oracle.erlang(2, rate)
    return oracle.transformed(base, lambda y: inverse(y, **parameters))

  return law


CASES: dict[str, Case] = {
  "hyperexponential": Case(
    pd.Hyperexponential,
    {
      "mixture_probs": [0.75, 0.25 - 2.0**-20, 2.0**-20],
      "rates": [3.0, 1.0, 0.01],
    },
    lambda mixture_probs, rates: oracle.mixture(
      mixture_probs, [oracle.exponential(r) for r in rates]
    ),
    _TIMES,
  ),
  "hypoexponential": Case(
    pd.Hypoexponential,
    {"rates": [2.0, 0.3, 2.0, 5.0]},
    lambda rates: oracle.hypoexponential(rates),
    _TIMES,
  ),
  "near_rates": Case(
    pd.Hypoexponential,
    {"rates": [1.0, 1.0 + 2.0**-50, 1.0 - 2.0**-30]},
    lambda rates: oracle.hypoexponential(rates),
    _TIMES,
  ),
  "erlang": Case(
    _erlang(3), {"rate": 1.7}, lambda rate: oracle.erlang(3, rate), _TIMES
  ),
  "erlang_1000": Case(
    _erlang(1000),
    {"rate": 2.0},
    lambda rate: oracle.erlang(1000, rate),
    (1.0, 200.0, 500.0, 900.0),
  ),
  "hyper_erlang": Case(
    _hyper_erlang,
    {"mixture_probs": [0.5, 0.25, 0.25], "rates": [2.0, 1.0, 0.25]},
    lambda mixture_probs, rates: oracle.mixture(
      mixture_probs,
      [oracle.erlang(k, r) for k, r in zip((1, 4, 2), rates, strict=True)],
    ),
    _TIMES,
  ),
  "coxian": Case(
    pd.Coxian,
    {"progression_rates": [2.0, 1.0], "exit_rates": [1.0, 0.5, 0.25]},
    lambda progression_rates, exit_rates: oracle.coxian(
      progression_rates, exit_rates
    ),
    _TIMES,
  ),
  "acyclic": Case(
    pd.AcyclicPhaseType,
    {"initial_probs": [0.25, 0.125, 0.5], "rates": [0.5, 2.0, 2.0]},
    lambda initial_probs, rates: oracle.acyclic(initial_probs, rates),
    _TIMES,
    atom=True,
  ),
  "geometric_mixture": Case(
    pd.GeometricMixture,
    {"mixture_probs": [0.75, 0.25], "success_probs": [0.5, 0.0625]},
    lambda mixture_probs, success_probs: oracle.mixture(
      mixture_probs, [oracle.geometric(q) for q in success_probs]
    ),
    _COUNTS,
    discrete=True,
  ),
  "trials": Case(
    _trials,
    {"success_prob": 0.3},
    lambda success_prob: oracle.negative_binomial(3, success_prob, False),
    (3.0, 4.0, 20.0, 150.0, 900.0),
    discrete=True,
  ),
  "failures": Case(
    _failures,
    {"success_prob": 0.3},
    lambda success_prob: oracle.negative_binomial(4, success_prob, True),
    (0.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
  "weibull": Case(
    _of_erlang(pd.MatrixWeibull),
    {"rate": 0.8, "concentration": 1.7},
    _of_law(lambda y, concentration: y**concentration),
    (1e-3, 0.5, 2.0, 7.0, 40.0),
    moments=False,
  ),
  "pareto": Case(
    _of_erlang(pd.MatrixPareto),
    {"rate": 2.5, "scale": 1.5},
    _of_law(lambda y, scale: mpmath.log1p(y / scale)),
    _HEAVY,
    moments=False,
  ),
  "gompertz": Case(
    _of_erlang(pd.MatrixGompertz),
    {"rate": 0.25, "growth_rate": 0.5},
    _of_law(lambda y, growth_rate: mpmath.expm1(growth_rate * y) / growth_rate),
    (1e-3, 0.5, 2.0, 7.0, 15.0),
    moments=False,
  ),
  "log_normal": Case(
    _of_erlang(pd.MatrixLogNormal),
    {"rate": 0.8, "concentration": 1.7},
    _of_law(lambda y, concentration: mpmath.log1p(y) ** concentration),
    _HEAVY,
    moments=False,
  ),
  "log_logistic": Case(
    _of_erlang(pd.MatrixLogLogistic),
    {"rate": 0.8, "scale": 1.5, "concentration": 2.25},
    _of_law(
      lambda y, scale, concentration: mpmath.log1p((y / scale) ** concentration)
    ),
    _HEAVY,
    moments=False,
  ),
  "zero_inflated": Case(
    _of_erlang(pd.ZeroInflated),
    {"rate": 0.8, "prob_zero": 0.25},
    lambda rate, prob_zero: oracle.mixture(
      [prob_zero, 1 - prob_zero], [oracle.zero(), oracle.erlang(2, rate)]
    ),
    _TIMES,
    atom=True,
  ),
  "shifted": Case(
    _of_erlang(pd.Shifted),
    {"rate": 0.8, "delay": 1.25},
    lambda rate, delay: oracle.shifted(oracle.erlang(2, rate), delay),
    (1.25 + 2.0**-40, 1.5, 2.0, 7.0, 40.0, 600.0),
  ),
  "residual_life": Case(
    _residual,
    {"mixture_probs": [0.75, 0.25], "rates": [3.0, 0.5], "time": 2.5},
    _residual_law,
    _TIMES,
  ),
  "equilibrium": Case(
    _excess,
    {"mixture_probs": [0.75, 0.25], "rates": [3.0, 0.25]},
    _excess_law,
    _TIMES,
  ),
  "residual_trials": Case(
    _residual_trials,
    {"success_prob": 0.3, "time": 6.0},
    lambda success_prob, time: oracle.residual(
      oracle.negative_binomial(3, success_prob, False), time
    ),
    _COUNTS,
    discrete=True,
  ),
  "truncated": Case(
    _of_erlang(pd.TruncatedPhaseType),
    {"rate": 0.8, "low": 30.0, "high": 64.0},
    lambda rate, low, high: oracle.truncated(oracle.erlang(2, rate), low, high),
    (30.0 + 2.0**-40, 31.0, 40.0, 63.5),
    moments=False,
  ),
  "truncated_trials": Case(
    _truncated_trials,
    {"success_prob": 0.3, "low": 200.0, "high": 210.0},
    lambda success_prob, low, high: oracle.truncated(
      oracle.negative_binomial(3, success_prob, False), low - 1, high
    ),
    (200.0, 201.0, 205.0, 209.0),
    discrete=True,
    moments=False,
  ),
}
