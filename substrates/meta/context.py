"""The state that rewriting rules share: source text, edits and problems."""

from __future__ import annotations

import ast
import dataclasses

from substrates.meta import paths
from substrates.meta import source as source_lib


@dataclasses.dataclass
class Context:
  """The state of rewriting one text for one substrate.

  Attributes:
    source: the parsed text.
    profile: the rules that apply.
    substrate: the target.
    array_names: the `np.` names that the target has; None to not check them.
    omit_deps: the modules whose imports are dropped.
    edits: the changes that the rules made.
    problems: the constructs that the rules refused.
    matched_omit_deps: the entries of `omit_deps` that were found.
  """

  source: source_lib.Source
  profile: paths.Profile
  substrate: str
  array_names: frozenset[str] | None
  omit_deps: frozenset[str] = frozenset()
  edits: list[source_lib.Edit] = dataclasses.field(default_factory=list)
  problems: list[source_lib.Problem] = dataclasses.field(default_factory=list)
  matched_omit_deps: set[str] = dataclasses.field(default_factory=set)

  def refuse(self, node: ast.AST, message: str) -> None:
    """Records an error message about the construct at `node`."""
    line = node.lineno  # type: ignore[attr-defined]
    column = self.source.column(line, node.col_offset) + 1  # type: ignore[attr-defined]
    self.problems.append(
      source_lib.Problem(self.source.path, line, column, message)
    )

  def replace(self, node: ast.AST, text: str) -> None:
    """Records an edit that replaces the text of `node` by `text`."""
    if isinstance(node, ast.expr) and not self._is_located(node):
      self.refuse(node, "the place is unknown (f-string?): use a variable")
      return
    self.replace_span(self.source.start(node), self.source.end(node), text)

  def _is_located(self, node: ast.expr) -> bool:
    """Returns whether a node's position is correct; f-strings may shift it."""
    try:
      found = ast.parse(self.source.segment(node), mode="eval").body
    except SyntaxError:
      return False
    return ast.dump(found) == ast.dump(node)

  def replace_span(self, start: int, end: int, text: str) -> None:
    """Records an edit that replaces the characters [start, end) by `text`."""
    self.edits.append(source_lib.Edit(start, end, text))

  def set_parents(self) -> None:
    """Sets the attribute `parent` of every node of the tree."""
    for node in ast.walk(self.source.tree):
      for child in ast.iter_child_nodes(node):
        child.parent = node  # type: ignore[attr-defined]


def parent(node: ast.AST) -> ast.AST:
  """Returns the parent of a node; needs `Context.set_parents`."""
  return node.parent  # type: ignore[attr-defined]


def root_name(node: ast.AST) -> str | None:
  """Returns the name `a` for `a`, `a.b` or `a.b.c`; else None."""
  while isinstance(node, ast.Attribute):
    node = node.value
  return node.id if isinstance(node, ast.Name) else None
