"""Selection of the rows of the conformance suite: families, groups, modes.

Each `conformance_*_test.py` is a group of checks, on every family of `CASES`:

- values: methods of a value, by mpmath; rules: log-space identities, values
  outside the support, NaN; statistics: moments, transforms, entropy,
  divergences, and missing ones; quantiles; samples: Kolmogorov-Smirnov and
  moments; dtypes;
  structure: shapes, batches, slices, copies, pytrees, validate_args;
- derivatives and statistics_derivatives: of every method in every parameter.

`make test` runs, in NumPy, the groups of every family eagerly and a covering set
of the other modes, in which all pairs meet. JAX and TensorFlow run the same
source, and each row takes them seconds. So they run every group in every mode,
and JAX runs every family in one of the modes that trace it. Every family is
called eagerly in both by `cross/public_distributions_test`, and traced in
TensorFlow by `tf/conformance_module_test`. Derivatives, and what draws its
cases, are in `make test-slow` there. What has no modes is beside them:
`conformance_round_trips_test` (drawn quantiles), `conformance_scipy_test`,
`conformance_rewards_test` (vectors), the families without 64-bit numbers in
`jax/conformance_float32_test`, and as variables in
`tf/conformance_module_test`.

`make test-all` runs the whole product, by the variable PHASIC_FULL_SWEEPS.
`pairwise_test` prints how many rows there are of each.
"""

from collections.abc import Mapping
import functools
import os
from typing import Any

import mpmath
import numpy as onp

from tests.helpers import chain_cases
from tests.helpers import family_cases
from tests.helpers import pairwise
from tests.oracle import family_oracle

MODE = "numpy"
FULL = os.environ.get("PHASIC_FULL_SWEEPS") == "1"
CASES = {**family_cases.CASES, **chain_cases.CASES}
# `families_accuracy_test` tests its thousand phases.
del CASES["erlang_1000"]

EAGER = "eager"
COMPILED = "compiled"
VECTORIZED = "vectorized"

GROUPS = (
  "values",
  "rules",
  "statistics",
  "quantiles",
  "samples",
  "dtypes",
  "structure",
)
DERIVATIVES = ("derivatives", "statistics_derivatives")
MODES: tuple[str, ...] = (EAGER, VECTORIZED)
_OF_DERIVATIVES: tuple[str, ...] = (EAGER,)
if MODE != "numpy":
  MODES = (EAGER, COMPILED, VECTORIZED)  # NumPy does not compile.
  _OF_DERIVATIVES = MODES

# Bounds, and times that are integers.
_FIXED = ("low", "high", "time", "delay")
_MANY_DIGITS = (
  *("hypoexponential", "near_rates", "coxian", "acyclic"),
  *("trials", "failures", "residual_trials", "truncated_trials"),
)
_MASSES = ("probs", "mixture_probs", "initial_probs")

# TensorFlow traces only a few groups quickly.
_IN_TF = (
  *("erlang", "hyperexponential", "coxian", "trials"),
  *("weibull", "zero_inflated", "sparse"),
)

# The default number of families in tests of derivatives, which are slow.
_EVERY = 8

Row = tuple[str, str, str]


@functools.cache
def covering_rows() -> tuple[Row, ...]:
  """Returns rows (family, group, mode) of the covering set.

  In JAX and TensorFlow each row takes seconds: there every group meets every
  mode, and in JAX every family meets a mode that traces it.
  """
  families = tuple(CASES)
  if MODE == "numpy":
    rows = pairwise.covering([families, GROUPS, MODES[1:]])
    found = [tuple(map(str, row)) for row in rows]
  elif MODE == "tf":
    # The numbers of groups and of modes have no common factor, so that these
    # are all pairs.
    found = [
      (family, GROUPS[i % len(GROUPS)], MODES[i % len(MODES)])
      for i, family in enumerate(_IN_TF * len(MODES))
    ]
  else:
    traced = MODES[1:]
    found = [
      (family, GROUPS[i % len(GROUPS)], traced[i % len(traced)])
      for i, family in enumerate(families)
    ]
    found += zip(families, GROUPS, (EAGER,) * len(GROUPS))
  return tuple((family, group, mode) for family, group, mode in found)


@functools.cache
def all_rows() -> tuple[Row, ...]:
  """Returns all combinations."""
  return tuple(
    (family, group, mode)
    for mode in MODES
    for group in (*GROUPS, *DERIVATIVES)
    for family in CASES
    if group in GROUPS or mode in _OF_DERIVATIVES
  )


@functools.cache
def chosen_rows() -> tuple[Row, ...]:
  """Returns the rows that run here."""
  if FULL:
    return all_rows()
  chosen = set(covering_rows())
  # The derivatives of each family take seconds.
  chosen |= {
    (family, group, EAGER)
    for group in DERIVATIVES
    for family in tuple(CASES)[::_EVERY]
  }
  if MODE == "numpy":
    chosen |= {(family, group, EAGER) for group in GROUPS for family in CASES}
  return tuple(row for row in all_rows() if row in chosen)


def rows(group: str) -> list[tuple[str, str, str]]:
  """Returns names of tests, families and modes of a group of checks."""
  if group not in (*GROUPS, *DERIVATIVES):
    return []
  return [
    (f"_{family}_{mode}", family, mode)
    for family, of, mode in chosen_rows()
    if of == group
  ]


def points(family: str, mode: str) -> tuple[list[dict[str, Any]], list[float]]:
  """Returns parameters with values; they differ only if vectorized."""
  case = CASES[family]
  if mode != VECTORIZED:
    return [dict(case.parameters)] * len(case.values), list(case.values)
  values = list(case.values[1:4])
  return [varied(family, i) for i in range(len(values))], values


def varied(family: str, i: int) -> dict[str, Any]:
  """Returns the i-th valid parameters of a family; i = 0 is the table's."""
  factor = 1 - i / 16

  def scaled(x: Any) -> Any:
    return [scaled(y) for y in x] if isinstance(x, list) else x * factor

  found = {}
  whole = "prob_zero" in CASES[family].parameters
  for name, x in CASES[family].parameters.items():
    found[name] = scaled(x)
    if name in _FIXED or (whole and "prob" in name):
      found[name] = x
    elif name in _MASSES and isinstance(x, list) and sum(x) == 1:
      # The first mass is reduced, and the second one raised by the same amount.
      found[name] = [x[0] * factor, x[1] + x[0] * (1 - factor), *x[2:]]
  return found


def law(family: str, parameters: Mapping[str, Any]) -> family_oracle.Law:
  """Returns the oracle's distribution; set the precision around calls."""
  return CASES[family].law(**exact_parameters(parameters))


def exact_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
  """Converts parameters to the oracle's numbers."""
  return {name: _exact(x) for name, x in parameters.items()}


def _exact(x: Any) -> Any:
  return [_exact(y) for y in x] if isinstance(x, list) else mpmath.mpf(x)


def arrays(parameters: Mapping[str, Any], dtype: str = "float64") -> Any:
  """Converts parameters to arrays."""
  return {name: onp.asarray(x, dtype) for name, x in parameters.items()}


def digits(family: str) -> int:
  """Returns the number of digits of the oracle."""
  # Rates that agree are told apart in many of them, and survival of numbers
  # is what is left of one.
  return family_oracle.DIGITS if family in _MANY_DIGITS else 200
