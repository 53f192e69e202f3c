"""What the tests that are written once need: the table `tests/needs.bzl`.

Bazel runs a test again after a change of these alone.
"""

from collections.abc import Iterator
import pathlib
import runpy

from tools.rooms import phasic_rooms

TESTS = "tests/shared.bzl"
# In no room; what needs them has them by the rooms that it imports.
_OUTSIDE = ("_native", "include")


class Needs:
  """What helpers and tests import.

  Attributes:
    helpers: of each helper, by "helpers" and "rooms".
    tests: the same of each test.
    errors: what is wrong, each as `file:line: message`.
  """

  def __init__(self, root: pathlib.Path, rooms: phasic_rooms.Rooms):
    self._rooms = rooms
    self.errors: list[str] = []
    self.helpers = {
      path.stem: self._needs([f"tests/helpers/{path.name}"])
      for path in sorted((root / "tests/helpers").glob("*.py"))
      if path.name != "__init__.py"
    }
    try:
      tests = runpy.run_path(str(root / TESTS))["TESTS"]
    except SyntaxError as error:
      raise ValueError(f"{TESTS}:{error.lineno}: {error.msg}") from error
    known = set(rooms.project.files.values())
    self.tests = {}
    for name, test in tests.items():
      files = [f"tests/shared/{file}.py" for file in test["files"]]
      for file in files:
        if file not in known:
          self.errors.append(
            f"{TESTS}:1: {name} has {file}, which is not there"
          )
      self.tests[name] = self._needs(
        [file for file in files if file in known], test.get("rooms", ())
      )

  def _needs(
    self, files: list[str], more: tuple[str, ...] = ()
  ) -> dict[str, list[str]]:
    """Returns the helpers that files import, and the topmost rooms.

    Args:
      files: paths of files.
      more: rooms that they need although they do not import them by name.
    """
    helpers, used, packages = set(), set(more), set()
    for file in files:
      for need in self._rooms.project.needs(file):
        parts = need.module.split(".")
        if need.module == "phasic" and "phasic" not in more:
          self.errors.append(
            f"{file}:{need.line}: imports all of phasic, or a module that is not"
            f" there: name modules, or give its test rooms in {TESTS}"
          )
        elif parts[0] == "phasic":
          used.add(self._rooms.of(need.module))
          if need.package:
            packages.add(need.package.removeprefix("phasic."))
        elif parts[:2] == ["tests", "helpers"]:
          if not parts[2:]:
            self.errors.append(
              f"{file}:{need.line}: imports all helpers: name those it needs"
            )
          helpers.update(parts[2:3])
    return {
      "helpers": sorted(helpers),
      "rooms": list(self._topmost(used.difference(_OUTSIDE), packages)),
    }

  def _topmost(self, used: set[str], packages: set[str]) -> Iterator[str]:
    """Yields names of rooms and packages with which all used ones come."""
    rooms = self._rooms
    kept = rooms.sorted(used)
    for name in list(kept):
      rest = rooms.closure([other for other in kept if other != name])
      if set(rooms.members(name)) <= rest:
        kept.remove(name)
    yield from kept
    reached = rooms.closure(kept)
    for package in sorted(packages):
      if reached.isdisjoint(rooms.members(package)):
        yield package if package in rooms.names else f"{package}/package"
