"""Infers whether a value is an array, a host value, or unknown.

A deliberately small inference within one file: it only distinguishes an
array of the substrate from Python and host NumPy values. The origin of a name
combines those of all of its bindings in its scope. Parameters, and results of
the file's own functions, have the origin of their annotation.
"""

from __future__ import annotations

import ast
import enum

from substrates.meta import context
from substrates.meta import tables


class Origin(enum.Enum):
  """The kind of value that an expression has."""

  ARRAY = "array"  # made by `np`
  HOST_ARRAY = "host array"  # made by `onp`
  HOST = "host"  # a Python number, string or container
  NUMBERS = "numbers"  # A container of Python numbers
  UNKNOWN = "unknown"


_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DISPLAYS = (
  *(ast.Constant, ast.JoinedStr, ast.Lambda, ast.List, ast.Tuple, ast.Dict),
  *(ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_COMBINING = frozenset({"abs", "max", "min", "round", "sum"})
_CONTAINERS = frozenset({"defaultdict", "OrderedDict", "Counter", "deque"})
_HOST_ANNOTATIONS = frozenset(
  [
    "bool",
    "bytes",
    "dict",
    "float",
    "int",
    "list",
    "set",
    "str",
    "tuple",
    "Mapping",
    "MutableMapping",
    "Sequence",
  ]
)
_STATIC = {
  "shape": Origin.NUMBERS,
  "broadcast_shapes": Origin.NUMBERS,
  "rank": Origin.HOST,
  "dtype_name": Origin.HOST,
  "finfo_eps": Origin.HOST,
  "concrete": Origin.HOST_ARRAY,
}


def combine(origins: list[Origin]) -> Origin:
  """Returns the origin of a value that depends on values of several origins."""
  if Origin.ARRAY in origins:
    return Origin.ARRAY
  if Origin.UNKNOWN in origins or not origins:
    return Origin.UNKNOWN
  if Origin.HOST_ARRAY in origins:
    return Origin.HOST_ARRAY
  return Origin.NUMBERS if set(origins) == {Origin.NUMBERS} else Origin.HOST


def _element(origin: Origin) -> Origin:
  """Returns the origin of an element or attribute of a value."""
  if origin is Origin.NUMBERS:
    return Origin.HOST
  return Origin.UNKNOWN if origin is Origin.HOST else origin


class Origins:
  """Infers the origin of each expression in one tree.

  The nodes of the tree must have the attribute `parent`.
  """

  def __init__(self, tree: ast.AST):
    # The bindings, by scope and name. Each is a pair: an expression or an
    # origin, and whether the name is bound to elements of this value, not to
    # the value.
    self._bindings: dict[ast.AST, dict[str, list]] = {}
    self._active: set[tuple[ast.AST, str]] = set()
    self._returns: dict[str, Origin] = {}
    self.imported: set[str] = set()
    for node in ast.walk(tree):
      self._collect(node)

  def _scope(self, node: ast.AST) -> ast.AST:
    while not isinstance(node, _SCOPES):
      node = context.parent(node)
    return node

  def _bind(
    self,
    scope: ast.AST,
    target: ast.expr,
    value: ast.expr | Origin,
    element: bool = False,
  ) -> None:
    if isinstance(target, ast.Name):
      names = self._bindings.setdefault(scope, {})
      names.setdefault(target.id, []).append((value, element))
    elif isinstance(target, ast.Starred):
      self._bind(scope, target.value, Origin.HOST)
    elif isinstance(target, ast.Tuple | ast.List):
      pairs = getattr(value, "elts", None)
      if pairs is None or len(pairs) != len(target.elts) or element:
        for inner in target.elts:
          self._bind(scope, inner, value, True)
      else:
        for inner, part in zip(target.elts, pairs, strict=True):
          self._bind(scope, inner, part)

  def _collect(self, node: ast.AST) -> None:
    if isinstance(node, ast.Import | ast.ImportFrom):
      for alias in node.names:
        self.imported.add(alias.asname or alias.name.partition(".")[0])
    elif isinstance(node, ast.Assign):
      for target in node.targets:
        self._bind(self._scope(node), target, node.value)
    elif isinstance(node, ast.AnnAssign):
      origin = self._annotation(node.annotation)
      value = origin if origin is not Origin.UNKNOWN else node.value
      self._bind(self._scope(node), node.target, value or Origin.UNKNOWN)
    elif isinstance(node, ast.NamedExpr):
      self._bind(self._scope(node), node.target, node.value)
    elif isinstance(node, ast.For | ast.comprehension):
      self._bind(self._scope(node), node.target, node.iter, True)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
      self._bind(self._scope(node), node.optional_vars, Origin.UNKNOWN)
    elif isinstance(node, ast.FunctionDef):
      self._returns[node.name] = self._annotation(node.returns)
    elif isinstance(node, ast.arguments):
      scope = context.parent(node)
      names = self._bindings.setdefault(scope, {})
      for arg in (*node.posonlyargs, *node.args, *node.kwonlyargs):
        names[arg.arg] = [(self._annotation(arg.annotation), False)]
      for rest in (node.vararg, node.kwarg):
        if rest is not None:
          names[rest.arg] = [(Origin.HOST, False)]

  def _annotation(self, node: ast.expr | None) -> Origin:
    if isinstance(node, ast.Subscript):
      node = node.value
    name = node.attr if isinstance(node, ast.Attribute) else None
    if node is not None and context.root_name(node) == "onp":
      return Origin.HOST_ARRAY
    name = node.id if isinstance(node, ast.Name) else name
    return Origin.HOST if name in _HOST_ANNOTATIONS else Origin.UNKNOWN

  def _name(self, node: ast.Name) -> Origin:
    scope = self._scope(node)
    while True:
      bound = self._bindings.get(scope, {}).get(node.id)
      if bound is not None or isinstance(scope, ast.Module):
        break
      scope = self._scope(context.parent(scope))
    if not bound or (scope, node.id) in self._active:
      # `x = f(x)` does not determine the origin of x; other bindings do.
      return Origin.HOST if bound else Origin.UNKNOWN
    self._active.add((scope, node.id))
    found = []
    for value, element in bound:
      origin = value if isinstance(value, Origin) else self.of(value)
      if element:
        origin = _element(origin)
      found.append(origin)
    self._active.discard((scope, node.id))
    return combine(found)

  def _call(self, node: ast.Call) -> Origin:
    func = node.func
    root = context.root_name(func)
    name = func.attr if isinstance(func, ast.Attribute) else root
    if root == "np":
      is_host = name in tables.HOST_RESULTS
      return Origin.HOST if is_host else Origin.ARRAY
    if root == "onp":
      return Origin.HOST_ARRAY
    if root == "static":
      return _STATIC.get(name or "", Origin.UNKNOWN)
    if name in _CONTAINERS:
      return Origin.HOST
    if isinstance(func, ast.Name):
      if name in _COMBINING:
        return combine([self.of(argument) for argument in node.args])
      if name == "range":
        return Origin.NUMBERS
      if name in tables.HOST_BUILTINS:
        return Origin.HOST
      return self._returns.get(func.id, Origin.UNKNOWN)
    if isinstance(func, ast.Attribute):
      return _element(self.of(func.value))
    return Origin.UNKNOWN

  def of(self, node: ast.expr) -> Origin:
    """Returns the origin of an expression."""
    if isinstance(node, _DISPLAYS):
      return Origin.HOST
    if isinstance(node, ast.Name):
      return self._name(node)
    if isinstance(node, ast.Call):
      return self._call(node)
    if isinstance(node, ast.BinOp):
      return combine([self.of(node.left), self.of(node.right)])
    if isinstance(node, ast.UnaryOp):
      return self.of(node.operand)
    if isinstance(node, ast.Compare):
      return combine([self.of(n) for n in (node.left, *node.comparators)])
    if isinstance(node, ast.BoolOp):
      return combine([self.of(value) for value in node.values])
    if isinstance(node, ast.IfExp):
      return combine([self.of(node.body), self.of(node.orelse)])
    if isinstance(node, ast.Attribute):
      root = context.root_name(node)
      if root in ("np", "onp"):
        return Origin.HOST
      return _element(self.of(node.value))
    if isinstance(node, ast.Subscript):
      value = self.of(node.value)
      return value if isinstance(node.slice, ast.Slice) else _element(value)
    return Origin.UNKNOWN
