"""Output paths of source files, and which rewriting rules apply to them."""

from __future__ import annotations

import enum
import pathlib

from substrates.meta import tables


class Profile(enum.Enum):
  """The set of rewriting rules for a kind of file."""

  SOURCE = "source"  # phasic/**: all rules
  HOST_SEAM = "host seam"  # phasic/internal: rules of imports and names
  SEAM = "seam"  # substrates/<s>: copied unchanged, imports are checked
  TEST = "test"  # tests: all rules, but unknown values are allowed
  EXAMPLE = "example"  # the lines after >>> in a docstring


# The tape differentiates code for NumPy. JAX and TensorFlow differentiate by
# themselves, so they get no copy of it.
_NUMPY_SEAM = "phasic/internal/tape/"


class PathError(ValueError):
  """The error about a file that does not belong to the substrate."""


def profile_of(path: str) -> Profile:
  """Returns the rules for a path such as `phasic/math/phase_type.py`.

  Raises:
    PathError: if the path is outside the directories that are rewritten.
  """
  parts = pathlib.PurePosixPath(path).parts
  if len(parts) >= 3 and parts[0] == "phasic":
    if parts[1] in ("_native", "include", "substrates"):
      raise PathError(f"phasic/{parts[1]} is not rewritten")
    return Profile.HOST_SEAM if parts[1] == "internal" else Profile.SOURCE
  if parts[:2] in (("substrates", "jax"), ("substrates", "tf")):
    return Profile.SEAM
  if len(parts) >= 3 and parts[0] == "tests":
    if parts[1] not in tables.WRITTEN_ONCE_TESTS:
      raise PathError(
        "is not rewritten: only tests/helpers and tests/shared are written once"
      )
    return Profile.TEST
  raise PathError(
    "is not rewritten: expected phasic/<package>/*.py, substrates/jax/*.py,"
    " substrates/tf/*.py, tests/helpers/*.py or tests/shared/*.py"
  )


def output_path(path: str, substrate: str) -> str:
  """Returns the path of the rewritten file below the outputs root.

  Args:
    path: the source path, relative to the source root.
    substrate: one of `tables.SUBSTRATES`.

  Returns:
    `phasic/substrates/<s>/...` for the library and backend-specific modules,
    `tests/generated/<s>/...` for tests.

  Raises:
    PathError: if the file has no place in this substrate.
  """
  profile = profile_of(path)
  parts = pathlib.PurePosixPath(path).parts
  if profile is Profile.TEST:
    return "/".join(("tests", "generated", substrate, *parts[1:]))
  if profile is Profile.SEAM:
    if parts[1] != substrate:
      raise PathError(f"is for {parts[1]} only: {substrate} gets no copy of it")
    return "/".join(("phasic/substrates", substrate, "internal", *parts[2:]))
  if path.startswith(_NUMPY_SEAM) and substrate != "numpy":
    raise PathError(f"is for NumPy only: {substrate} gets no copy of it")
  if substrate not in (tables.adapter_imports(path) or {substrate}):
    raise PathError(f"is an adapter that {substrate} does not have")
  return "/".join(("phasic/substrates", substrate, *parts[1:]))
