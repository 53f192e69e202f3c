"""Which modules a Python file needs, seen through the public packages.

`from phasic import distributions as pd` and `pd.Erlang` need the module of
`Erlang`, not all of `distributions`, as public packages import their names on
first use.
"""

import ast
from collections.abc import Iterator
import pathlib
import re
from typing import NamedTuple

# A substrate's modules, and those of its tests, go by the names of their
# sources.
_SUBSTRATE = re.compile(
  r"^(phasic|tests)\.(?:substrates|generated)\.(?:numpy|jax|tf)(?=\.|$)"
)
_ROOTS = ("phasic", "tests")


class Need(NamedTuple):
  """A line of a file that needs a module."""

  line: int
  module: str  # or a public package, all of whose names are meant
  package: str | None = None  # through which the file names it
  is_public: bool = False  # whether it is had by a public name


class PublicName(NamedTuple):
  """A name that a public package has."""

  line: int  # of the package's `__init__.py`
  origin: str  # the dotted name that it is imported from, or the package
  module: str  # that has it, or that it is


def _module(path: pathlib.PurePosixPath) -> str:
  parts = path.with_suffix("").parts
  return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _package(module: str) -> str:
  """Returns the package that a public module is, or is in."""
  return ".".join(module.split(".")[:2])


class Project:
  """The modules of `phasic` and `tests` below a root.

  Attributes:
    files: by module, its path.
    folders: the folders with modules, by dotted names.
    public: its names, by public package, and by module in its folder that it
      imports.
  """

  def __init__(self, root: pathlib.Path, packages: list[str]):
    self._root = root
    self._needs: dict[str, list[Need]] = {}  # by file; several checks ask
    self.files: dict[str, str] = {}
    for folder in _ROOTS:
      for path in sorted((root / folder).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        module = _module(pathlib.PurePosixPath(name))
        if module in self.files:
          raise ValueError(
            f"{name}:1: {self.files[module]} is the module {module}, too:"
            " rename one of them"
          )
        self.files[module] = name
    self.folders = {
      ".".join(parent.parts)
      for file in self.files.values()
      for parent in pathlib.PurePosixPath(file).parents
    }
    self.public = {
      f"phasic.{package}": self._names(f"phasic.{package}")
      for package in packages
      if f"phasic.{package}" in self.files
    }
    for package, names in list(self.public.items()):
      for name, public in names.items():
        # A folder of this name is a room.
        file = self.files.get(public.module, "")
        if public.module == f"{package}.{name}" and file.endswith(
          f"/{name}.py"
        ):
          self.public[public.module] = self._names(public.module)

  def exists(self, name: str) -> bool:
    """Returns whether a dotted name is a module or a folder of modules."""
    return name in self.files or name in self.folders

  def tree(self, file: str) -> ast.Module:
    """Parses a file.

    Raises:
      ValueError: it is not Python; the message names the line.
    """
    try:
      return ast.parse((self._root / file).read_text(encoding="utf-8"), file)
    except SyntaxError as error:
      raise ValueError(f"{file}:{error.lineno}: {error.msg}") from error

  def _names(self, package: str) -> dict[str, PublicName]:
    """Returns the public names of a package."""
    names = {}
    file = self.files[package]
    for node in self.tree(file).body:
      if isinstance(node, ast.ImportFrom):
        source = _source(node, file)
        for alias in node.names:
          origin = f"{source}.{alias.name}"
          names[alias.asname or alias.name] = PublicName(
            alias.lineno, origin, origin if self.exists(origin) else source
          )
      elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        names[node.name] = PublicName(node.lineno, package, package)
      elif isinstance(node, ast.Assign):
        for target in node.targets:
          if isinstance(target, ast.Name):
            names[target.id] = PublicName(node.lineno, package, package)
    return names

  def needs(self, file: str) -> list[Need]:
    """Returns what a file needs of `phasic` and `tests`, wherever it says so."""
    if file not in self._needs:
      self._needs[file] = list(self._read_needs(file))
    return self._needs[file]

  def _read_needs(self, file: str) -> Iterator[Need]:
    tree = self.tree(file)
    packages: dict[str, Need] = {}  # by local name
    for node in ast.walk(tree):
      if isinstance(node, ast.Import):
        for alias in node.names:
          if alias.name.split(".")[0] in _ROOTS:
            yield self._need(alias.lineno, _canonical(alias.name))
      elif isinstance(node, ast.ImportFrom):
        source = _source(node, file)
        if source.split(".")[0] not in _ROOTS:
          continue
        for alias in node.names:
          module = _canonical(f"{source}.{alias.name}")
          need = self._need(alias.lineno, module)
          if module in self.public:
            packages[alias.asname or alias.name] = need
          else:
            yield need
    yield from self._uses(tree, packages)

  def _need(self, line: int, name: str) -> Need:
    """Returns the need of the module that a dotted name is in, or is."""
    if name in self.public:
      return Need(line, name, _package(name), True)
    package, _, last = name.rpartition(".")
    found = self.public.get(package, {}).get(last)
    if self.exists(name) or not package:
      return Need(line, name, None, found is not None and found.origin == name)
    if package in self.public:
      module = found.module if found else package
      return Need(line, module, _package(package), found is not None)
    return self._need(line, package)

  def _uses(
    self, tree: ast.Module, packages: dict[str, Need]
  ) -> Iterator[Need]:
    """Yields the modules of the names of public packages that are used."""
    unused = dict(packages)
    outer = {
      id(node.value): node
      for node in ast.walk(tree)
      if isinstance(node, ast.Attribute)
    }
    for node in ast.walk(tree):
      if not isinstance(node, ast.Name) or node.id not in packages:
        continue
      unused.pop(node.id, None)
      name = packages[node.id].module
      attribute = outer.get(id(node))
      while attribute is not None:
        name = f"{name}.{attribute.attr}"
        if not self.exists(name):
          break
        attribute = outer.get(id(attribute))
      need = self._need(node.lineno, name)
      yield need._replace(package=packages[node.id].package)
    # Something that is not seen here may use all of such a package.
    yield from unused.values()


def _source(node: ast.ImportFrom, file: str) -> str:
  """Returns the module from which an import takes names."""
  if not node.level:
    return node.module or ""
  folders = pathlib.PurePosixPath(file).parent.parts
  above = folders[: len(folders) - node.level + 1]
  return ".".join([*above, *([node.module] if node.module else [])])


def _canonical(module: str) -> str:
  """Returns the source's name of a substrate's module."""
  return _SUBSTRATE.sub(r"\1", module)
