"""Log likelihoods of observations, one by one, of any distribution."""

import math
from typing import Any

import numpy as np

from phasic.distributions import competing_risks
from phasic.inference import chain_events
from phasic.inference import observation_rules
from phasic.inference import other_laws
from phasic.internal import static
from phasic.math import competing_risks as models_by_cause
from phasic.math import discrete_observations
from phasic.math import observations


def log_likelihood_terms(
  distribution: Any, lower: Any, upper: Any, entry: Any, cause: Any
) -> Any:
  """Returns log P(observation | X > entry), (..., n), without weights.

  Observations and what they are conditional on are pairs of times of one call
  of the kernel, if the distribution is made of a chain.

  Args:
    distribution: (batch...), one of `phasic.distributions`.
    lower: (..., n), as all the others.
    upper: as lower.
    entry: as lower, or None.
    cause: integers, or None.
  """
  if distribution._batch_shape():
    distribution = distribution[..., None]
  events = chain_events.find(distribution, lower, upper, entry)
  chain = None if events is None else events.chain
  _check_values(distribution, chain, lower, upper, cause)
  if events is None:
    return other_laws.log_likelihood_terms(distribution, lower, upper, entry)
  if cause is not None:
    found, given = _by_cause(events, cause)
  else:
    found, given = _together(events)
  if given is not None:
    found = found - given
  return found if events.offset is None else found + events.offset


def _together(events: chain_events.ChainEvents) -> tuple[Any, Any]:
  """Returns log probabilities of events and of conditions, from one call."""
  model, discrete = events.chain._model(), events.chain._DISCRETE
  if events.given is None:
    return _evaluate(model, discrete, events.lower, events.upper), None
  n = static.shape(events.lower)[-1]
  lower = _joined(events.lower, events.given[0])
  upper = _joined(events.upper, events.given[1])
  found = _evaluate(model, discrete, lower, upper)
  return found[..., :n], found[..., n:]


def _by_cause(events: chain_events.ChainEvents, cause: Any) -> tuple[Any, Any]:
  """As `_together`, for each cause that is known a call more."""
  chain: Any = events.chain
  right = events.upper == math.inf
  unknown = cause < 0
  # What is of another cause is certain in a call, so that it costs nothing.
  lower = np.where(unknown, events.lower, -1.0)
  upper = np.where(unknown, events.upper, math.inf)
  found, given = _together(events._replace(lower=lower, upper=upper))
  found = np.where(unknown, found, math.nan)
  for number in range(len(chain._causes())):
    own = cause == number
    initial_probs, edges, exits, prob_zero = chain._by_cause()
    has_atom = number == chain._cause_of_atom()
    model = models_by_cause.of_cause(
      number, initial_probs, edges, exits, prob_zero, has_atom
    )
    lower = np.where(own, events.lower, -1.0)
    upper = np.where(own, events.upper, math.inf)
    of_cause = _evaluate(model, chain._DISCRETE, lower, upper)
    found = np.where(own, of_cause, found)
  # An end that was not seen has no cause.
  return np.where(right & ~unknown, math.nan, found), given


def _evaluate(model: Any, discrete: bool, lower: Any, upper: Any) -> Any:
  """Returns log probabilities of pairs of ends."""
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


def _joined(x: Any, y: Any) -> Any:
  """Returns two arrays behind each other on the last axis."""
  shapes = static.shape(x)[:-1], static.shape(y)[:-1]
  batch = static.broadcast_shapes(*shapes)
  parts = [np.broadcast_to(z, (*batch, static.shape(z)[-1])) for z in (x, y)]
  return np.concatenate(parts, axis=-1)


def _check_values(
  distribution: Any, chain: Any, lower: Any, upper: Any, cause: Any
) -> None:
  """Raises where values that are known cannot be of this law."""
  if chain is not None and chain._DISCRETE:
    observation_rules.check_counts(lower, upper)
  if cause is None:
    return
  if not isinstance(chain, competing_risks.CompetingRisks):
    raise TypeError(
      f"distribution is {type(distribution).__name__}: causes are those of "
      "graphs; from_graph makes a distribution that has them"
    )
  observation_rules.check_causes(cause, chain._causes())
