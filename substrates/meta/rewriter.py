"""Rewrites the text of one file for one substrate."""

from __future__ import annotations

import ast
import dataclasses

from substrates.meta import context
from substrates.meta import dialect
from substrates.meta import docstrings
from substrates.meta import folding
from substrates.meta import imports
from substrates.meta import late
from substrates.meta import names
from substrates.meta import omit
from substrates.meta import operations
from substrates.meta import paths
from substrates.meta import seeds
from substrates.meta import source as source_lib


@dataclasses.dataclass(frozen=True)
class Result:
  """The result of rewriting a file.

  Attributes:
    text: the rewritten text, with its footer.
    problems: the refused constructs; the text is valid only without problems.
    matched_omit_deps: the omitted dependencies that the file imported.
  """

  text: str
  problems: tuple[source_lib.Problem, ...]
  matched_omit_deps: frozenset[str]


def rewrite(
  text: str,
  path: str,
  substrate: str,
  known_array_names: frozenset[str] | None,
  omit_deps: frozenset[str] = frozenset(),
) -> Result:
  """Rewrites the text of one file and collects the refused constructs.

  Args:
    text: the source.
    path: the file, relative to the source root; decides which rules apply.
    substrate: one of `tables.SUBSTRATES`.
    known_array_names: from `exports.array_names_of`; None leaves them unchecked.
    omit_deps: dependencies whose imports are dropped.

  Raises:
    PathError: if the file has no place in this substrate.
    RewriteError: if the text cannot be parsed at all.
  """
  paths.output_path(path, substrate)
  profile = paths.profile_of(path)
  if "\r" in text:
    raise source_lib.RewriteError(
      [source_lib.Problem(path, 1, 1, "lines end in \\r\\n; use \\n")]
    )
  source = source_lib.Source(path, text)
  if not source.tree.body:
    return Result(_with_footer(text, path, substrate), (), frozenset())
  ctx = context.Context(
    source, profile, substrate, known_array_names, omit_deps
  )
  if profile is paths.Profile.SEAM:
    imports.check_seam(ctx)
    return Result(text, tuple(sorted(ctx.problems)), frozenset())
  folding.fold(ctx)
  ctx.set_parents()
  omit.drop(ctx)
  _run_rules(ctx)
  for example in docstrings.examples(source):
    inner = dataclasses.replace(
      ctx, source=example, profile=paths.Profile.EXAMPLE
    )
    inner.set_parents()
    _run_rules(inner)
  body = source_lib.apply(text, ctx.edits)
  if not ctx.problems:
    _verify(text, body, path)
    if late.is_late(path):
      body = late.rewrite(body, path, substrate)
  return Result(
    _with_footer(body, path, substrate),
    tuple(sorted(set(ctx.problems))),
    frozenset(ctx.matched_omit_deps),
  )


def _run_rules(ctx: context.Context) -> None:
  imports.rewrite(ctx)
  names.check(ctx)
  if ctx.profile is not paths.Profile.HOST_SEAM:
    dialect.check(ctx)
    operations.rewrite_products(ctx)
    if ctx.profile is paths.Profile.SOURCE:
      operations.rewrite_comparisons(ctx)
    seeds.rewrite(ctx)


def _verify(before: str, after: str, path: str) -> None:
  """Raises an error if the line count changed or the result does not parse."""
  if before.count("\n") != after.count("\n"):
    raise AssertionError(f"{path}: the rewriter changed the number of lines")
  ast.parse(after, filename=path)


def _with_footer(text: str, path: str, substrate: str) -> str:
  if text and not text.endswith("\n"):
    text += "\n"
  exact = "" if late.is_late(path) else ", line for line,"
  return (
    f"{text}\n# Generated for the {substrate} substrate{exact} from\n"
    f"# {path}; change that file instead.\n"
  )
