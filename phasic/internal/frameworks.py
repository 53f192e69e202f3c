"""The array libraries of substrates: which versions serve, and what to install."""

from __future__ import annotations

import importlib
import importlib.metadata
import re

# The oldest version that a substrate runs with, by the name of the module; the
# extras of pyproject.toml ask for no older one.
OLDEST = {"jax": "0.9", "tensorflow": "2.18"}
_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}
_SUBSTRATES = {"jax": "jax", "tensorflow": "tf"}


def require(module: str) -> None:
  """Imports the array library of a substrate, before anything else does.

  What an older version lacks would fail somewhere, without a word of versions.

  Args:
    module: "jax" or "tensorflow".

  Raises:
    ImportError: it is not installed, or too old.
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
    # Old ones also fail by themselves, with newer versions of what they need.
    failure, version = error, _installed(module)
  if version is not None and is_older(version, OLDEST[module]):
    raise ImportError(
      f"{name} is {version}: it must be {OLDEST[module]} or later for "
      f"phasic.substrates.{substrate}; pip install --upgrade {install}"
    ) from failure
  if failure is not None:
    raise failure


def _installed(module: str) -> str | None:
  """Returns the version that pip knows, None where it knows none."""
  for name in (module, f"{module}-cpu"):
    try:
      return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
      pass
  return None


def is_older(version: str, oldest: str) -> bool:
  """Returns whether a version comes before another, of two numbers."""
  return _numbers(version) < _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
  return tuple(int(n) for n in re.findall(r"\d+", version)[:2])
