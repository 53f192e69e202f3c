"""The E-step: what paths of a chain are expected to have done, given data.

Of an observation that is made only where X > e, what was never seen counts too:
for each one seen P(X <= e) / P(X > e) values are expected that were not, whose
paths ended before e. With them the data are complete, and the likelihood that
EM climbs is that of X given X > e.

References:
  S. Asmussen, O. Nerman, M. Olsson, Fitting phase-type distributions via the
    EM algorithm, Scand. J. Statist. 23, 1996.
  M. Olsson, Estimation of phase-type distributions from censored data, Scand.
    J. Statist. 23, 1996.
  A. P. Dempster, N. M. Laird, D. B. Rubin, Maximum likelihood from incomplete
    data via the EM algorithm, J. R. Statist. Soc. B 39, 1977, sec. 4.2.
"""

from typing import Any

import numpy as np

from phasic.inference import chain_paths
from phasic.internal import static
from phasic.math import competing_risks


def expected_paths(distribution: Any, observations: Any) -> chain_paths.Paths:
  """Returns what is expected of paths, given observations.

  Of right-censored ones it is what the path did up to then.

  Args:
    distribution: (batch...), a time until absorption.
    observations: `Observations`, whose leading axes broadcast with the batch.

  Raises:
    NotImplementedError: the native kernel does not run.
    ValueError: there are causes, and the distribution has none.
  """
  lower, upper = observations.lower, observations.upper
  entry, weights = observations.entry, observations.weights
  if weights is None:
    weights = np.ones_like(lower)
  if entry is not None:
    # What is before the entry is known not to be.
    lower = np.where(lower == upper, lower, np.maximum(lower, entry))
  batch = static.broadcast_shapes(
    distribution._batch_shape(), static.shape(lower)[:-1]
  )
  data = (lower, upper, weights)
  found, of_any = _of_causes(distribution, observations.cause, data, batch)
  if entry is not None:
    unseen = _unseen(distribution, entry, weights, batch)
    ends = np.where(entry < 0, 1.0, entry)
    lower = np.concatenate([lower, np.zeros_like(ends) - 1.0], axis=-1)
    upper = np.concatenate([upper, ends], axis=-1)
    of_any = np.broadcast_to(of_any, static.shape(unseen))
    of_any = np.concatenate([of_any, unseen], axis=-1)
  found.append(
    chain_paths.paths_of_chain(
      distribution._model(),
      (lower, upper, of_any),
      batch,
      distribution._DISCRETE,
    )
  )
  return chain_paths.Paths(
    *(sum(parts[1:], parts[0]) for parts in zip(*found, strict=True))
  )


def _of_causes(
  distribution: Any, cause: Any, data: tuple[Any, Any, Any], batch: static.Shape
) -> tuple[list[chain_paths.Paths], Any]:
  """Returns statistics by cause, and weights where no cause is known."""
  lower, upper, weights = data
  if cause is None:
    return [], weights
  if not hasattr(distribution, "_by_cause"):
    raise ValueError(
      f"cause is given, and {type(distribution).__name__} has no causes: "
      "distributions of graphs have them"
    )
  # What has not been absorbed yet has no cause yet.
  cause = np.where(upper == float("inf"), -1, cause)
  model, found = distribution._by_cause(), []
  for number in range(len(distribution._causes())):
    has_atom = number == distribution._cause_of_atom()
    given = chain_paths.paths_of_chain(
      competing_risks.of_cause(number, *model, has_atom),
      (lower, upper, np.where(cause == number, weights, 0.0)),
      batch,
      distribution._DISCRETE,
    )
    # The last phase is where paths to other causes are kept.
    found.append(
      given._replace(
        starts=given.starts[..., :-1],
        visits=given.visits[..., :-1],
        exits=given.exits[..., :-1],
        stays=given.stays[..., :-1],
      )
    )
  return found, np.where(cause < 0, weights, 0.0)


def _unseen(
  distribution: Any, entry: Any, weights: Any, batch: static.Shape
) -> Any:
  """Returns how many values are expected below each entry, (batch..., n)."""
  ends = np.where(entry < 0, 1.0, entry)
  before = np.zeros_like(ends) - 1.0
  forever = np.zeros_like(ends) + float("inf")
  terms = chain_paths.log_likelihood_terms(
    distribution._model(),
    np.concatenate([before, ends], axis=-1),
    np.concatenate([ends, forever], axis=-1),
    batch,
    distribution._DISCRETE,
  )
  n = static.shape(ends)[-1]
  odds = np.exp(terms[..., :n] - terms[..., n:])
  return np.where((entry < 0) | (weights == 0), 0.0, weights * odds)
