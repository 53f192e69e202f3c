"""The rewriter's error messages, with the position in the source."""

from __future__ import annotations

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
