"""Circles of imports in phasic: of files, and of folders."""

from collections.abc import Iterator, Mapping, Set
import pathlib

from tools.rooms import modules


def check(project: modules.Project) -> list[str]:
  """Checks that no file or folder needs itself through others.

  Imports for type checkers alone count: who reads a file follows them, too.
  Public packages do not count, as they import their names on first use.

  Args:
    project: the modules.

  Returns:
    The errors, each as `file:line: message`.
  """
  files: dict[str, dict[str, int]] = {}
  folders: dict[str, set[str]] = {}
  for file in project.files.values():
    if not file.startswith("phasic/") or file.endswith("__init__.py"):
      continue
    needed = dict(_needed(project, file))
    files[file] = needed
    folder = pathlib.PurePosixPath(file).parent.as_posix()
    others = {pathlib.PurePosixPath(x).parent.as_posix() for x in needed}
    folders.setdefault(folder, set()).update(others - {folder})
  errors = []
  for circle in find({file: set(needed) for file, needed in files.items()}):
    first, second = circle[0], circle[1 % len(circle)]
    errors.append(
      f"{first}:{files[first][second]}: files import each other in a circle,"
      f" {' -> '.join([*circle, first])}: move what both need below them"
    )
  errors += [
    f"{circle[0]}:1: folders import each other in a circle,"
    f" {' -> '.join([*circle, circle[0]])}: move what both need below them"
    for circle in find(folders)
  ]
  return errors


def _needed(project: modules.Project, file: str) -> Iterator[tuple[str, int]]:
  """Yields the files that a file imports, and the lines that do."""
  for need in project.needs(file):
    other = project.files.get(need.module, "")
    is_own = other.startswith("phasic/") and not other.endswith("__init__.py")
    if is_own and other != file:
      yield other, need.line


def find(graph: Mapping[str, Set[str]]) -> list[list[str]]:
  """Returns a circle, as a path, for each set of nodes that reach each other.

  Args:
    graph: of each node, the nodes that it leads to.
  """
  found: list[list[str]] = []
  done: set[str] = set()
  for start in sorted(graph):
    if start in done:
      continue
    path = _circle(graph, start, done)
    if path:
      found.append(path)
      done.update(path)
  return found


def _circle(
  graph: Mapping[str, Set[str]], start: str, without: Set[str]
) -> list[str]:
  """Returns a shortest path from a node back to itself; [] if there is none."""
  before: dict[str, str] = {}
  ahead = [start]
  for node in ahead:
    for other in sorted(graph.get(node, ())):
      if other == start:
        path = [node]
        while path[-1] != start:
          path.append(before[path[-1]])
        return path[::-1]
      if other not in before and other not in without:
        before[other] = node
        ahead.append(other)
  return []
