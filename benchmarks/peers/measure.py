"""Two processes that compute the same: their values, then their times."""

import statistics
from typing import Any

import numpy as onp

from benchmarks import results
from benchmarks.peers import client
from benchmarks.peers import comparisons


class Disagreement(AssertionError):
  """The values of phasic and of a peer differ by more than the tolerance."""


def difference(values: Any, others: Any) -> float:
  """Returns how far nested lists differ, relative to the largest number.

  Lists that make an array together have one largest number.

  Raises:
    Disagreement: the shapes differ, or something is not finite.
  """
  try:
    x, y = onp.array(values, float), onp.array(others, float)
  except ValueError:  # Lists of several lengths.
    if len(values) != len(others):
      raise Disagreement("the numbers of results differ") from None
    return max(difference(x, y) for x, y in zip(values, others, strict=True))
  if x.shape != y.shape:
    raise Disagreement(f"shapes differ: {x.shape} and {y.shape}")
  if not (onp.isfinite(x).all() and onp.isfinite(y).all()):
    raise Disagreement("there are values that are not finite")
  if x.size == 0:
    return 0.0
  largest = onp.abs(y).max()
  return float(onp.abs(x - y).max() / largest) if largest > 0 else 0.0


def check(case: comparisons.Case, values: Any, others: Any) -> None:
  """Compares the values of phasic and of a peer.

  Raises:
    Disagreement: they differ by more than the case's tolerance.
  """
  try:
    found = difference(values, others)
  except Disagreement as error:
    raise Disagreement(f"{case.what}, {case.peer}: {error}") from None
  if found > case.tolerance:
    raise Disagreement(
      f"{case.what}: phasic and {case.peer} differ by {found:.1e} of the "
      f"largest value: at most {case.tolerance:.0e} is allowed"
    )


def compare(
  case: comparisons.Case, ours: client.Worker, peer: client.Worker, repeats: int
) -> results.Row:
  """Compares values, then times by rounds in which the two take turns.

  Raises:
    Disagreement: the values differ.
    Unavailable: a library cannot compute them.
  """
  workers = ((ours, case.row), (peer, case.peer_row))
  check(case, *(worker.values(row, case.arguments) for worker, row in workers))
  samples: tuple[list[float], list[float]] = ([], [])
  for _ in range(repeats):
    for (worker, row), seconds in zip(workers, samples, strict=True):
      seconds.append(worker.seconds(row, case.arguments))
  own, other = (statistics.median(seconds) for seconds in samples)
  return results.Row(case.what, own, other, case.peer, case.reason)
