"""Rules that observations must meet, and reasons why likelihoods are NaN."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import numpy as onp

from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import method_results
from phasic.internal import array_ops
from phasic.internal import static
from phasic.internal import user_warnings
from phasic.internal.arrays import Array, Tree
from phasic.math.model import value_rules

# The names of the arrays of `Observations`, in the order of its arguments.
NAMES = ("lower", "upper", "weights", "entry", "cause")


def aligned(arrays: Mapping[str, Array | None]) -> dict[str, Tree]:
  """Broadcasts the arrays to their common shape (..., n)."""
  shapes = {
    name: static.shape(x) for name, x in arrays.items() if x is not None
  }
  shape = common_shape(shapes)
  if not shape:
    raise ValueError("lower is a scalar: observations have shape (..., n)")
  # Sizes that are unknown while TensorFlow traces cannot be compared. Arrays
  # are then always broadcast.
  known = all(isinstance(d, int) for size in shapes.values() for d in size)
  return {
    name: x
    if x is None or (known and shapes[name] == shape)
    else np.broadcast_to(x, shape)
    for name, x in arrays.items()
  }


def common_shape(shapes: Mapping[str, static.Shape]) -> static.Shape:
  """Returns the common shape of arrays.

  Raises:
    ValueError: the shapes do not broadcast; the message lists them.
  """
  try:
    return static.broadcast_shapes(*shapes.values())
  except ValueError:
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    raise ValueError(f"shapes do not broadcast: {listed}") from None


def checked(arrays: dict[str, Tree]) -> dict[str, Tree]:
  """Checks the values of the arrays, and returns the arrays.

  Raises:
    ValueError: a value breaks a rule; see `array_ops.check` for what happens
      while values are traced: the observations are then unknown, NaN.
  """
  given = _with_upper(arrays)
  known = {
    name: None if x is None else static.concrete(x) for name, x in given.items()
  }
  if all(x is None or known[name] is not None for name, x in given.items()):
    check_known(known, {})
    return arrays
  lower = arrays["lower"]
  for name, good, rule in _rules("lower", **given):
    lower = array_ops.check(good, f"{name}: {rule}", lower, given[name])
  return {**arrays, "lower": lower}


def check_known(arrays: Mapping[str, Tree], labels: Mapping[str, str]) -> None:
  """Raises ValueError for invalid values in host arrays.

  Args:
    arrays: by `NAMES`; `upper` may be None for `lower`.
    labels: the names in messages, where they are not those of `NAMES`.
  """
  known = _with_upper(arrays)
  start = repr(labels["lower"]) if "lower" in labels else "lower"
  for name, good, rule in _rules(start, **known):
    value_rules.check(
      labels.get(name, name), known[name], onp.asarray(good), rule
    )


def _with_upper(arrays: Mapping[str, Tree]) -> dict[str, Tree]:
  """Returns the arrays with upper ends, the lower ones if there are none."""
  upper = arrays["lower"] if arrays["upper"] is None else arrays["upper"]
  return {**arrays, "upper": upper}


def _rules(
  start: str,
  lower: Array,
  upper: Array,
  weights: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> list[tuple[str, Array, str]]:
  """Returns the name, mask of valid values, and text of each rule.

  The arrays are the host's or traced ones: only operators are used. Rules call
  the lower ends `start`.
  """
  rules = [
    ("lower", lower == lower, "it must be a number"),
    ("upper", upper == upper, "it must be a number, or inf for right-censored"),
    ("upper", upper >= 0, "values are times or counts >= 0"),
    ("upper", upper >= lower, f"it must be at least {start}"),
    ("lower", lower < math.inf, "it must be finite"),
  ]
  if weights is not None:
    good = (weights >= 0) & (weights < math.inf)
    rules.append(("weights", good, "a weight must be >= 0 and finite"))
  if entry is not None:
    rules += [
      ("entry", entry < math.inf, "it must be finite, below zero for none"),
      (
        "entry",
        (entry < 0) | (entry < upper) & ((entry < lower) | (lower != upper)),
        "the exit must be after the entry, else it was not seen; an entry below "
        "zero is none",
      ),
      (
        "entry",
        (entry < 0) | (entry <= lower) | (upper != math.inf),
        "a right-censored value must have been seen at the entry or later",
      ),
    ]
  if cause is not None:
    rules += [
      ("cause", cause >= -1, "it must be the number of a cause, or -1"),
      (
        "cause",
        (cause < 0) | (upper != math.inf),
        "a right-censored value has no cause yet: it must be -1",
      ),
    ]
  return rules


def check_counts(lower: Array, upper: Array | None) -> None:
  """Raises ValueError if a count that is known exactly is not whole."""
  known = static.concrete(lower)
  ends = known if upper is None else static.concrete(upper)
  if known is None or ends is None:
    return
  good = (known != ends) | (onp.floor(known) == known)
  rule = "a count that is known exactly must be whole"
  value_rules.check("lower", known, onp.asarray(good), rule)


def check_causes(cause: Array, causes: tuple[str | None, ...]) -> None:
  """Raises ValueError if a concrete index of a cause is out of range."""
  known = static.concrete(cause)
  if known is not None:
    rule = f"there are {len(causes)} causes, {causes}"
    value_rules.check("cause", known, onp.asarray(known < len(causes)), rule)


def warn_of_nan(
  distribution: distribution_lib.Distribution,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
  terms: Array,
) -> None:
  """Warns of the first observation whose log likelihood is NaN.

  It does not warn of NaN that parameters or times had, nor of parameters that
  were warned of before.

  Args:
    distribution: the distribution.
    lower: (..., n), lower ends as `Observations` has them.
    upper: upper ends, or None where all are exact.
    entry: times of entry, or None.
    terms: their log likelihoods, (..., n).
  """
  if not user_warnings.warns_of_nan() or method_results.has_bad_parameters(
    distribution
  ):
    return
  ends = [None if x is None else static.at_hand(x) for x in (upper, entry)]
  first, results = static.at_hand(lower), static.at_hand(terms)
  if first is None or results is None:
    return
  shape = onp.shape(results)
  missing = onp.isnan(results) & onp.logical_not(onp.isnan(first))
  for x in ends:
    missing = missing if x is None else missing & onp.logical_not(onp.isnan(x))
  if not onp.any(missing):
    return
  index, where = value_rules.first_place(missing)
  values = [
    None if x is None else float(onp.broadcast_to(x, shape)[index])
    for x in (first, *ends)
  ]
  low, high, since = values
  assert low is not None  # There is always a lower end.
  high = low if high is None else high
  why = onp.broadcast_to(
    _nan_reasons(distribution, low, high, since), shape[:-1]
  )
  late = "" if since is None or since < 0 else f", entered at {since:g}"
  user_warnings.warn(
    f"the log likelihood of observation {where}, from {low:g} to {high:g}{late}, "
    f"is NaN: {why[index[:-1]]}"
  )


def nan_reason(
  distribution: distribution_lib.Distribution,
  lower: float,
  upper: float,
  entry: float | None,
) -> str:
  """Returns why the log likelihood of one observation is NaN.

  Args:
    distribution: one without a batch.
    lower: its lower end, as `Observations` has it.
    upper: its upper end.
    entry: the time of entry, or None.
  """
  return str(_nan_reasons(distribution, lower, upper, entry))


def _nan_reasons(
  distribution: distribution_lib.Distribution,
  lower: float,
  upper: float,
  entry: float | None,
) -> onp.ndarray:
  """Returns the reason for each distribution of a batch."""
  if lower == upper:
    calls = [(lower, "log_prob")]
  elif upper == math.inf:
    calls = [(lower, "log_survival_function")]
  elif lower < 0:
    calls = [(upper, "log_cdf")]
  else:
    calls = [(x, "log_survival_function") for x in (lower, upper)]
  if entry is not None and entry >= 0:
    calls.append((entry, "log_survival_function"))
  reasons = onp.asarray("ok")
  for value, method in calls:
    try:
      why = method_results.of_density(distribution, value, method)
    except NotImplementedError:
      continue
    reasons = onp.where(reasons == "ok", why, reasons)
  rest = (
    "too few digits would be left, memory did not suffice, or all observations "
    "together need more work than the work limit; "
    "config.set_work_limit(seconds) raises it, and diagnose(value, method) gives "
    "the reasons of probabilities"
  )
  return onp.where(reasons == "ok", rest, reasons)
