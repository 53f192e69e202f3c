"""The statistics that the conformance suite tries, and those there are not."""

from collections.abc import Callable
import functools
from typing import Any

import mpmath

from tests import conformance
from tests.oracle import family_oracle
from tests.oracle import law_statistics

CALLS: dict[str, Callable[[Any], Any]] = {
  "mean": lambda dist: dist.mean(),
  "variance": lambda dist: dist.variance(),
  "stddev": lambda dist: dist.stddev(),
  "moment(2)": lambda dist: dist.moment(2),
  "moment(3)": lambda dist: dist.moment(3),
  "laplace_transform": lambda dist: dist.laplace_transform(0.5),
  "moment_generating_function": lambda dist: dist.moment_generating_function(
    -0.25
  ),
  "probability_generating_function": lambda dist: (
    dist.probability_generating_function(0.5)
  ),
  "entropy": lambda dist: dist.entropy(),
}
_MOMENTS = ("mean", "variance", "stddev")
_TRANSFORMS = ("laplace_transform", "moment_generating_function", "entropy")
_HIGHER = ("moment(2)", "moment(3)", *_TRANSFORMS)
# What a family may refuse, or has by sums over nodes, as the oracle would.
MISSING: dict[str, tuple[str, ...]] = {
  "weibull": _TRANSFORMS,
  "pareto": _HIGHER,  # Heavy tails have few moments.
  "gompertz": _TRANSFORMS,
  "log_normal": (*_MOMENTS, *_HIGHER),
  "log_logistic": (*_MOMENTS, *_HIGHER),
  "truncated": (*_MOMENTS, *_HIGHER),
  "truncated_trials": (
    *_MOMENTS,
    *_HIGHER,
    "probability_generating_function",
  ),
  "epochs": _TRANSFORMS,
}
# A density that jumps is no smooth function for the oracle's nodes.
JUMPS = {("epochs", "moment(3)")}


def names(family: str) -> list[str]:
  """The statistics that a family has, or may have."""
  discrete = conformance.CASES[family].discrete
  pgf = "probability_generating_function"
  return [name for name in CALLS if discrete or name != pgf]


def existing(family: str) -> list[str]:
  """The statistics that a family has."""
  missing = MISSING.get(family, ())
  return [name for name in names(family) if name not in missing]


def nodes(family: str, law: family_oracle.Law) -> law_statistics.Nodes:
  """Where expectations under the law of a family are summed."""
  # What falls twice as fast as an exponential needs more.
  per_unit = 96 if family == "gompertz" else 36
  discrete = conformance.CASES[family].discrete
  return law_statistics.nodes(law, discrete, per_unit)


@functools.cache
def exact(family: str, i: int) -> dict[str, float]:
  """The oracle's statistics of a family's i-th parameters."""
  with mpmath.workdps(conformance.digits(family)):
    law = conformance.law(family, conformance.varied(family, i))
    functions = law_statistics.statistics(law, nodes(family, law))
    return {name: float(functions[name](law)) for name in existing(family)}
