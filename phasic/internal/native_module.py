"""Loads the kernel's Python module; shared by all substrates."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import sysconfig
from typing import Any

from phasic import _native
from phasic.internal import native_files

BUILD = (
  "build it: pip install --no-binary phasic-substrates phasic-substrates "
  "--force-reinstall --no-deps"
)
REINSTALL = (
  "reinstall it: pip install --force-reinstall --no-deps phasic-substrates"
)
_NAME = "phasic._native._kernel"


@functools.cache
def load() -> tuple[Any, str]:
  """Loads the native module; returns (module, "") or (None, the reason).

  The reason ends with a remedy.
  """
  spec = importlib.util.find_spec(_NAME)
  if spec is None or spec.origin is None:
    return None, _missing()
  damage = native_files.damage(spec.origin)
  if damage:
    return None, f"{spec.origin} cannot be loaded: {damage}; {REINSTALL}"
  try:
    return importlib.import_module(_NAME), ""
  except Exception as error:  # Any failure only selects the portable path.
    return None, cannot_load("Python", spec.origin, error)


def cannot_load(loader: str, path: str, error: object) -> str:
  """Formats the reason why a library cannot be loaded.

  Args:
    loader: the name of the loader.
    path: the library.
    error: the loader's message, which may name the file too.
  """
  text = " ".join(str(error).split()).removeprefix(f"{path}: ")
  return f"{loader} cannot load {path}: {text}; {REINSTALL}"


def _missing() -> str:
  folder = next(iter(_native.__path__))
  libraries = sorted(
    name
    for name in os.listdir(folder)
    if name.startswith("_kernel.") and not name.endswith(".pyi")
  )
  version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
  return (
    f"{folder} has no library _kernel for {version} on "
    f"{sysconfig.get_platform()}"
    + (
      f", only {', '.join(libraries)}; {REINSTALL}"
      if libraries
      else f"; {BUILD}"
    )
  )
