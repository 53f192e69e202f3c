"""Times several functions side by side."""

from collections.abc import Callable
import statistics
import time
from typing import Any


def _once(function: Callable[[], object], count: int) -> float:
  # The process is pinned to one core: its CPU time is the time that a call
  # takes on a machine that does nothing else.
  start = time.process_time()
  for _ in range(count):
    function()
  return (time.process_time() - start) / count


def interleaved(
  functions: dict[str, Callable[[], Any]],
  repeats: int,
  target: float = 0.05,
  budget: float = 60.0,
  check: Callable[[dict[str, Any]], None] = lambda results: None,
) -> dict[str, float]:
  """The median CPU seconds of a call of each function.

  Rounds go through all functions in turn, so that a slow moment of the
  machine hits all of them alike.

  Args:
    functions: what to time, by name.
    repeats: the number of rounds.
    target: seconds that one function's turn should about take.
    budget: seconds after which no further round is begun.
    check: is given the results of the first call of each, before any round.

  Returns:
    Medians by name.
  """
  # Compiles, warms caches.
  check({name: function() for name, function in functions.items()})
  start = time.monotonic()
  counts, samples = {}, {}
  for name, function in functions.items():
    once = _once(function, 1)
    counts[name] = max(1, int(target / max(once, 1e-7)))
    # A call so slow that it is a turn of its own is a sample.
    samples[name] = [once] if counts[name] == 1 else []
  for round_ in range(repeats):
    if round_ > 0 and time.monotonic() - start > budget:
      break
    for name, function in functions.items():
      if round_ == 0 and samples[name]:
        continue
      samples[name].append(_once(function, counts[name]))
  return {name: statistics.median(xs) for name, xs in samples.items()}
