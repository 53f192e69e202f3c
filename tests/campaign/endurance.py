"""Mixed calls in threads for a long time: what a process keeps must not grow.

    python -m tests.campaign.endurance SUBSTRATE SECONDS

Draws memory over time, a line for each of sixty looks, with the number of calls,
open files and threads. Exits with 1 if any of these grows after the first quarter.
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
import threading
import time
import types
from typing import Any
import warnings

import numpy as np

from tests.campaign import choices
from tests.campaign import draws
from tests.campaign import kinds
from tests.campaign import laws
from tests.campaign import memory
from tests.campaign import objects
from tests.campaign import scene as scene_lib
from tests.campaign import surface

_THREADS = 4
_LOOKS = 60  # How often memory is read.
_SETTLED = 0.25  # The part of the time after which nothing may grow.
# Memory that the calls of a moment hold, and what a look may be off by.
_SLACK_MEGABYTES, _SLACK_SHARE = 32.0, 0.05
_METHODS = (
  "log_prob(t)",
  "cdf(t)",
  "mean()",
  "quantile(0.5)",
  "hazard_function(t)",
)
# Compilations of frameworks are of few shapes; a case has one of these seeds.
_POOL = 200


def main(argv: list[str]) -> int:
  """Runs calls and looks; returns the exit status."""
  substrate, seconds = argv
  if substrate == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
  names = {**draws.NAMES, **scene_lib.modules(substrate)}
  names["config"].set_work_limit(0.5)
  warnings.simplefilter("ignore")
  entries = [x for x in surface.entries(substrate) if _is_quick(x.name)]
  end = time.monotonic() + float(seconds)
  calls = [0] * _THREADS

  def work(thread: int) -> None:
    number = thread
    while time.monotonic() < end:
      number += _THREADS
      calls[thread] += 1
      _call(substrate, names, entries, number)

  threads = [threading.Thread(target=work, args=(i,)) for i in range(_THREADS)]
  for thread in threads:
    thread.start()
  rows = []
  while any(thread.is_alive() for thread in threads):
    time.sleep(float(seconds) / _LOOKS)
    rows.append(_look(float(seconds) - (end - time.monotonic()), sum(calls)))
    print(_line(rows[-1]), flush=True)
  return 0 if is_flat(rows) else 1


def is_flat(rows: list[dict[str, float]]) -> bool:
  """Returns whether nothing grows between the first and the last settled looks."""
  settled = rows[int(_SETTLED * len(rows)) :]
  third = max(1, len(settled) // 3)
  for name in ("megabytes", "files", "threads"):
    first = statistics.median(row[name] for row in settled[:third])
    last = statistics.median(row[name] for row in settled[-third:])
    slack = 2.0
    if name == "megabytes":
      slack = _SLACK_MEGABYTES + _SLACK_SHARE * first
    if last > first + slack:
      return False
  return True


def _call(
  substrate: str, names: dict[str, Any], entries: Any, number: int
) -> None:
  """Makes a call of any name, or of a law's method, compiled as a rule."""
  pooled = number if substrate == "numpy" else number % _POOL
  draw = draws.Draw(choices.Choices([62, pooled]), 12)
  own = dict(names)
  if number % 3 == 0:
    text = kinds.Arguments(draw).call(draw.one_of(entries))
  else:
    law = laws.Laws(draw).phase_law(1)
    rate = np.random.default_rng(number).uniform(0.5, 2.0)
    text = f"({law}).{draw.one_of(_METHODS)}"
    own["t"] = rate
    if number % 3 == 1:
      method = draw.one_of(("log_prob", "cdf", "survival_function"))
      f = f"lambda t: pd.Hypoexponential([t, 1.0, 2.0 * t]).{method}(t)"
      text = f"pm.value_and_gradient({f}, np.asarray(t))"
  try:
    eval(_code(text), own)
  except (Exception, objects.Refused):
    return  # The campaign judges; here only what is kept counts.


@functools.lru_cache(maxsize=1000)
def _code(text: str) -> types.CodeType:
  """Compiles an expression; TensorFlow keeps what it has seen of code."""
  return compile(text, "<call>", "eval")


def _is_quick(name: str) -> bool:
  return not any(
    x in name for x in ("fit_", "choose", "bootstrap", "plot", "native")
  )


def _look(seconds: float, calls: int) -> dict[str, float]:
  return {
    "seconds": round(seconds, 1),
    "calls": calls,
    "megabytes": memory.megabytes(),
    "files": len(os.listdir("/proc/self/fd")),
    "threads": len(os.listdir("/proc/self/task")),
  }


def _line(row: dict[str, float]) -> str:
  shown = " ".join(f"{name} {value:10,.0f}" for name, value in row.items())
  return f"{shown}  {'#' * int(row['megabytes'] / 50.0)}"


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
