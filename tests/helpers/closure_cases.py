"""A table of closures: their construction and their distributions."""

from typing import Any

import numpy as onp

from phasic import distributions as pd
from phasic.internal import static
from tests.helpers import family_cases
from tests.oracle import closure_oracle
from tests.oracle import family_oracle as oracle

Case = family_cases.Case
_TIMES = (1e-20, 1e-3, 0.5, 2.0, 7.0, 40.0, 600.0)
_COUNTS = (2.0, 3.0, 4.0, 7.0, 20.0, 60.0)


def _inflated(prob_zero: Any, rate: Any, **options: Any) -> Any:
  """Builds a mixture of zero and an Erlang time of two stages."""
  base = pd.Erlang(2, rate, **options)
  return pd.ZeroInflated(base, prob_zero, **options)


def _inflated_law(prob_zero: Any, rate: Any) -> oracle.Law:
  return closure_oracle.with_zero(prob_zero, oracle.erlang(2, rate))


def _sum(rates: Any, rate: Any, **options: Any) -> Any:
  return pd.convolution(
    [pd.Hypoexponential(rates, **options), pd.Erlang(2, rate, **options)]
  )


def _sum_with_zeros(prob_zero: Any, rate: Any, **options: Any) -> Any:
  one = _inflated(prob_zero, rate, **options)
  return pd.convolution([one, one, one])


def _smaller(prob_zero: Any, rate: Any, rates: Any, **options: Any) -> Any:
  first = _inflated(prob_zero, rate, **options)
  return pd.minimum([first, pd.Hypoexponential(rates, **options)])


def _larger(prob_zero: Any, rate: Any, rates: Any, **options: Any) -> Any:
  first = _inflated(prob_zero, rate, **options)
  return pd.maximum([first, pd.Hypoexponential(rates, **options)])


def _mixed(probs: Any, rate: Any, rates: Any, **options: Any) -> Any:
  laws = [pd.Erlang(2, rate, **options), pd.Hypoexponential(rates, **options)]
  return pd.mixture(probs, laws)


def _second(prob_zero: Any, rate: Any, **options: Any) -> Any:
  return pd.order_statistic(_inflated(prob_zero, rate, **options), 4, 2)


def _count(rate: Any, **options: Any) -> Any:
  """Builds a count of 0, 1, 2 with probabilities 1/4, 1/4, 1/2."""
  probs = onp.asarray([0.5, 0.25], static.dtype_name(rate))
  matrix = [[0.0, 1.0], [0.0, 0.0]]
  return pd.DiscretePhaseType(probs, matrix, [0.0, 1.0], 0.25, **options)


def _total(rate: Any, **options: Any) -> Any:
  count = _count(rate, **options)
  return pd.random_sum(count, pd.Erlang(2, rate, **options))


def _total_with_zeros(prob_zero: Any, rate: Any, **options: Any) -> Any:
  count = _count(rate, **options)
  return pd.random_sum(count, _inflated(prob_zero, rate, **options))


def _total_with_zeros_law(prob_zero: Any, rate: Any) -> oracle.Law:
  z, rest = prob_zero, 1 - prob_zero
  counts = [(1 + z + 2 * z**2) / 4, (rest + 4 * z * rest) / 4, rest**2 / 2]
  return closure_oracle.compound(counts, lambda n: oracle.erlang(2 * n, rate))


def _steps(probs: Any, **options: Any) -> Any:
  return pd.NegativeBinomialTrials(2, probs, **options)


def _steps_law(probs: Any) -> oracle.Law:
  return oracle.negative_binomial(2, probs, False)


def _failures(probs: Any, **options: Any) -> Any:
  return pd.NegativeBinomialFailures(2, probs, **options)


def _failures_law(probs: Any) -> oracle.Law:
  return oracle.negative_binomial(2, probs, True)


def _pair(function: Any) -> Any:
  """Returns a function of the two distributions of numbers of steps."""

  def build(probs: Any, more_probs: Any, **options: Any) -> Any:
    return function(
      [_steps(probs, **options), _failures(more_probs, **options)]
    )

  return build


def _pair_law(function: Any) -> Any:
  def law(probs: Any, more_probs: Any) -> oracle.Law:
    return function(_steps_law(probs), _failures_law(more_probs))

  return law


def _extreme_law(function: Any) -> Any:
  law = _pair_law(function)
  return lambda **probs: closure_oracle.of_steps(law(**probs))


