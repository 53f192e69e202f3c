"""A plugin of pytest that runs the tests of each mutant until one fails.

MUTANTS_JOBS names a file of JSON, a mutant a line: its path, its text, the tests
that reach it, in their order, seconds until they have hung, and the reason if no
test can find it. A mutant whose functions alone differ is tried in a fork of this
process, which has imported all tests; another in a process of its own, with its
file in the place of the module. MUTANTS_RESULTS gets a line of JSON for each.
"""

import gc
import inspect
import itertools
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import types
from typing import Any

import pytest

_JOBS = pathlib.Path(os.environ["MUTANTS_JOBS"])
_RESULTS = pathlib.Path(os.environ["MUTANTS_RESULTS"])
# In a process of one mutant.
_ONLY = os.environ.get("MUTANTS_ONLY")
_FRESH = 77  # A child's exit status: it takes a process of its own.
_BYTES = 12 * 2**30  # A mutant that takes more has failed.
_failed: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
  if report.failed:
    _failed.append(f"{report.nodeid}: {report.longreprtext[-300:]}")


def _pieces(code: types.CodeType) -> dict[tuple[str, int], types.CodeType]:
  """Returns a piece of code and those in it, by name and line."""
  found = {(code.co_qualname, code.co_firstlineno): code}
  for inner in code.co_consts:
    if isinstance(inner, types.CodeType):
      found |= _pieces(inner)
  return found


def _own(code: types.CodeType) -> tuple[object, ...]:
  """Returns what a module or class does besides its functions."""
  constants = [x for x in code.co_consts if not isinstance(x, types.CodeType)]
  return code.co_code, code.co_names, repr(constants)


def _replaced(job: dict[str, Any]) -> bool:
  """Gives functions their mutated code; False where that is not the mutant."""
  text = pathlib.Path(job["path"]).read_text(encoding="utf-8")
  before, after = (
    _pieces(compile(x, job["path"], "exec")) for x in (text, job["text"])
  )
  if before.keys() != after.keys():
    return False
  changed = {k: code for k, code in after.items() if code != before[k]}
  for key, code in changed.items():
    # Modules and classes run once, when they are imported.
    is_function = code.co_flags & inspect.CO_OPTIMIZED
    if not is_function and _own(code) != _own(before[key]):
      return False
  count = 0
  for x in gc.get_objects():
    if isinstance(x, types.FunctionType):
      code = x.__code__
      key = (code.co_qualname, code.co_firstlineno)
      if key in changed and code.co_filename.endswith(job["path"]):
        x.__code__ = changed[key]
        count += 1
  return count > 0


def _run(items: list[pytest.Item]) -> None:
  """Runs tests until one fails."""
  for item, following in itertools.zip_longest(items, items[1:]):
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    if _failed:
      return


def _in_fork(job: dict[str, Any], items: list[pytest.Item]) -> tuple[str, str]:
  """Returns the outcome and why, of functions that are replaced."""
  read, write = os.pipe()
  child = os.fork()
  if not child:
    status = 1
    try:
      resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
      if not _replaced(job):
        status = _FRESH
      else:
        _run(items)
        status = 1 if _failed else 0
        os.write(write, "".join(_failed)[:1000].encode())
    except BaseException as error:
      os.write(write, f"not judged: {error!r}"[:1000].encode())
    finally:
      os._exit(status)
  os.close(write)
  end = time.monotonic() + job["seconds"]
  while True:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
      break
    if time.monotonic() > end:
      os.kill(child, signal.SIGKILL)
      os.waitpid(child, 0)
      break
    time.sleep(0.01)
  with os.fdopen(read, "rb") as file:
    why = file.read().decode()
  if not done:
    return "killed", f"longer than {job['seconds']:.0f} s"
  if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _FRESH:
    return _in_process(job)
  if not os.WIFEXITED(status):
    why = f"signal {os.WTERMSIG(status)}"
  if why.startswith("not judged"):
    raise RuntimeError(f"mutant {job['index']}: {why}")
  return "killed" if status else "survived", why


def _in_process(job: dict[str, Any]) -> tuple[str, str]:
  """Returns the same of a module that is imported anew."""
  path = pathlib.Path(job["path"])
  text = path.read_bytes()
  files = sorted({name.split("::")[0] for name in job["tests"]})
  main, *arguments = sys.argv
  arguments = [x for x in arguments if not x.endswith(".py")]
  command = [sys.executable, "-B", main, *arguments, *files]
  environment = os.environ | {"MUTANTS_ONLY": str(job["index"])}
  try:
    path.write_text(job["text"], encoding="utf-8")
    result = subprocess.run(
      command,
      env=environment,
      capture_output=True,
      text=True,
      timeout=job["seconds"],
    )
  except subprocess.TimeoutExpired:
    return "killed", f"longer than {job['seconds']:.0f} s"
  finally:
    path.write_bytes(text)
  why = [
    x for x in result.stdout.splitlines() if x.startswith(("FAILED", "E "))
  ]
  return "killed" if result.returncode else "survived", "".join(why[:2])


def pytest_runtestloop(session: pytest.Session) -> bool:
  items = {item.nodeid: item for item in session.items}
  done = set()
  if _RESULTS.exists():
    lines = _RESULTS.read_text(encoding="utf-8").splitlines()
    done = {json.loads(line)["index"] for line in lines}
  for line in _JOBS.read_text(encoding="utf-8").splitlines():
    job = json.loads(line)
    mine = [items[name] for name in job["tests"] if name in items]
    if _ONLY:
      if job["index"] == int(_ONLY):
        _run(mine)
        session.testsfailed = len(_failed)
    elif job["index"] not in done:
      start = time.monotonic()
      outcome, why = "equivalent", job["equivalent"]
      if not why:
        outcome, why = _in_fork(job, mine)
      row = {"index": job["index"], "outcome": outcome, "why": why}
      row["wall"] = round(time.monotonic() - start, 1)
      with _RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
  return True
