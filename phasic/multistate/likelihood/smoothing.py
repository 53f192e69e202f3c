"""Forward and backward passes over paths, on the host, in logs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as onp

from phasic.internal import static
from phasic.multistate.likelihood import evaluation
from phasic.multistate.likelihood import layouts
from phasic.multistate.likelihood import likelihoods
from phasic.multistate.states import chains


class HostTables(NamedTuple):
  """The tables of the forward algorithm in double precision, see `Tables`.

  Attributes:
    matrices: (k, p, p).
    weights: (w, p).
    first: (s, p).
  """

  matrices: onp.ndarray
  weights: onp.ndarray
  first: onp.ndarray


class Passes(NamedTuple):
  """Log probabilities along s paths of up to l moves.

  Attributes:
    forward: of the phase after each move and the observations so far, (l + 1,
      s, p); the first row is before all moves.
    backward: of later observations given the phase, (l + 1, s, p).
  """

  forward: onp.ndarray
  backward: onp.ndarray

  def phase_probs(self) -> onp.ndarray:
    """Computes P(phase | all observations of the path), (l + 1, s, p)."""
    joint = self.forward + self.backward
    return onp.exp(joint - log_sum(joint)[..., None])


def host_tables(
  chain: chains.Chain, paths: layouts.Paths, known: evaluation.Evaluated
) -> HostTables:
  """Computes the tables of the forward algorithm."""
  tables = likelihoods.path_tables(chain, paths, *known)
  return HostTables(*(on_host(x) for x in tables))


def on_host(x: object) -> onp.ndarray:
  """Returns the values of an array in double precision.

  Raises:
    TypeError: it is traced.
  """
  known = static.concrete(x)
  if known is None:
    raise TypeError(
      "parameters are traced: decoding and EM steps need known values; call them "
      "outside of compiled and differentiated functions"
    )
  return onp.asarray(known, onp.float64)


def passes(tables: HostTables, paths: layouts.Paths) -> Passes:
  """Computes forward and backward probabilities."""
  matrices, weights = onp.asarray(paths.matrices), onp.asarray(paths.weights)
  forward = [tables.first]
  for matrix, weight in zip(matrices, weights, strict=True):
    moved = forward[-1][:, :, None] + tables.matrices[matrix]
    forward.append(log_sum(moved, 1) + tables.weights[weight])
  backward = [onp.zeros_like(tables.first)]
  for matrix, weight in zip(matrices[::-1], weights[::-1], strict=True):
    seen = tables.weights[weight] + backward[-1]
    backward.append(log_sum(tables.matrices[matrix] + seen[:, None, :]))
  return Passes(onp.stack(forward), onp.stack(backward[::-1]))


def log_sum(x: onp.ndarray, axis: int = -1) -> onp.ndarray:
  """Computes log sum exp(x) over an axis; -inf of zeros."""
  largest = onp.max(x, axis=axis, keepdims=True)
  largest = onp.where(largest > -onp.inf, largest, 0.0)
  with onp.errstate(divide="ignore"):
    log = onp.log(onp.sum(onp.exp(x - largest), axis=axis))
  return log + onp.squeeze(largest, axis)


def log_product(a: onp.ndarray, b: onp.ndarray) -> onp.ndarray:
  """Computes log(exp(a) exp(b)) of matrices, (s, p, p)."""
  result = onp.full(onp.shape(a), -onp.inf)
  for k in range(onp.shape(a)[-1]):
    result = onp.logaddexp(result, a[:, :, k, None] + b[:, k, None, :])
  return result
