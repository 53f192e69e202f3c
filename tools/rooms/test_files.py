"""Which test file to open for each module: the page `tests/README.md`."""

import collections
import pathlib
import re

from tools.rooms import modules

# Those of a framework are for modules that no others reach.
_FOLDERS = (("tests/shared", "tests/numpy"), ("tests/jax", "tests/tf"))
_HEAD = """# Which test to open

{note}

For each module, the file of `tests` that tests it most directly: the one with
its name, or else the one that is most about it, or else the one of the modules
that import it. Tests of native code and of the rewriter lie beside it.
"""


def page(project: modules.Project, note: str) -> str:
  """Returns the page."""
  table = _Table(project)
  lines = [_HEAD.format(note=note)]
  folder = None
  for module, file in sorted(project.files.items(), key=lambda item: item[1]):
    path = pathlib.PurePosixPath(file)
    if path.parts[0] != "phasic" or path.name == "__init__.py":
      continue
    if path.parent != folder:
      folder = path.parent
      lines += [f"\n## {folder}\n", "| module | test |", "| --- | --- |"]
    lines.append(f"| `{path.name}` | `{table.nearest(module)}` |")
  return "\n".join(lines) + "\n"


class _Table:
  """The tests that name each module, and the modules that import it."""

  def __init__(self, project: modules.Project):
    self._names = {
      name: _words(name.rpartition(".")[2])
      for name in project.files
      if name.startswith("phasic.")
    }
    self._ranks: dict[tuple[str, int], list[tuple[float, str]]] = {}
    self._importers: dict[str, dict[str, None]] = {}
    for name, file in project.files.items():
      if name in self._names:
        for need in project.needs(file):
          self._importers.setdefault(need.module, {})[name] = None
      for place, folders in enumerate(_FOLDERS):
        if file.endswith("_test.py") and file.startswith(folders):
          needs = [need.module for need in project.needs(file)]
          self._rank(file, place, collections.Counter(needs))

  def _rank(
    self, file: str, place: int, uses: collections.Counter[str]
  ) -> None:
    """Ranks the modules that a test names: by its name, then by its uses."""
    words = _words(pathlib.PurePosixPath(file).stem.removesuffix("_test"))
    own = max(
      (_likeness(words, name) for name in self._names.values()), default=0.0
    )
    for module, count in uses.items():
      likeness = _likeness(words, self._names.get(module, frozenset()))
      is_own = likeness == own and likeness >= 0.5
      rank = is_own * likeness + count**2 / (1 + uses.total()) / 1e4
      self._ranks.setdefault((module, place), []).append((rank, file))

  def nearest(self, module: str) -> str:
    """Returns the test of a module, or of those nearest that import it."""
    siblings = [
      name
      for name in self._names
      if name.rpartition(".")[0] == module.rpartition(".")[0]
    ]
    # What is imported in another way is tested with its folder.
    for start, place in (([module], 0), ([module], 1), (siblings, 0)):
      floor, seen = start, set(start)
      while floor:
        ranks = [
          x for name in floor for x in self._ranks.get((name, place), [])
        ]
        if ranks:
          return max(ranks)[1]
        above = [x for name in floor for x in self._importers.get(name, {})]
        floor = [x for x in dict.fromkeys(above) if x not in seen]
        seen.update(floor)
    return "none"


def _words(name: str) -> frozenset[str]:
  """Returns the words of a name, without the ends of plurals."""
  return frozenset(re.sub("s$", "", word) for word in name.split("_"))


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
  return len(words & others) / len(words | others) if others else 0.0
