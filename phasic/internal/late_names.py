"""Public packages whose names are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import importlib
import sys
import types
from typing import Any


def resolvers(
  package: str,
  names: Mapping[str, tuple[str, str | None]],
  wrapper: str | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
  """Returns the `__getattr__` and `__dir__` of a package.

  Args:
    package: the package's name.
    names: by public name, the module that has it, and its name there; None
      where the module itself is meant.
    wrapper: a module whose function `checked` takes each object, the package
      and the public name, and returns what is public.
  """

  def get(name: str) -> Any:
    if name not in names:
      raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, attribute = names[name]
    value: Any = importlib.import_module(module)
    if attribute is not None:
      value = getattr(value, attribute)
      if wrapper is not None:
        checked = importlib.import_module(wrapper).checked
        value = checked(value, package, name)
    setattr(sys.modules[package], name, value)
    return value

  def listed() -> list[str]:
    return sorted({*vars(sys.modules[package]), *names})

  return get, listed


def load(package: types.ModuleType) -> None:
  """Imports all public names of a package.

  Classes register themselves with the array library when they are imported:
  what reads a saved program or a pickle needs them all.
  """
  for name in package.__all__:
    getattr(package, name)
