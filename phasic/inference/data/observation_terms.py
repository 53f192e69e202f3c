"""Log likelihoods of single observations under any distribution."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from phasic.distributions.absorption import competing_risks
from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import inferring
from phasic.distributions.base import observed_events
from phasic.inference.data import observation_rules
from phasic.internal import static
from phasic.internal.arrays import Array
from phasic.math.likelihood import discrete_observations
from phasic.math.likelihood import observations
from phasic.math.model.model_types import Model
from phasic.math.numeric import array_utils
from phasic.math.numeric import special


def log_likelihood_terms(
  distribution: distribution_lib.Distribution,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> Array:
  """Computes log P(observation | X > entry) of each observation, unweighted.

  Observations and what they are conditional on are pairs of times of one call
  of the kernel, if the distribution is made of a chain. Each cause that may be
  known takes one more.

  Args:
    distribution: (batch...), one of `phasic.distributions`.
    lower: (..., n), as all the others.
    upper: as lower, or None where all are exact.
    entry: as lower, or None.
    cause: integers, or None.

  Returns:
    (..., n).
  """
  distribution, events = _find_events(distribution, lower, upper, entry, cause)
  if events is None:
    upper = lower if upper is None else upper
    if cause is not None:
      return observed_events.with_causes(
        distribution, lower, upper, entry, cause
      )
    return observed_events.log_likelihood_terms(
      distribution, lower, upper, entry
    )
  return _combined(events, cause, _kernel_values(events, cause))


def _find_events(
  distribution: distribution_lib.Distribution,
  lower: Array,
  upper: Array | None,
  entry: Array | None,
  cause: Array | None,
) -> tuple[distribution_lib.Distribution, observed_events.ChainEvents | None]:
  """Expresses observations as events of a distribution's chain, if it has one.

  Returns the distribution, with a batch that broadcasts, and the events.

  Raises:
    TypeError: there are causes, and the distribution is not made of a graph.
    ValueError: values that are known cannot be of this distribution.
  """
  kind = type(distribution).__name__
  if inferring.batch_shape(distribution):
    distribution = inferring.beside_values(distribution)
  if cause is not None and upper is None:
    upper = lower
  events = inferring.chain_events(distribution, lower, upper, entry)
  if events is not None and events.is_discrete:
    observation_rules.check_counts(lower, upper)
  if cause is not None:
    causes = (
      inferring.causes(distribution)
      if events is None
      else competing_risks.causes(events.chain)
    )
    if causes is None:
      raise TypeError(
        f"distribution is {kind}: only distributions of graphs have causes; "
        "make the distribution by from_graph"
      )
    observation_rules.check_causes(cause, causes)
  return distribution, events


def _kernel_values(
  events: observed_events.ChainEvents, cause: Array | None
) -> list[Array]:
  """Calls the kernel for all observations, and once more for each cause.

  The first result, (..., n), ends with the conditions, if there are any.
  """
  discrete = events.is_discrete
  lower, upper = _interval_ends(events, None if cause is None else cause < 0)
  if events.given is not None:
    lower = array_utils.joined(lower, events.given[0])
    upper = array_utils.joined(upper, events.given[1])
  values = [interval_log_probs(events.model, lower, upper, discrete)]
  if cause is not None:
    models = competing_risks.models_by_cause(events.chain)
    for number, model in enumerate(models):
      ends = _interval_ends(events, cause == number)
      values.append(interval_log_probs(model, *ends, discrete))
  return values


def _interval_ends(
  events: observed_events.ChainEvents, counts: Array | None
) -> tuple[Array, Array]:
  """Returns interval ends for one call; other events get probability one."""
  if counts is None:
    return events.lower, events.upper
  lower = np.where(counts, events.lower, -1.0)
  return lower, np.where(counts, events.upper, math.inf)


def _combined(
  events: observed_events.ChainEvents,
  cause: Array | None,
  values: Sequence[Array],
) -> Array:
  """Combines the results of the kernel calls to log likelihoods, (..., n)."""
  terms, given = values[0], None
  if events.given is not None:
    n = static.shape(events.lower)[-1]
    terms, given = terms[..., :n], terms[..., n:]
  if cause is not None:
    # A cause that is out of range, or of a right-censored observation, is
    # invalid: the log likelihood is then NaN.
    seen = np.logical_not(events.upper == math.inf)
    known = (cause < 0) | (seen & (cause < len(values) - 1))
    # The factor is NaN because, unlike `np.where`, a product with NaN makes the
    # derivatives NaN as well.
    terms = terms * np.where(known, np.ones_like(terms), math.nan)
    for number, value in enumerate(values[1:]):
      terms = np.where((cause == number) & seen, value, terms)
  if given is not None:
    terms = special.log_conditional(terms, given)
  return terms if events.offset is None else terms + events.offset


def interval_log_probs(
  model: Model, lower: Array, upper: Array | None, discrete: bool
) -> Array:
  """Computes the log probabilities of intervals under a chain."""
  initial_probs, matrix, exits, prob_zero = model
  if discrete:
    return discrete_observations.log_likelihood_terms(
      initial_probs,
      matrix,
      lower,
      upper,
      exit_probs=exits,
      prob_zero=prob_zero,
    )
  return observations.log_likelihood_terms(
    initial_probs,
    matrix,
    lower,
    upper,
    exit_rates=exits,
    prob_zero=prob_zero,
  )