def _order_of_steps(probs: Any, **options: Any) -> Any:
  return pd.order_statistic(_failures(probs, **options), 3, 2)


def _total_of_steps(probs: Any, more_probs: Any, **options: Any) -> Any:
  count = pd.NegativeBinomialTrials(1, probs, **options)
  one = pd.NegativeBinomialFailures(1, more_probs, **options)
  return pd.random_sum(count, one)


def _total_of_steps_law(probs: Any, more_probs: Any) -> oracle.Law:
  success = probs * more_probs / (1 - more_probs + probs * more_probs)
  return oracle.negative_binomial(1, success, True)


_PAIR = {"probs": 0.3, "more_probs": 0.6}
_TWO = {"prob_zero": 0.125, "rate": 0.75, "rates": [1.5, 0.25]}

CASES: dict[str, Case] = {
  "sum": Case(
    _sum,
    {"rates": [2.0, 0.3], "rate": 0.7},
    lambda rates, rate: oracle.hypoexponential([*rates, rate, rate]),
    _TIMES,
  ),
  "sum_with_zeros": Case(
    _sum_with_zeros,
    {"prob_zero": 2.0**-30, "rate": 0.7},
    lambda prob_zero, rate: closure_oracle.compound(
      [
        prob_zero**3,
        3 * prob_zero**2 * (1 - prob_zero),
        3 * prob_zero * (1 - prob_zero) ** 2,
        (1 - prob_zero) ** 3,
      ],
      lambda n: oracle.erlang(2 * n, rate),
    ),
    _TIMES,
    atom=True,
  ),
  "minimum": Case(
    _smaller,
    _TWO,
    lambda prob_zero, rate, rates: closure_oracle.minimum(
      _inflated_law(prob_zero, rate), oracle.hypoexponential(rates)
    ),
    _TIMES,
    atom=True,
  ),
  "maximum": Case(
    _larger,
    _TWO,
    lambda prob_zero, rate, rates: closure_oracle.maximum(
      _inflated_law(prob_zero, rate), oracle.hypoexponential(rates)
    ),
    _TIMES,
  ),
  "mixture": Case(
    _mixed,
    {"probs": [1 - 2.0**-40, 2.0**-40], "rate": 2.0, "rates": [1.5, 0.25]},
    lambda probs, rate, rates: oracle.mixture(
      probs, [oracle.erlang(2, rate), oracle.hypoexponential(rates)]
    ),
    _TIMES,
  ),
  "order_statistic": Case(
    _second,
    {"prob_zero": 2.0**-10, "rate": 0.7},
    lambda prob_zero, rate: closure_oracle.order_statistic(
      _inflated_law(prob_zero, rate), 4, 2
    ),
    _TIMES,
    atom=True,
  ),
  "random_sum": Case(
    _total,
    {"rate": 0.7},
    lambda rate: closure_oracle.compound(
      [oracle.mpf(1) / 4, oracle.mpf(1) / 4, oracle.mpf(1) / 2],
      lambda n: oracle.erlang(2 * n, rate),
    ),
    _TIMES,
    atom=True,
  ),
  "random_sum_with_zeros": Case(
    _total_with_zeros,
    {"prob_zero": 2.0**-10, "rate": 0.7},
    _total_with_zeros_law,
    _TIMES,
    atom=True,
  ),
  "sum_of_steps": Case(
    _pair(pd.convolution),
    _PAIR,
    _pair_law(closure_oracle.sum_of_steps),
    _COUNTS,
    discrete=True,
  ),
  "minimum_of_steps": Case(
    _pair(pd.minimum),
    _PAIR,
    _extreme_law(closure_oracle.minimum),
    (0.0, 1.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
  "maximum_of_steps": Case(
    _pair(pd.maximum),
    _PAIR,
    _extreme_law(closure_oracle.maximum),
    _COUNTS,
    discrete=True,
  ),
  "order_statistic_of_steps": Case(
    _order_of_steps,
    {"probs": 0.3},
    lambda probs: closure_oracle.of_steps(
      closure_oracle.order_statistic(_failures_law(probs), 3, 2)
    ),
    (0.0, 1.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
  "random_sum_of_steps": Case(
    _total_of_steps,
    {"probs": 0.3, "more_probs": 0.6},
    _total_of_steps_law,
    (0.0, 1.0, *_COUNTS),
    discrete=True,
    atom=True,
  ),
}
