"""Helper functions for the rewriter's tests."""

from __future__ import annotations

import pathlib
import textwrap

from substrates.meta import exports
from substrates.meta import paths
from substrates.meta import rewriter
from substrates.meta import source as source_lib

# TensorFlow's `np.` names in tests, in place of those in array_functions.py.
TF_NAMES = frozenset({"asarray", "sum", "where", "zeros", "linalg.solve"})

SOURCE = "phasic/math/x.py"
TEST = "tests/shared/x_test.py"


def rewrite(
  code: str,
  path: str = SOURCE,
  substrate: str = "jax",
  **options: frozenset[str],
) -> rewriter.Result:
  """Rewrites a block of code, which may be indented."""
  names = TF_NAMES
  if substrate != "tf":
    names = exports.array_names_of(substrate, pathlib.Path())
  return rewriter.rewrite(
    textwrap.dedent(code).lstrip("\n"), path, substrate, names, **options
  )


def body(code: str, path: str = SOURCE, substrate: str = "jax") -> str:
  """Returns the rewritten code without its footer; the code must be valid."""
  result = rewrite(code, path, substrate)
  if result.problems:
    raise source_lib.RewriteError(list(result.problems))
  return result.text.rsplit("\n# Generated for", 1)[0]


def refusals(
  code: str,
  path: str = SOURCE,
  substrate: str = "jax",
  **options: frozenset[str],
) -> list[str]:
  """Returns all refusals as `line:column: message`."""
  try:
    problems = list(rewrite(code, path, substrate, **options).problems)
  except source_lib.RewriteError as error:
    problems = error.problems
  except paths.PathError as error:
    return [str(error)]
  prefix = len(path) + 1
  return [str(problem)[prefix:] for problem in problems]
