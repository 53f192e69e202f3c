"""Times several functions side by side."""

from collections.abc import Callable
import statistics
import time


def _once(function: Callable[[], object], count: int) -> float:
  # The process is pinned to one core: its CPU time is the time that a call
  # takes on a machine that does nothing else.
  start = time.process_time()
  for _ in range(count):
    function()
  return (time.process_time() - start) / count


def interleaved(
  functions: dict[str, Callable[[], object]],
  repeats: int,
  target: float = 0.05,
) -> dict[str, float]:
  """The median CPU seconds of a call of each function.

  Rounds go through all functions in turn, so that a slow moment of the
  machine hits all of them alike.

  Args:
    functions: what to time, by name.
    repeats: the number of rounds.
    target: seconds that one function's turn should about take.

  Returns:
    Medians by name.
  """
  counts = {}
  for name, function in functions.items():
    function()  # Compiles, warms caches.
    once = _once(function, 1)
    counts[name] = max(1, int(target / max(once, 1e-7)))
  samples = {name: [] for name in functions}
  for _ in range(repeats):
    for name, function in functions.items():
      samples[name].append(_once(function, counts[name]))
  return {name: statistics.median(xs) for name, xs in samples.items()}
