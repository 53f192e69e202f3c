"""The statistics of the conformance suite, and missing ones."""

from collections.abc import Callable, Mapping
import functools
import math
import operator
from typing import Any

import mpmath

from tests.helpers import conformance
from tests.oracle import family_oracle
from tests.oracle import law_statistics

# Arguments of statistics that take some.
_ARGUMENTS = {
  "moment(2)": 2,
  "moment(3)": 3,
  "laplace_transform": 0.5,
  "moment_generating_function": -0.25,
  "probability_generating_function": 0.5,
  "limited_expected_value": float(law_statistics.LIMIT),
  "mean_residual_life": float(law_statistics.LIMIT),
}


def _call(name: str) -> Callable[[Any], Any]:
  arguments = [_ARGUMENTS[name]] if name in _ARGUMENTS else []
  return operator.methodcaller(name.partition("(")[0], *arguments)


CALLS = {name: _call(name) for name in law_statistics.STATISTICS}
# `modes_test` and `families_contract_test` test the remaining statistics.
OTHERS: dict[str, Callable[[Any], Any]] = {
  "covariance": lambda dist: dist.covariance(),
  "mode": lambda dist: dist.mode(),
  "experimental_default_event_space_bijector": lambda dist: (
    dist.experimental_default_event_space_bijector()
  ),
  "kl_divergence": lambda dist: dist.kl_divergence(dist),
  "cross_entropy": lambda dist: dist.cross_entropy(dist),
}

_NUMBERS = (
  *("geometric_mixture", "trials", "failures", "residual_trials"),
  *("truncated_trials", "discrete_phase_type", "discrete_graph"),
  "discrete_sparse",
)
_INHOMOGENEOUS = (
  *("weibull", "pareto", "gompertz", "log_normal", "log_logistic"),
  *("truncated", "truncated_trials"),
)
# Moments that do not exist, because of heavy tails.
INFINITE = {
  ("pareto", "moment(3)"),
  *(("log_logistic", f"moment({k})") for k in (2, 3)),
  *(("log_logistic", name) for name in ("variance", "stddev")),
}


def _missing() -> dict[tuple[str, str], str]:
  """Returns missing statistics by family and method, with messages."""
  found = {}
  for family in conformance.CASES:
    found[family, "covariance"] = "values are numbers"
    name = "probability_generating_function"
    if family in _NUMBERS:
      name = "experimental_default_event_space_bijector"
    found[family, name] = "whole numbers"
  for family in _INHOMOGENEOUS:
    why = "rates never change"
    found[family, "laplace_transform"] = why
    found[family, "moment_generating_function"] = why
  found["truncated_trials", "probability_generating_function"] = why
  for family in (
    *("hyper_erlang", "coxian", "acyclic", "equilibrium"),
    *("phase_type", "phase_type_exits", "graph", "sparse"),
    *("discrete_phase_type", "discrete_graph", "discrete_sparse"),
  ):
    found[family, "mode"] = "several maxima"
  found["epochs", "mode"] = "not known"
  found["zero_inflated", "mode"] = "a maximum at zero"
  return found


MISSING = _missing()


def existing(family: str) -> list[str]:
  """Returns the statistics that a family has."""
  return [name for name in CALLS if (family, name) not in MISSING]


def nodes(
  family: str, law: family_oracle.Law, *parameters: Mapping[str, Any]
) -> law_statistics.Nodes:
  """Returns quadrature points for expectations under a family.

  Args:
    family: its name.
    law: of the first parameters.
    *parameters: those of laws whose densities jump as well.
  """
  # Densities that decrease twice as fast as an exponential need more points.
  per_unit = 96 if family == "gompertz" else 36
  jumps = {t for each in parameters for t in each.get("boundaries", ())}
  ends = [parameters[0].get("delay", 0), *sorted(jumps), mpmath.inf]
  if "high" in parameters[0]:
    ends = [parameters[0]["low"], parameters[0]["high"]]
  discrete = conformance.CASES[family].discrete
  return law_statistics.nodes(law, discrete, per_unit, ends)


@functools.cache
def exact(family: str, i: int) -> dict[str, float]:
  """Computes the oracle's statistics of a family's i-th parameters."""
  with mpmath.workdps(conformance.digits(family)):
    parameters = conformance.varied(family, i)
    law = conformance.law(family, parameters)
    at = nodes(family, law, parameters)
    functions = law_statistics.statistics(law, at)
    return {
      name: math.inf
      if (family, name) in INFINITE
      else float(functions[name](law))
      for name in existing(family)
    }
