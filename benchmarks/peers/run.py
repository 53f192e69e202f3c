"""Prints how fast phasic is next to what users would take instead of it.

Each library has a process of its own; all are pinned to one core and have one
thread. Values are compared first. Then the two processes of a row take turns,
and medians of wall times are compared.
"""

from collections.abc import Iterator, Sequence
import datetime
import importlib.metadata
import os
import platform
import subprocess

from absl import app
from absl import flags

from benchmarks import host
from benchmarks import page
from benchmarks import results
from benchmarks.peers import cases
from benchmarks.peers import client
from benchmarks.peers import comparisons
from benchmarks.peers import measure

_ENVIRONMENTS = {
  "incumbent": flags.DEFINE_string(
    "incumbent", "", "The Python of requirements/*/peers-incumbent.txt."
  ),
  "phasegen": flags.DEFINE_string(
    "phasegen", "", "The Python of requirements/*/peers-phasegen.txt."
  ),
}
_REPEATS = flags.DEFINE_integer(
  "repeats", 5, "Rounds of which medians are taken."
)
_ONLY = flags.DEFINE_string(
  "only", "", "Compares only with peers whose names have this text."
)
_PAGE = flags.DEFINE_boolean("page", False, "Writes docs/benchmarks_peers.md.")

HEADINGS = (
  "what",
  "phasic",
  "peer",
  "which is",
  "ratio",
  "asked",
  "goal",
  "met",
)
_PACKAGES = {"incumbent": "phasic", "phasegen": "phasegen"}
_OWN_PACKAGES = (
  *("numpy", "scipy", "jax", "jaxbind", "tensorflow-cpu", "tfp-nightly"),
)


def _version(python: str, package: str) -> str:
  code = f"import importlib.metadata as m; print(m.version({package!r}))"
  return subprocess.run(
    [python, "-c", code], check=True, capture_output=True, text=True
  ).stdout.strip()


def _facts() -> dict[str, str]:
  versions = [f"Python {platform.python_version()}"] + [
    f"{package} {importlib.metadata.version(package)}"
    for package in _OWN_PACKAGES
  ]
  peers = [
    f"{_PACKAGES[name]} {_version(flag.value, _PACKAGES[name])}"
    for name, flag in _ENVIRONMENTS.items()
    if flag.value
  ]
  return {
    "machine": f"{host.machine()}, one core",
    "system": f"{platform.system()} {platform.machine()}",
    "versions": ", ".join(versions),
    "peers in environments of their own": ", ".join(peers),
    "day": datetime.date.today().isoformat(),
    "rounds": str(_REPEATS.value),
  }


def _cells(row: results.Row) -> tuple[str, ...]:
  *cells, met = row.cells()
  return (*cells, {"floor": "asked"}.get(met, met))


def _compare(
  section: comparisons.Section, left_out: list[tuple[str, str]]
) -> Iterator[tuple[str, ...]]:
  """Yields the lines of a section, and appends what is left out, and why."""
  chosen = [case for case in section.cases if _ONLY.value in case.peer]
  python = None
  if section.environment:
    python = _ENVIRONMENTS[section.environment].value
    if not python:
      left_out.extend(
        (f"{case.what}, {case.peer}", f"--{section.environment} is not given")
        for case in chosen
      )
      return
  if not chosen:
    return
  with (
    client.Worker(section.rows) as ours,
    client.Worker(section.peer_rows, python) as peer,
  ):
    for case in chosen:
      try:
        row = measure.compare(case, ours, peer, _REPEATS.value)
      except client.Unavailable as error:
        left_out.append((f"{case.what}, {case.peer}", str(error)))
      else:
        yield _cells(row)


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  if _PAGE.value and _ONLY.value:
    raise app.UsageError("--page needs all rows: leave out --only")
  # The processes of the libraries inherit it.
  if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
  facts = _facts()
  for name, fact in facts.items():
    print(f"{name}: {fact}")
  print("\n" + results.text_line(HEADINGS))
  lines: list[tuple[str, ...]] = []
  left_out: list[tuple[str, str]] = []
  for section in cases.sections():
    for line in _compare(section, left_out):
      lines.append(line)
      print(results.text_line(line), flush=True)
  for what, reason in left_out:
    print(f"left out: {what}: {reason}")
  if _PAGE.value:
    path = page.write_peers(
      facts, HEADINGS, lines, left_out, host.docs_folder()
    )
    print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
