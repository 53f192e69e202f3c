"""Information matrices and scores of a log likelihood, in free parameters."""

from __future__ import annotations

import numpy as onp

from phasic.inference.data import likelihoods
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike


def scores(
  likelihood: likelihoods.Likelihood[likelihoods.MapT],
  inner: likelihoods.MapT,
) -> onp.ndarray:
  """Computes the scores of observations of positive weight, (n, d).

  Those of other observations are zero.
  """
  slopes = likelihood.scores(inner, inner.entries)
  slopes = onp.matmul(slopes, inner.jacobian(inner.entries))
  return onp.where(likelihood.weights[:, None] > 0, slopes, 0.0)


def outer_products(
  likelihood: likelihoods.Likelihood[likelihoods.MapT],
  inner: likelihoods.MapT,
) -> onp.ndarray:
  """Computes the weighted sum of outer products of the scores, (d, d)."""
  slopes = scores(likelihood, inner)
  weighted = likelihood.weights[:, None] * slopes
  return onp.matmul(onp.transpose(weighted), slopes)


def cluster_sums(
  likelihood: likelihoods.Likelihood[likelihoods.MapT],
  inner: likelihoods.MapT,
  clusters: ArrayLike | None,
) -> onp.ndarray:
  """Computes the weighted sums of scores in each cluster, (c, d).

  Raises:
    NotImplementedError: the log likelihood is no sum over observations.
    ValueError: `clusters` has another shape than the weights, a label is
      missing, or there is only one.
  """
  weighted = likelihood.weights[:, None] * scores(likelihood, inner)
  if clusters is None:
    return weighted
  index = numbered(clusters, likelihood.weights)
  kept = index >= 0
  sums = onp.zeros((int(onp.max(index)) + 1, onp.shape(weighted)[-1]))
  onp.add.at(sums, index[kept], weighted[kept])
  return sums


def numbered(clusters: object, weights: onp.ndarray) -> onp.ndarray:
  """Checks labels of clusters, and returns numbers in their place, (n,)."""
  labels = raw_arguments.host_array(clusters, "clusters")
  if onp.shape(labels) != onp.shape(weights):
    raise ValueError(
      f"clusters has shape {onp.shape(labels)}: it must be "
      f"{onp.shape(weights)}, one label for each observation"
    )
  lost = onp.asarray(labels != labels, bool)
  if onp.any(lost):
    raise ValueError(
      f"clusters[{int(onp.argmax(lost))}] is NaN: each observation needs the "
      "label of its cluster; give observations of their own a label each"
    )
  kept = weights > 0
  try:
    names, places = onp.unique(labels[kept], return_inverse=True)
  except TypeError:
    raise TypeError(
      "clusters has labels of different types: they must be numbers or strings"
    ) from None
  if len(names) < 2:
    raise ValueError(
      f"clusters has {len(names)} label: there must be at least two clusters, "
      "whose observations depend on each other"
    )
  numbers = onp.full(len(labels), -1)
  numbers[kept] = places
  return numbers


def precision(dtype: str) -> float:
  """Returns a score's rounding error, relative to the largest score."""
  return 1e3 * static.finfo_eps(dtype)


def slopes_and_information(
  likelihood: likelihoods.Likelihood[likelihoods.MapT],
  inner: likelihoods.MapT,
) -> tuple[onp.ndarray, onp.ndarray]:
  """Computes the gradient (d,) and minus the Hessian (d, d).

  Both are in the free parameters.
  """
  at = inner.entries
  second = likelihood.hessian(inner, at)
  _, gradient = likelihood.value_and_gradient(inner, at)
  slopes = inner.unconstrained_gradient(at, gradient)
  return slopes, -inner.unconstrained_hessian(at, gradient, second)
