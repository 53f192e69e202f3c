"""Keeps, of each `if` that tests MODE, only the target's branch.

A file that needs such a branch sets `MODE = "numpy"` at its top and
tests `MODE == "jax"`, `MODE != "jax"`, `MODE in ("jax", "tf")` or
`MODE not in (...)` in an `if` statement. The kept branch is dedented. The other
branches and the assignment become blank lines, so line numbers do not change.
"""

from __future__ import annotations

import ast
import re

from substrates.meta import context
from substrates.meta import tables

_HINT = (
  'MODE may only be tested in an if statement, as MODE == "jax",'
  ' MODE != "jax", MODE in ("jax", "tf") or MODE not in (...)'
)
_MIXED = "tests MODE and something else in a chain"
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _is_mode_name(name: str) -> bool:
  return bool(re.fullmatch(r"([A-Z0-9]+_)*MODE", name))


class _Folder:
  """Removes branches for other targets from a file and its syntax tree."""

  def __init__(self, ctx: context.Context):
    self.ctx = ctx
    self.new_lines: dict[int, str] = {}
    self.dedents: dict[int, int] = {}
    self.first_test: ast.expr | None = None

  def truth(self, test: ast.expr) -> bool | None:
    """Evaluates a test of MODE; returns None for any other test."""
    if not (
      isinstance(test, ast.Compare)
      and isinstance(test.left, ast.Name)
      and test.left.id == "MODE"
      and len(test.ops) == 1
    ):
      return None
    operator, right = test.ops[0], test.comparators[0]
    wanted = right.elts if isinstance(right, ast.Tuple) else [right]
    modes = [w.value for w in wanted if isinstance(w, ast.Constant)]
    if len(modes) != len(wanted):
      return None
    for mode in modes:
      if mode not in tables.SUBSTRATES:
        self.ctx.refuse(
          right,
          f"unknown mode {mode!r}; the modes are {', '.join(tables.SUBSTRATES)}",
        )
    several = isinstance(right, ast.Tuple)
    if isinstance(operator, ast.In if several else ast.Eq):
      return self.ctx.substrate in modes
    if isinstance(operator, ast.NotIn if several else ast.NotEq):
      return self.ctx.substrate not in modes
    return None

  def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
    """Returns a block's statements, without branches for other targets."""
    kept: list[ast.stmt] = []
    empty: list[tuple[ast.stmt, int]] = []
    for statement in body:
      if (
        isinstance(statement, ast.If) and self.truth(statement.test) is not None
      ):
        chosen = self.chain(statement)
        if (
          chosen
          and isinstance(chosen[-1], _LEAVING)
          and (statement is not body[-1])
        ):
          self.ctx.refuse(
            statement,
            "a branch on MODE leaves the block: use else for the rest",
          )
        if not chosen:
          empty.append((statement, statement.lineno))
        kept += self.block(chosen)
        continue
      if isinstance(statement, ast.If):
        following = self.elif_of(statement)
        if following and self.truth(following.test) is not None:
          self.first_test = self.first_test or following.test
          self.ctx.refuse(following.test, _MIXED)
          continue
      for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if isinstance(inner, list):
          setattr(statement, field, self.block(inner))
      for handler in getattr(statement, "handlers", []):
        handler.body = self.block(handler.body)
      for case in getattr(statement, "cases", []):
        case.body = self.block(case.body)
      kept.append(statement)
    if body and not kept:
      first, line = empty[0]
      self.new_lines[line] = " " * first.col_offset + "pass"
      kept = [ast.copy_location(ast.Pass(), first)]
    return kept

  def elif_of(self, statement: ast.If) -> ast.If | None:
    """Returns the `elif` that follows a branch, None if there is none."""
    first = statement.orelse[0] if statement.orelse else None
    if not isinstance(first, ast.If):
      return None
    line = self.ctx.source.lines[first.lineno - 1]
    return first if line.lstrip().startswith("elif") else None

  def chain(self, statement: ast.If) -> list[ast.stmt]:
    """Returns the chosen branch of an if chain, and removes its other lines."""
    self.first_test = self.first_test or statement.test
    lines = self.ctx.source.lines
    for line in range(statement.lineno, (statement.end_lineno or 0) + 1):
      self.new_lines[line] = ""
    branch = statement
    while True:
      truth = self.truth(branch.test)
      if truth is None:
        self.ctx.refuse(branch.test, _MIXED)
        return []
      if truth:
        body, header = branch.body, branch.test.end_lineno or branch.lineno
        break
      if not branch.orelse:
        return []
      first = branch.orelse[0]
      following = self.elif_of(branch)
      if following:
        branch = following
        continue
      body, header = branch.orelse, first.lineno
      while not re.match(r"\s*else\s*:", lines[header - 1]):
        header -= 1
      break
    if body[0].lineno == header:
      self.ctx.refuse(body[0], "a branch on MODE needs a line of its own")
      return []
    dedent = body[0].col_offset - statement.col_offset
    for line in range(header + 1, (body[-1].end_lineno or 0) + 1):
      del self.new_lines[line]
      self.dedents[line] = self.dedents.get(line, 0) + dedent
    for node in body:
      for inner in ast.walk(node):
        inner.mode_branch = True  # type: ignore[attr-defined]
    return body

  def record(self) -> None:
    """Records edits for all replaced and dedented lines."""
    inside_string = set()
    for node in ast.walk(self.ctx.source.tree):
      if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
      ):
        inside_string |= set(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    for line in {*self.new_lines, *self.dedents}:
      start, end = self.ctx.source.line_span(line)
      dedent = self.dedents.get(line, 0)
      if line in self.new_lines:
        text = self.new_lines[line]
        self.ctx.replace_span(start, end, text[dedent:] if text else "")
      elif line not in inside_string:
        text = self.ctx.source.text[start:end]
        blank = len(text) - len(text.lstrip(" "))
        self.ctx.replace_span(start, start + min(dedent, blank), "")


def fold(ctx: context.Context) -> None:
  """Removes other targets' branches, so that later rules do not see them."""
  tree = ctx.source.tree
  folder = _Folder(ctx)
  assignments = [
    node
    for node in tree.body
    if isinstance(node, ast.Assign)
    and isinstance(node.targets[0], ast.Name)
    and node.targets[0].id == "MODE"
  ]
  tree.body = folder.block(tree.body)
  for assignment in assignments:
    if ast.unparse(assignment) != "MODE = 'numpy'":
      ctx.refuse(assignment, 'write MODE = "numpy"')
    elif folder.first_test is None:
      ctx.refuse(assignment, "MODE is set, but no branch tests it")
    ctx.replace(assignment, "")
    tree.body.remove(assignment)
  if folder.first_test is not None and not assignments:
    ctx.refuse(
      folder.first_test, 'MODE is tested: write MODE = "numpy" in this file'
    )
  for node in ast.walk(tree):
    if isinstance(node, ast.Name) and _is_mode_name(node.id):
      ctx.refuse(
        node, _HINT if node.id == "MODE" else f"unknown mode name {node.id}"
      )
    elif isinstance(node, ast.alias) and _is_mode_name(
      node.asname or node.name
    ):
      ctx.refuse(node, 'MODE is not imported: write MODE = "numpy"')
  folder.record()
