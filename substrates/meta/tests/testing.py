"""What the rewriter's tests share."""

from __future__ import annotations

import pathlib
import textwrap
from typing import Any

from substrates.meta import errors
from substrates.meta import paths
from substrates.meta import rewriter

# TensorFlow's names in tests that have no array_functions.py.
TF_NAMES = frozenset({"asarray", "sum", "where", "zeros", "linalg.solve"})

SOURCE = "phasic/math/x.py"
TEST = "tests/shared/x_test.py"


def rewrite(
  code: str, path: str = SOURCE, substrate: str = "jax", **options: Any
) -> rewriter.Result:
  """Rewrites an indented block of code."""
  names = TF_NAMES
  if substrate != "tf":
    names = rewriter.array_names_of(substrate, pathlib.Path())
  return rewriter.rewrite(
    textwrap.dedent(code).lstrip("\n"), path, substrate, names, **options
  )


def body(code: str, path: str = SOURCE, substrate: str = "jax") -> str:
  """The rewritten code without its footer; the code must be good."""
  result = rewrite(code, path, substrate)
  if result.problems:
    raise errors.RewriteError(list(result.problems))
  return result.text.rsplit("\n# Generated for", 1)[0]


def refusals(
  code: str, path: str = SOURCE, substrate: str = "jax", **options: Any
) -> list[str]:
  """Everything that is refused, as `line:column: message`."""
  try:
    problems = list(rewrite(code, path, substrate, **options).problems)
  except errors.RewriteError as error:
    problems = error.problems
  except paths.PathError as error:
    return [str(error)]
  prefix = len(path) + 1
  return [str(problem)[prefix:] for problem in problems]
