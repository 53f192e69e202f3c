"""Hostile and judged calls in processes of their own, for as long as you like.

    python -m tests.campaign.campaign SECONDS SEED [SUBSTRATE...]

Each substrate runs the same cases. Prints a ledger, and each case that failed as
a few lines of Python; exits with 1 if there are any. A case is drawn from its seed
and number alone: `python -m tests.campaign.worker numpy SEED NUMBER 1` runs one.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
import itertools
import json
import math
import os
import queue
import resource
import statistics
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

# Cases of a process: what one leaves behind another may meet.
_BATCH = 200
# Turns of each substrate, and how long one is at least: some seconds start it.
_TURNS, _SHORTEST_TURN = 8, 20.0
# A case makes up to a dozen calls of at most ten seconds.
_LONGEST = 150.0
# What a process may allocate, in NumPy alone: JAX reserves addresses.
_MOST_BYTES = 12 << 30
# Megabytes by which NumPy's calls may grow in each quarter of a batch.
_MOST_LEFT = 40.0
# Values of the kernel are equal to the bit, and what is computed from them nearly.
_SAME = 1e-10
_SUBSTRATES = ("numpy", "jax", "tf")


class Failure(NamedTuple):
  """A case that failed.

  Attributes:
    substrate: where.
    number: its number.
    what: what was wrong.
    lines: the calls.
  """

  substrate: str
  number: int
  what: str
  lines: list[str]

  def __str__(self) -> str:
    shown = "\n".join(f"    {line}" for line in self.lines)
    return f"{self.substrate}, case {self.number}: {self.what}\n{shown}"


class Ledger:
  """Counts of calls by judge, failures, and results that substrates share."""

  def __init__(self) -> None:
    self.calls: collections.Counter[tuple[str, str]] = collections.Counter()
    self.failures: list[Failure] = []
    self._results: dict[int, tuple[str, list[float]]] = {}

  def add(self, substrate: str, row: dict[str, Any], lines: list[str]) -> None:
    """Adds what a case with these lines found."""
    self.calls[row["judge"], substrate] += row["calls"]
    number = row["number"]
    if "fault" in row:
      smallest = ["the smallest found:", *row["smallest"]]
      self.fail(substrate, number, row["fault"], lines + smallest)
      return
    first, values = self._results.setdefault(
      number, (substrate, row["results"])
    )
    if len(values) != len(row["results"]):
      return  # The model counts as invalid in one of them.
    for one, other in zip(values, row["results"], strict=True):
      if not (
        math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME) or one != one
      ):
        what = f"{other!r} and {one!r} in {first}"
        self.fail(substrate, number, what, lines)
        return

  def fail(
    self, substrate: str, number: int, what: str, lines: list[str]
  ) -> None:
    """Adds a case that failed."""
    self.failures.append(Failure(substrate, number, what, lines))

  def __str__(self) -> str:
    substrates = sorted({substrate for _, substrate in self.calls})
    judges = sorted({judge for judge, _ in self.calls})
    rows = [
      f"{judge:18s}"
      + "".join(f"{self.calls[judge, x]:10,d}" for x in substrates)
      for judge in judges
    ]
    head = f"{'calls':18s}" + "".join(f"{x:>10s}" for x in substrates)
    total = sum(self.calls.values())
    closing = f"{total:,} calls, {len(self.failures)} cases failed"
    return "\n".join([head, *rows, closing])


def run(seconds: float, seed: int, substrates: tuple[str, ...]) -> Ledger:
  """Runs cases for some time; substrates take turns, each from case 0 on."""
  ledger = Ledger()
  end = time.monotonic() + seconds
  turn = max(_SHORTEST_TURN, seconds / len(substrates) / _TURNS)
  following = dict.fromkeys(substrates, 0)
  while time.monotonic() < end:
    for substrate in substrates:
      until = min(end, time.monotonic() + turn)
      first = following[substrate]
      following[substrate] = _run_turn(ledger, substrate, seed, first, until)
  return ledger


def _run_turn(
  ledger: Ledger, substrate: str, seed: int, number: int, end: float
) -> int:
  """Runs cases until a time; goes on in another process after a crash.

  Returns:
    The number of the first case that was not run.
  """
  while time.monotonic() < end:
    process = _started(substrate, seed, number, _BATCH)
    begun: int | None = None
    lines: list[str] = []
    held: list[float] = []
    for row in _rows(process):
      if "begins" in row:
        begun, lines = row["begins"], []
        continue
      if "line" in row:
        lines.append(row["line"])
        continue
      ledger.add(substrate, row, lines)
      held.append(row["megabytes"])
      if substrate == "numpy" and len(held) == _BATCH and grows(held):
        what = f"memory grows from {held[0]:.0f} to {held[-1]:.0f} megabytes"
        ledger.fail(substrate, row["number"], what, [])
      number, begun = row["number"] + 1, None
      if time.monotonic() > end:
        process.kill()
        return number
    code = process.wait()
    if begun is not None or code:
      what = f"the process ended with {code}" if code else "it did not end"
      ledger.fail(substrate, number if begun is None else begun, what, lines)
      number += 1
  return number


def grows(held: list[float]) -> bool:
  """Returns whether memory grows all the time, and not in a step or two."""
  quarter = len(held) // 4
  ends = [statistics.median(held[i * quarter :][:quarter]) for i in range(4)]
  steps = [after - before for before, after in itertools.pairwise(ends)]
  return min(steps[1:]) > _MOST_LEFT


def _started(
  substrate: str, seed: int, first: int, count: int
) -> subprocess.Popen[str]:
  command = [sys.executable, "-P", "-m", "tests.campaign.worker", substrate]
  command += [str(seed), str(first), str(count)]
  environment = {**os.environ, "MPLBACKEND": "agg", "JAX_PLATFORMS": "cpu"}
  environment["TF_CPP_MIN_LOG_LEVEL"] = "3"

  def limit() -> None:
    if substrate == "numpy":
      resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))

  return subprocess.Popen(
    command,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
    env=environment,
    preexec_fn=limit,
  )


def _rows(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
  """Yields a process's rows; kills it if there is none for too long."""
  lines: queue.Queue[str] = queue.Queue()
  assert process.stdout is not None
  stdout = process.stdout

  def read() -> None:
    for line in stdout:
      lines.put(line)
    lines.put("")

  threading.Thread(target=read, daemon=True).start()
  while True:
    try:
      line = lines.get(timeout=_LONGEST)
    except queue.Empty:
      process.kill()
      return
    if not line:
      return
    if line.startswith("{"):  # Others are what a call printed.
      yield json.loads(line)


def main(argv: list[str]) -> int:
  """Runs a campaign; returns the exit status."""
  seconds, seed, *substrates = argv
  ledger = run(float(seconds), int(seed), tuple(substrates) or _SUBSTRATES)
  for failure in ledger.failures:
    print(failure)
  print(ledger)
  return 1 if ledger.failures else 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
