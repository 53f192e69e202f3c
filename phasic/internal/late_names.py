"""Lazy imports of public names, and `dir` of public modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import importlib
import sys
import types
from typing import Any

# The public modules whose functions take arrays or distributions: in JAX these
# may have half precision.
_OF_ARRAYS = (
  "discrete_phase_type",
  "distributions",
  "graphs",
  "inference",
  "phase_type",
)


def resolvers(
  package: str,
  names: Mapping[str, tuple[str, str | None]],
  wrapper: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
  """Returns the `__getattr__` and `__dir__` of a public module.

  Args:
    package: the module's name.
    names: by public name, the module that has it, and its name there; None for
      the module itself.
    wrapper: a module whose function `checked` takes each object, the package
      and the public name, and returns the public object.
  """

  def get(name: str) -> object:
    if name not in names:
      raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, attribute = names[name]
    if attribute is None:
      value: object = _submodule(package, name, module)
    else:
      value = importlib.import_module(module)
      value = getattr(value, attribute)
      if wrapper is not None:
        checked = importlib.import_module(wrapper).checked
        value = checked(value, package, name)
      value = _with_half_precision(value, package, name)
    setattr(sys.modules[package], name, value)
    return value

  return get, lister(package)


def version() -> str:
  """Returns the version of phasic."""
  return sys.modules[__name__.partition(".")[0]].__version__


def _with_half_precision(value: object, package: str, name: str) -> object:
  """Returns a public object; in JAX, `halves` wraps functions of arrays."""
  if package.rpartition(".")[2] not in _OF_ARRAYS:
    return value
  halves = importlib.import_module(f"{__package__}.halves")
  return halves.public(value, package, name)


def _submodule(package: str, name: str, module: str) -> types.ModuleType:
  """Imports a submodule; raises AttributeError if a library is missing.

  Code that reads all attributes, such as `help`, then skips the submodule;
  `from package import name` raises the ImportError itself.
  """
  try:
    return importlib.import_module(module)
  except ImportError as error:
    raise AttributeError(
      f"module {package!r} cannot import {name!r}: {error}"
    ) from error


def attribute(module: str, name: str) -> Any:
  """Returns an attribute of a module, which is imported if it is not yet."""
  return getattr(importlib.import_module(module), name)


def lister(module: str) -> Callable[[], list[str]]:
  """Returns a module's `__dir__`: it lists `__all__` and names like `__doc__`.

  Args:
    module: the module's name.
  """

  def listed() -> list[str]:
    namespace = vars(sys.modules[module])
    special = {x for x in namespace if x.startswith("__") and x.endswith("__")}
    return sorted(special.union(namespace["__all__"]))

  return listed


def load(package: types.ModuleType) -> None:
  """Imports all public names of a package.

  Classes register themselves with the array library on import, and loading a
  saved program or a pickle needs all of them.
  """
  for name in package.__all__:
    getattr(package, name)
