"""Which modules a Python file needs, seen through the public packages.

`from phasic import distributions as pd` and `pd.Erlang` need the module of
`Erlang`, not all of `distributions`, as public packages import their names on
first use.
"""

import ast
from collections.abc import Iterator
import dataclasses
import pathlib
import re

# A substrate's modules, and those of its tests, go by the names of their
# sources.
_SUBSTRATE = re.compile(
  r"^(phasic\.substrates|tests\.generated)\.(numpy|jax|tf)"
)


@dataclasses.dataclass(frozen=True)
class Need:
  """A line of a file that needs a module.

  Attributes:
    line: its number.
    module: a module, or a public package all of whose names are meant.
  """

  line: int
  module: str


def _module(path: pathlib.PurePosixPath) -> str:
  parts = path.with_suffix("").parts
  return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Project:
  """The modules of `phasic` and `tests` below a root.

  Attributes:
    files: by module, its path.
    public: by public package, the module of each of its names.
  """

  def __init__(self, root: pathlib.Path, packages: list[str]):
    self._root = root
    self.files: dict[str, str] = {}
    for folder in ("phasic", "tests"):
      for path in sorted((root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        self.files[_module(pathlib.PurePosixPath(name))] = name
    self.public = {
      f"phasic.{package}": self._names(f"phasic.{package}")
      for package in packages
      if f"phasic.{package}" in self.files
    }

  def tree(self, file: str) -> ast.Module:
    """Parses a file."""
    return ast.parse((self._root / file).read_text(encoding="utf-8"), file)

  def _names(self, package: str) -> dict[str, str]:
    """Returns the module of each public name of a package."""
    names = {}
    for node in self.tree(self.files[package]).body:
      if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
          module = f"{node.module}.{alias.name}"
          names[alias.asname or alias.name] = (
            module if module in self.files else node.module
          )
    return names

  def needs(self, file: str) -> Iterator[Need]:
    """Yields what a file needs of `phasic` and `tests`."""
    tree = self.tree(file)
    packages: dict[str, str] = {}  # by local name
    for node in ast.walk(tree):
      if isinstance(node, ast.Import):
        for alias in node.names:
          if alias.name.split(".")[0] in ("phasic", "tests"):
            yield Need(node.lineno, self._known(_canonical(alias.name)))
      elif isinstance(node, ast.ImportFrom) and node.module:
        if node.module.split(".")[0] not in ("phasic", "tests"):
          continue
        for alias in node.names:
          module = _canonical(f"{node.module}.{alias.name}")
          if module in self.public:
            packages[alias.asname or alias.name] = module
          else:
            yield Need(node.lineno, self._known(module))
    yield from self._uses(tree, packages)

  def _known(self, module: str) -> str:
    """Returns the module that a dotted name is of."""
    package, _, name = module.rpartition(".")
    if module in self.files or not package:
      return module
    if package in self.public:
      return self.public[package].get(name, package)
    return self._known(package)

  def _uses(self, tree: ast.Module, packages: dict[str, str]) -> Iterator[Need]:
    """Yields the modules of the names of public packages that are used."""
    attributes = {
      id(node.value): node
      for node in ast.walk(tree)
      if isinstance(node, ast.Attribute)
    }
    for node in ast.walk(tree):
      if not isinstance(node, ast.Name) or node.id not in packages:
        continue
      package = packages[node.id]
      attribute = attributes.get(id(node))
      module = package
      if attribute is not None:
        module = self.public[package].get(attribute.attr, package)
        # A public module of a public package, such as graphs.models.
        submodule = f"{package}.{attribute.attr}"
        if f"{module}.".startswith(f"{submodule}."):
          module = submodule
      yield Need(node.lineno, module)


def _canonical(module: str) -> str:
  """Returns the source's name of a substrate's module."""
  return _SUBSTRATE.sub(lambda match: match[1].split(".")[0], module)
