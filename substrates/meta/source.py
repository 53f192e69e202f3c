"""Parsed source text, with edits and problems at the positions of its nodes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
import dataclasses


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
  """A refused construct; it prints as `file:line:column: message`.

  Attributes:
    path: the source file, relative to the source root.
    line: line number, counted from 1.
    column: column in characters, counted from 1.
    message: what is wrong and what to write instead.
  """

  path: str
  line: int
  column: int
  message: str

  def __str__(self) -> str:
    return f"{self.path}:{self.line}:{self.column}: {self.message}"


class RewriteError(Exception):
  """The error with all problems of a file, one on each line.

  Attributes:
    problems: the problems, in the order of the file.
  """

  def __init__(self, problems: list[Problem]):
    self.problems = sorted(problems)
    super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclasses.dataclass(frozen=True, order=True)
class Edit:
  """Replaces the characters [start, end) of a text by `text`."""

  start: int
  end: int
  text: str


def apply(text: str, edits: list[Edit]) -> str:
  """Returns `text` with all edits made.

  Raises:
    ValueError: if two edits overlap, which is a fault of the rewriter.
  """
  pieces = []
  position = 0
  for edit in sorted(set(edits)):
    if edit.start < position:
      raise ValueError(f"edits overlap at character {edit.start}: {edit}")
    pieces += [text[position : edit.start], edit.text]
    position = edit.end
  return "".join(pieces) + text[position:]


class Source:
  """Parsed Python code, with the position in the file of each character.

  The code of a file is the file itself. The code of a docstring's examples is
  a text with as many lines as the file, blank but for the examples, which
  start at column 0; `shifts` says by how many characters each line was moved.
  So positions, edits and errors are the file's in both cases.

  Attributes:
    path: the file, relative to the source root.
    text: the file's text.
    tree: the parsed code.
  """

  def __init__(
    self,
    path: str,
    text: str,
    code: str | None = None,
    shifts: Mapping[int, int] | None = None,
  ):
    self.path = path
    self.text = text
    self.lines = text.split("\n")
    self._code_lines = (text if code is None else code).split("\n")
    self._shifts = shifts or {}
    self._starts = [0]
    for line in self.lines:
      self._starts.append(self._starts[-1] + len(line) + 1)
    try:
      self.tree = ast.parse(text if code is None else code, filename=path)
    except SyntaxError as error:
      at = error.lineno or 1
      column = (error.offset or 1) + self._shifts.get(at, 0)
      raise RewriteError(
        [Problem(path, at, column, f"does not parse: {error.msg}")]
      ) from error

  def column(self, line: int, byte_column: int) -> int:
    """Returns the column in the file, counted in characters from 0."""
    raw = self._code_lines[line - 1].encode()[:byte_column]
    return len(raw.decode()) + self._shifts.get(line, 0)

  def offset(self, line: int, byte_column: int) -> int:
    """Returns the character offset in the file of a parser position."""
    return self._starts[line - 1] + self.column(line, byte_column)

  def line_span(self, line: int) -> tuple[int, int]:
    """Returns the character offsets of a line, without its newline."""
    return self._starts[line - 1], self._starts[line] - 1

  def start(self, node: ast.AST) -> int:
    """Returns the offset in the file of a node's first character."""
    return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

  def end(self, node: ast.AST) -> int:
    """Returns the offset in the file after a node's last character."""
    return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

  def segment(self, node: ast.AST) -> str:
    """Returns the text of a node in the file."""
    return self.text[self.start(node) : self.end(node)]
