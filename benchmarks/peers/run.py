"""Prints how fast phasic is next to what users would take instead of it.

Each library has a process of its own; all are pinned to one core and have one
thread. Values are compared first. Then the two processes of a row take turns,
and medians of wall times are compared.
"""

from collections.abc import Iterator, Sequence
import os
import subprocess

from absl import app
from absl import flags

from benchmarks import host
from benchmarks import page
from benchmarks import results
from benchmarks import words
from benchmarks.peers import cases
from benchmarks.peers import client
from benchmarks.peers import comparisons
from benchmarks.peers import measure
from benchmarks.peers import panel_cases

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
_PANEL = flags.DEFINE_boolean(
  "panel", False, "Compares multi-state models of panel data, and nothing else."
)
_PAGE = flags.DEFINE_boolean(
  "page",
  False,
  "Writes docs/benchmarks_peers.md, with --panel docs/benchmarks_panel.md.",
)

_PACKAGES = {"incumbent": "phasic", "phasegen": "phasegen"}
_PANEL_PACKAGES = ("numpy", "scipy", "jax")
_OWN_PACKAGES = (
  *("numpy", "scipy", "jax", "jaxbind", "tensorflow-cpu", "tfp-nightly"),
)


def _version(python: str, package: str) -> str:
  code = f"import importlib.metadata as m; print(m.version({package!r}))"
  return subprocess.run(
    [python, "-c", code], check=True, capture_output=True, text=True
  ).stdout.strip()


def _msm_version() -> str:
  code = "cat('R', as.character(getRversion()), 'with msm', "
  code += "as.character(packageVersion('msm')))"
  return subprocess.run(
    ["Rscript", "-e", code], check=True, capture_output=True, text=True
  ).stdout.strip()


def _facts() -> dict[str, str]:
  if _PANEL.value:
    facts = host.facts(_PANEL_PACKAGES, _REPEATS.value)
    return facts | {"beside them": _msm_version()}
  peers = [
    f"{_PACKAGES[name]} {_version(flag.value, _PACKAGES[name])}"
    for name, flag in _ENVIRONMENTS.items()
    if flag.value
  ]
  own = host.facts(_OWN_PACKAGES, _REPEATS.value)
  return own | {"in environments of their own": ", ".join(peers)}


def _compare(
  section: comparisons.Section, left_out: dict[str, str]
) -> Iterator[results.Row]:
  """Yields the rows of a section, and adds what is left out, and why."""
  chosen = [case for case in section.cases if _ONLY.value in case.peer]
  python = None
  if section.environment:
    python = _ENVIRONMENTS[section.environment].value
    if not python:
      reason = f"--{section.environment} is not given"
      left_out |= {f"{case.what}, {case.peer}": reason for case in chosen}
      return
  if not chosen:
    return
  with (
    client.Worker(section.rows) as ours,
    client.Worker(section.peer_rows, python) as peer,
  ):
    for case in chosen:
      try:
        yield measure.compare(case, ours, peer, _REPEATS.value)
      except client.Unavailable as error:
        left_out[f"{case.what}, {case.peer}"] = str(error)


def main(argv: Sequence[str]) -> None:
  if len(argv) > 1:
    raise app.UsageError(f"unexpected arguments: {argv[1:]}")
  if _PAGE.value and _ONLY.value:
    raise app.UsageError("--page needs all rows: leave out --only")
  # The processes of the libraries inherit it.
  if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
  facts = _facts()
  print(page.section("Machine", facts))
  print(results.text_line(results.HEADINGS))
  groups: dict[str, list[results.Row]] = {}
  left_out: dict[str, str] = {}
  compared = panel_cases if _PANEL.value else cases
  for section in compared.sections():
    for row in _compare(section, left_out):
      groups.setdefault(section.title, []).append(row)
      print(results.text_line(row.cells()), flush=True)
  print("\n" + page.section("Left out", left_out))
  if _PAGE.value:
    lists = {"Left out": left_out, "Machine": facts}
    written = words.PANEL if _PANEL.value else words.PEERS
    for path in page.write(written, groups, lists, host.docs_folder()):
      print(f"wrote {path}")


if __name__ == "__main__":
  app.run(main)
