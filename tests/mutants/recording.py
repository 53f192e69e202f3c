"""A plugin of pytest that notes the lines that each test reaches, and its seconds.

MUTANTS_LINES names the file for coverage's data, whose contexts are tests;
seconds are in a file of that name and ".json", without tests that did not pass.
"""

from collections.abc import Iterator
import json
import os
import pathlib
import pkgutil
import sys
import time

import pytest

sys.path.append(os.environ["MUTANTS_PACKAGES"])
import coverage

import phasic.substrates.numpy as package

_LINES = os.environ["MUTANTS_LINES"]
_SOURCES = [
  f"{package.__path__[0]}/{room}/*" for room in ("math", "distributions")
]
_seconds: dict[str, float] = {}
_others: set[str] = set()

_coverage = coverage.Coverage(
  data_file=_LINES, config_file=False, include=_SOURCES
)
_coverage.start()
# What a module does when it is imported belongs to no test.
for _room in ("math", "distributions"):
  _start = f"{package.__name__}.{_room}"
  for _module in pkgutil.walk_packages(
    [f"{package.__path__[0]}/{_room}"], f"{_start}."
  ):
    __import__(_module.name)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
  _coverage.switch_context(item.nodeid)
  start = time.process_time()
  try:
    return (yield)
  finally:
    _seconds[item.nodeid] = time.process_time() - start
    _coverage.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
  if not report.passed:
    _others.add(report.nodeid)


def pytest_sessionfinish() -> None:
  _coverage.stop()
  _coverage.save()
  kept = {name: s for name, s in _seconds.items() if name not in _others}
  pathlib.Path(f"{_LINES}.json").write_text(json.dumps(kept), encoding="utf-8")
