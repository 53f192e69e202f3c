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
that import it. Tests of native code and of the rewriter lie beside what they
test.
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
  """The tests, what they name, and what modules import."""

  def __init__(self, project: modules.Project):
    self._modules = [x for x in project.files if x.startswith("phasic.")]
    # By the words of their names.
    self._named: dict[frozenset[str], list[str]] = {}
    self._uses: dict[tuple[str, int], list[tuple[float, str]]] = {}
    self._importers: dict[str, dict[str, None]] = {}
    for name, file in project.files.items():
      if name.startswith("phasic."):
        for need in project.needs(file):
          self._importers.setdefault(need.module, {})[name] = None
      for place, folders in enumerate(_FOLDERS):
        if file.endswith("_test.py") and file.startswith(folders):
          words = _words(pathlib.PurePosixPath(file).stem) - {
            "test",
            "accuracy",
          }
          self._named.setdefault(words, []).append(file)
          needs = [need.module for need in project.needs(file)]
          for module, count in collections.Counter(needs).items():
            # Tests that name a module often, and few others.
            use = (count**2 / len(needs), file)
            self._uses.setdefault((module, place), []).append(use)

  def nearest(self, module: str) -> str:
    """Returns the test of a module, or of those nearest that import it."""
    folder, _, name = module.rpartition(".")
    # Tests whose folder is called like the module's, or like one above it, first.
    parts = set(folder.split("."))

    def near(file: str) -> int:
      return len(parts.intersection(file.split("/")))

    if found := self._named.get(_words(name)):
      return max(found, key=near)
    siblings = [x for x in self._modules if x.rpartition(".")[0] == folder]
    # A module that is imported in another way is tested with its folder.
    starts = (([module], 0), ([module], 1), ([folder], 0), (siblings, 0))
    for floor, place in starts:
      seen = set(floor)
      while floor:
        uses = [x for name in floor for x in self._uses.get((name, place), [])]
        if uses:
          return max(uses, key=lambda use: (near(use[1]), *use))[1]
        above = [x for name in floor for x in self._importers.get(name, {})]
        floor = [x for x in dict.fromkeys(above) if x not in seen]
        seen.update(floor)
    return "none"


def _words(name: str) -> frozenset[str]:
  """Returns the words of a name, without the ends of plurals."""
  return frozenset(re.sub("s$", "", word) for word in name.split("_"))
