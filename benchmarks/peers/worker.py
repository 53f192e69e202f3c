"""Answers requests for values and times of calls.

A comparison starts this file with the Python of an environment, and specifies
a file of rows: `python worker.py ROWS`. Only Python's standard library is
needed, as the environment belongs to a peer. A row is a function that makes a
call from its arguments; what it does before is not timed. It may return a pair
instead: the call, and a function that computes the values to compare.

Requests and answers are lines of JSON. A request names a row, its arguments
and the number of timings:

    {"row": "density", "arguments": {"lineages": 10}, "repeats": 1}

The answer has the values if there is no timing, else the seconds per call of
each timing; or the reason why the peer has no such row, or the traceback of an
error:

    {"values": [0.5, 0.25], "seconds": []}
    {"values": null, "seconds": [1.2e-5]}
    {"unavailable": "no derivatives"}
    {"error": "Traceback ..."}
"""

import gc
import importlib.util
import json
import os
import sys
import time
import traceback

_REAL_FOLDER = os.path.dirname(os.path.realpath(__file__))
# A timing takes at least as many seconds.
TURN = 0.02


class Row:
  """A row that was made: its call, its values, and the calls of a timing."""

  def __init__(self, made):
    self._call, self._values = made if isinstance(made, tuple) else (made, made)
    self._count = 0

  def values(self):
    return self._values()

  def seconds(self) -> float:
    """Returns the seconds per call of one timing."""
    if self._count == 0:
      # The first call compiles and fills caches.
      self._call()
      self._count = 1
      while (elapsed := self._elapsed()) < TURN:
        growth = 1.2 * TURN / max(elapsed, 1e-9)
        self._count = max(self._count + 1, int(self._count * min(growth, 20)))
    gc.collect()
    elapsed = self._elapsed()
    while elapsed < TURN:
      self._count = self._count * 3 // 2 + 1
      elapsed = self._elapsed()
    return elapsed / self._count

  def _elapsed(self) -> float:
    call = self._call
    start = time.perf_counter()
    for _ in range(self._count):
      call()
    return time.perf_counter() - start


class Answers:
  """Answers requests about the rows of a module; keeps the last row."""

  def __init__(self, rows):
    self._rows = rows
    self._key = None
    self._row = None

  def answer(self, request: dict) -> dict:
    """Returns the answer to one request; exceptions become answers too."""
    repeats = request.get("repeats", 0)
    try:
      key = (request["row"], json.dumps(request.get("arguments", {})))
      # Calls may take other parameters each time: values are of the first one.
      if key != self._key or repeats == 0:
        self._row = None
        make = getattr(self._rows, request["row"])
        self._row = Row(make(**request.get("arguments", {})))
        self._key = key
      values = plain(self._row.values()) if repeats == 0 else None
      seconds = [self._row.seconds() for _ in range(repeats)]
    except NotImplementedError as error:
      return {"unavailable": str(error)}
    except Exception:
      return {"error": traceback.format_exc()}
    return {"values": values, "seconds": seconds}


def plain(x):
  """Returns nested lists of floats for arrays of any library."""
  if isinstance(x, (list, tuple)):
    return [plain(item) for item in x]
  if hasattr(x, "numpy"):
    x = x.numpy()
  return x.tolist() if hasattr(x, "tolist") else float(x)


def load(path: str):
  """Returns the module of a file, whatever its folder is."""
  spec = importlib.util.spec_from_file_location("rows", path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def main(path: str) -> None:
  # Libraries print, too: their lines go to the standard error.
  output = os.fdopen(os.dup(1), "w", encoding="utf-8")
  os.dup2(2, 1)
  # Rows may import files beside them, which must not hide a peer's modules.
  here = os.path.dirname(os.path.abspath(path))
  sys.path = [x for x in sys.path if os.path.realpath(x) != _REAL_FOLDER]
  sys.path.append(here)
  answers = Answers(load(path))
  gc.disable()
  for line in sys.stdin:
    print(json.dumps(answers.answer(json.loads(line))), file=output, flush=True)


if __name__ == "__main__":
  main(sys.argv[1])
