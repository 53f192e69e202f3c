"""Mutation score of `math` and `distributions`, by the NumPy tests.

    tools/test_beside.sh mutants tests/mutants/mutants.py [COUNT [SEED]]

`make mutants` runs it. All it writes is in .build/mutants, and a run that was
stopped goes on where it was: README.md has the steps, and what was found.
"""

import ast
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import coverage
import drawn

_HERE = pathlib.Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_PYTHON = _ROOT / ".venv/bin/python"
_FOLDER = _ROOT / ".build/mutants"
_TREE = _FOLDER / "tree"
_PACKAGE = "phasic/substrates/numpy"
# Tests of builds and of native code, and what needs TensorFlow Probability.
_OTHERS = re.compile(
  "build_rules|interop/|seam_|native_|kepler|kernel_files|other_"
)
_SECONDS = 120.0  # of tests for one mutant, the fastest of all that reach it


def _tests() -> list[str]:
  """Returns the files of NumPy tests."""
  paths = [
    *_TREE.glob("tests/generated/numpy/shared/*/*_test.py"),
    *_TREE.glob("tests/numpy/*_test.py"),
  ]
  names = sorted(str(path.relative_to(_TREE)) for path in paths)
  return [name for name in names if not _OTHERS.search(name)]


def _make_tree() -> None:
  """Writes a copy of the NumPy package and its tests."""
  installed = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0])
  native = _FOLDER / "native"
  shutil.copytree(installed / "phasic/_native", native, dirs_exist_ok=True)
  command = [str(_PYTHON), "-B", "substrates/meta/generate_tree.py"]
  command += ["--outputs_root", str(_TREE), "--substrates", "numpy"]
  subprocess.run([*command, "--native", str(native)], cwd=_ROOT, check=True)
  for path in _ROOT.glob("tests/numpy/*.csv"):
    shutil.copy(path, _TREE / "tests/numpy")


def _run_tests(plugin: str, **environment: pathlib.Path | str) -> None:
  """Runs pytest in `.venv` with a plugin of this folder."""
  environment["PYTHONPATH"] = f"{_TREE}:{_HERE}"
  environment["MUTANTS_PACKAGES"] = pathlib.Path(coverage.__file__).parents[1]
  names = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
  names |= {name: str(value) for name, value in environment.items()}
  main = _ROOT / "tools/test_main.py"
  log = _FOLDER / f"{plugin}.log"
  print(f"mutants: {plugin}, see {log}", file=sys.stderr)
  with log.open("w", encoding="utf-8") as file:
    subprocess.run(
      [_PYTHON, "-B", main, "-p", plugin, *_tests()],
      cwd=_TREE,
      env=os.environ | names,
      stdout=file,
      stderr=file,
      check=False,
    )


def _statement(path: str, line: int) -> range:
  """Returns the lines of the innermost statement, of a compound one its head."""
  found = range(line, line + 1)
  for node in ast.walk(
    ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
  ):
    if isinstance(node, ast.stmt | ast.ExceptHandler):
      end = node.end_lineno or node.lineno
      if body := getattr(node, "body", None):
        end = max(node.lineno, body[0].lineno - 1)
      if node.lineno <= line <= end:
        found = range(node.lineno, end + 1)  # The walk goes inwards.
  return found


def _tests_of(mutant: drawn.Mutant, data: coverage.CoverageData) -> set[str]:
  """Returns the tests that reach a mutant."""
  reached = data.contexts_by_lineno(str(_TREE / mutant.path))
  lines = _statement(mutant.path, mutant.line)
  found = {name for line in lines for name in reached.get(line, ())}
  if found == {""}:  # At import: what it is for may be anywhere in the module.
    found = {name for names in reached.values() for name in names}
  return found - {""}


def _read(path: pathlib.Path) -> list[dict[str, Any]]:
  return [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]


def _jobs(count: int, seed: int) -> list[dict[str, Any]]:
  """Returns the mutants, with their texts and tests, the fastest first."""
  data = coverage.CoverageData(str(_FOLDER / "lines"))
  data.read()
  seconds = json.loads((_FOLDER / "lines.json").read_text(encoding="utf-8"))
  os.chdir(_TREE)
  rooms = (pathlib.Path(_PACKAGE, room) for room in ("math", "distributions"))
  paths = [str(path) for room in rooms for path in room.rglob("*.py")]
  known = {
    (x["path"], *x["change"]): x["why"]
    for x in _read(_HERE / "equivalent.jsonl")
  }
  jobs = []
  for index, mutant in enumerate(drawn.sample(paths, count, seed)):
    reaching = _tests_of(mutant, data) & seconds.keys()
    tests, total = [], 0.0
    for name in sorted(reaching, key=lambda name: seconds[name]):
      total += seconds[name]
      if total <= _SECONDS:
        tests.append(name)
    job = dataclasses.asdict(mutant) | {"index": index, "tests": tests}
    job |= {"left": len(reaching) - len(tests)}
    job |= {"seconds": 5 * min(total, _SECONDS) + 60}
    job |= {"text": mutant.text(), "change": mutant.change()}
    path = mutant.path.removeprefix(f"{_PACKAGE}/")
    jobs.append(job | {"equivalent": known.get((path, *job["change"]))})
  return jobs


def main(count: int = 200, seed: int = 1) -> None:
  """Makes what is missing, and prints survivors and the score."""
  _FOLDER.mkdir(parents=True, exist_ok=True)
  if not (_FOLDER / "lines.json").exists():
    _make_tree()
    _run_tests("recording", MUTANTS_LINES=_FOLDER / "lines")
  jobs, results = (
    _FOLDER / f"{x}-{count}-{seed}.jsonl" for x in ("jobs", "results")
  )
  if not jobs.exists():
    lines = [json.dumps(job) + "\n" for job in _jobs(count, seed)]
    jobs.write_text("".join(lines), encoding="utf-8")
  _run_tests("judging", MUTANTS_JOBS=jobs, MUTANTS_RESULTS=results)
  outcomes = {row["index"]: row["outcome"] for row in _read(results)}
  for job in _read(jobs):
    if outcomes.get(job["index"]) == "survived":
      tests = f"{len(job['tests'])} tests, {job['left']} left out"
      print(f"{job['path']}:{job['line']}: not found by {tests}")
      print(*job["change"], sep="\n")
  killed, survived = (
    sum(x == kind for x in outcomes.values()) for kind in ("killed", "survived")
  )
  rest = killed + survived
  print(
    f"{killed} of {rest} found, {killed / rest:.1%}; the others change nothing"
  )


if __name__ == "__main__":
  main(*map(int, sys.argv[1:]))
