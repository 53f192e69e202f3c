"""Supported versions of other libraries, and advice when one is missing."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import importlib
import re
from typing import Any, TypeAlias

# The oldest supported version of each module, as in pyproject.toml's extras.
OLDEST = {"jax": "0.9", "tensorflow": "2.18"}
_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}
_SUBSTRATES = {"jax": "jax", "tensorflow": "tf"}
# An object of a user or of an optional package, whose type is unknown here.
Foreign: TypeAlias = Any


def require(module: str) -> None:
  """Imports the array library of a substrate, and checks its version.

  It runs before other imports: with an old version these would fail without
  mentioning versions.

  Args:
    module: "jax" or "tensorflow".

  Raises:
    ImportError: the library is not installed, or too old.
  """
  name, substrate = _NAMES[module], _SUBSTRATES[module]
  install = f'"phasic-substrates[{substrate}]"'
  failure = None
  try:
    version = importlib.import_module(module).__version__
  except Exception as error:
    if isinstance(error, ModuleNotFoundError) and error.name == module:
      raise ImportError(
        f"phasic.substrates.{substrate} needs {name}, which is not installed: "
        f"pip install {install}"
      ) from None
    # An old version may fail to import beside newer dependencies. Then report
    # that the version is too old, which is the cause of the failure.
    failure, version = error, _installed(module)
  if version is not None and is_older(version, OLDEST[module]):
    raise ImportError(
      f"{name} is {version}: it must be {OLDEST[module]} or later for "
      f"phasic.substrates.{substrate}; pip install --upgrade {install}"
    ) from failure
  if failure is not None:
    raise failure


@contextlib.contextmanager
def needed_by(user: str) -> Iterator[None]:
  """Adds advice on installation to the error about a missing package.

  The `with` block contains only the import.

  Args:
    user: the feature that needs the package, for the message.

  Raises:
    ModuleNotFoundError: the package is not installed; the message has its name
      and how to install it.
  """
  try:
    yield
  except ModuleNotFoundError as error:
    package = str(error.name).partition(".")[0]
    raise ModuleNotFoundError(
      f"{user} needs {package}, which is not installed: pip install {package}",
      name=error.name,
    ) from None


def _installed(module: str) -> str | None:
  """Returns the installed version of a module's package, None if unknown."""
  import importlib.metadata  # This import is slow and rarely needed.

  for name in (module, f"{module}-cpu"):
    try:
      return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
      pass
  return None


def is_older(version: str, oldest: str) -> bool:
  """Returns whether `version` precedes `oldest` in major and minor numbers."""
  return _numbers(version) < _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
  return tuple(int(n) for n in re.findall(r"\d+", version)[:2])
