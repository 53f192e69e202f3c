"""Extracts docstring examples as code that keeps its position in the file."""

from __future__ import annotations

import ast
import re

from substrates.meta import source as source_lib

_PROMPT = re.compile(r"(\s*)>>>( |$)")
_CONTINUATION = re.compile(r"(\s*)\.\.\.( |$)")
_OWNERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def examples(source: source_lib.Source) -> list[source_lib.Source]:
  """Returns a source for each docstring that has examples.

  Raises:
    RewriteError: if the lines after `>>>` do not parse, or differ between the
      file's text and the docstring, e.g. by a backslash.
  """
  found = []
  for owner in ast.walk(source.tree):
    if not isinstance(owner, _OWNERS) or not owner.body:
      continue
    node = owner.body[0]
    if not (
      isinstance(node, ast.Expr)
      and isinstance(node.value, ast.Constant)
      and isinstance(node.value.value, str)
    ):
      continue
    if re.search(r"^\s*>>>", node.value.value, re.MULTILINE):
      found.append(_example(source, node.value))
  return found


def _example(
  source: source_lib.Source, node: ast.Constant
) -> source_lib.Source:
  code = [""] * len(source.lines)
  shifts: dict[int, int] = {}
  raw = source.segment(node).lower().startswith(("r'", 'r"'))
  prompts = 0
  indent: str | None = None  # The indentation of the current example.
  for line in range(node.lineno, (node.end_lineno or 0) + 1):
    text = source.lines[line - 1]
    match = _PROMPT.match(text)
    if match:
      prompts += 1
      indent = match.group(1)
    else:
      match = _CONTINUATION.match(text)
      if indent is None or match is None or match.group(1) != indent:
        indent = None
        continue
    if "\\" in text and not raw:
      raise _error(source, line, 'a backslash in an example: use r"""')
    code[line - 1] = text[match.end() :]
    shifts[line] = match.end()
  lines = re.findall(r"^\s*>>>", str(node.value), re.MULTILINE)
  if len(lines) != prompts:
    raise _error(
      source, node.lineno, "an example does not start on a line of its own"
    )
  return source_lib.Source(source.path, source.text, "\n".join(code), shifts)


def _error(
  source: source_lib.Source, line: int, message: str
) -> source_lib.RewriteError:
  return source_lib.RewriteError(
    [source_lib.Problem(source.path, line, 1, message)]
  )
