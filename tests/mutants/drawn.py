"""The mutants that cosmic-ray makes of modules, and a seeded sample of them."""

import ast
import collections
from collections.abc import Iterator
import dataclasses
import difflib
import hashlib
import operator
import pathlib
import re
import warnings

from cosmic_ray import ast as parso_ast
from cosmic_ray import mutating
from cosmic_ray import plugins

# Decorators and variables are left as they are. Arithmetic stays arithmetic, and
# logic stays logic: bits of a floating-point number are an error at once, and
# most arithmetic with truth values is no change (`a * b` for `a & b`).
_OPERATORS = re.compile(
  "core/(ReplaceBinaryOperator_"
  "((Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
  "|Bit(Or|And|Xor)_Bit(Or|And|Xor)|(RShift|LShift)_(RShift|LShift))"
  "|ReplaceComparison.*|ReplaceUnary.*|AddNot|Replace(And|Or|True|False)With.*"
  "|Replace(Break|Continue)With.*|ExceptionReplacer|NumberReplacer"
  "|ZeroIterationForLoop)"
)


@dataclasses.dataclass(frozen=True)
class Mutant:
  path: str
  operator: str
  occurrence: int
  line: int
  column: int

  def text(self) -> str | None:
    """Returns the mutated module."""
    made = plugins.get_operator(self.operator)()
    code = pathlib.Path(self.path).read_text(encoding="utf-8")
    return mutating.mutate_code(code, made, self.occurrence)

  def change(self) -> list[str]:
    """Returns the lines that differ, with "-" and "+" before them."""
    before = pathlib.Path(self.path).read_text(encoding="utf-8").splitlines()
    after = (self.text() or "").splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    return [f"{x[0]} {x[1:].strip()}" for x in lines if not x.startswith("@@")]


def _is_hint(tree: ast.Module, line: int, column: int) -> bool:
  """Whether a position is in a type annotation, an alias or TYPE_CHECKING."""
  hints: list[ast.AST | None] = []
  for node in ast.walk(tree):
    if isinstance(node, ast.arg | ast.AnnAssign):
      hints.append(node.annotation)
    elif isinstance(node, ast.FunctionDef):
      hints.append(node.returns)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
      hints.append(node)
  for node in tree.body:
    match node:
      case ast.Assign(value=ast.BinOp(op=ast.BitOr())):
        hints.append(node.value)
  return any(
    (n.lineno, n.col_offset)
    <= (line, column)
    < (n.end_lineno, n.end_col_offset)
    for n in hints
    if n is not None
  )


def _changes(mutant: Mutant, tree: ast.Module) -> bool:
  """Whether a mutant is Python, and another program."""
  if _is_hint(tree, mutant.line, mutant.column):
    return False
  try:
    with warnings.catch_warnings(action="ignore"):
      text = mutant.text()
      compile(text, mutant.path, "exec")
      return ast.dump(ast.parse(text)) != ast.dump(tree)
  except SyntaxError:
    return False


def _mutants(path: str) -> Iterator[Mutant]:
  """Yields all that cosmic-ray makes of a module."""
  parsed = parso_ast.get_ast_from_path(pathlib.Path(path))
  for name in sorted(filter(_OPERATORS.fullmatch, plugins.operator_names())):
    made = plugins.get_operator(name)()
    places = (
      start
      for node in parso_ast.ast_nodes(parsed)
      for start, _ in made.mutation_positions(node)
    )
    for occurrence, (line, column) in enumerate(places):
      yield Mutant(path, name, occurrence, line, column)


def _rank(
  mutant: Mutant, line: str, seed: int, seen: collections.Counter
) -> str:
  """Returns a number that an edit elsewhere in the module does not change."""
  column = mutant.column - (len(line) - len(line.lstrip()))
  key = (seed, mutant.path, mutant.operator, line.strip(), column)
  seen[key] += 1
  return hashlib.sha256(repr((*key, seen[key])).encode()).hexdigest()


def sample(paths: list[str], count: int, seed: int) -> list[Mutant]:
  """Returns mutants that are drawn at random, each by itself."""
  ranked = []
  for path in paths:
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    seen: collections.Counter = collections.Counter()
    for mutant in _mutants(path):
      rank = _rank(mutant, lines[mutant.line - 1], seed, seen)
      ranked.append((rank, mutant))
  drawn: list[Mutant] = []
  for _, mutant in sorted(ranked, key=operator.itemgetter(0)):
    if len(drawn) == count:
      break
    text = pathlib.Path(mutant.path).read_text(encoding="utf-8")
    if _changes(mutant, ast.parse(text)):
      drawn.append(mutant)
  return drawn
