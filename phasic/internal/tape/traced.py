"""Traced arrays for forward and reverse mode differentiation.

`Traced` implements NumPy's array protocols, so functions written against NumPy
accept it, and calls without traced arrays have no overhead. Each
differentiation has a trace, and later ones are nested in earlier ones.
Operations on the arrays of a trace act on their values, which an outer trace
may trace: so higher-order derivatives work.

An array that leaves NumPy's functions would become a constant, with a silent
derivative of zero. So all such conversions raise, see `leaving`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import itertools
import linecache
import operator
import os
import sys
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, overload

import numpy as onp

from phasic.internal.tape import operators
from phasic.internal.tape.trees import Tree

_T = TypeVar("_T")
# The results of a primitive: one array, or a tuple of several arrays.
_R = TypeVar(
  "_R", bound="Traced | onp.ndarray | tuple[Traced | onp.ndarray, ...]"
)

# The folders of the derivative rules and of NumPy. Error messages show the
# user's call, which is in the innermost stack frame outside of these folders.
_FOLDERS = tuple(
  os.path.join(os.path.dirname(file), "") for file in (__file__, onp.__file__)
)
_levels = itertools.count()
_orders = itertools.count()


class Trace:
  """One run of forward or reverse mode."""

  def __init__(self, is_forward: bool):
    self.level = next(_levels)
    self.is_forward = is_forward
    self.is_over = False  # Once true, the trace's arrays are invalid.


class Node:
  """A recorded call in reverse mode, with its pullback.

  Attributes:
    order: later calls have larger numbers.
    outputs: shape and dtype of each of its results.
    parents: for each traced argument its node and its index in the results.
    pullback: a function from cotangents of the results to cotangents of the
      arguments.
  """

  __slots__ = ("order", "outputs", "parents", "pullback")

  def __init__(
    self,
    outputs: Sequence[Array],
    parents: Sequence[tuple[Node, int]],
    pullback: Pullback,
  ):
    self.order = next(_orders)
    self.outputs = [(onp.shape(x), dtype_of(x)) for x in outputs]
    self.parents = parents
    self.pullback = pullback


class Traced(operators.Operators):
  """An array that is differentiated, in place of a NumPy array.

  Attributes:
    value: the array, which may belong to an outer trace.
    trace: the trace.
    record: its tangent or, in reverse mode, its node and its index in the
      node's results; None if it is a constant.
  """

  __slots__ = ("record", "trace", "value")

  def __init__(self, value: Array, trace: Trace, record: Record):
    self.value = value
    self.trace = trace
    self.record = record

  @property
  def shape(self) -> tuple[int, ...]:
    return onp.shape(self.value)

  @property
  def ndim(self) -> int:
    return len(self.shape)

  @property
  def size(self) -> int:
    return int(onp.prod(self.shape, dtype=int))

  @property
  def dtype(self) -> onp.dtype:
    return dtype_of(self.value)

  @property
  def T(self) -> Array:
    return onp.transpose(self)

  def __len__(self) -> int:
    if not self.shape:
      raise TypeError("len() of an array without dimensions")
    return self.shape[0]

  def __iter__(self) -> Iterator[Traced]:
    return (self[i] for i in range(len(self)))

  def __getitem__(self, index: object) -> Traced:
    return FUNCTIONS[operator.getitem](self, index)

  def __array_ufunc__(
    self, ufunc: onp.ufunc, method: str, *inputs: object, **options: object
  ) -> Array:
    if method != "__call__" or options:
      what = f"numpy.{ufunc.__name__}"
      out = options.get("out")
      if isinstance(out, tuple) and any(x is self for x in out):
        # Writing to `out` would also change the array for other code.
        raise leaving(f"an assignment to its entries, {what}")
      if method != "__call__":
        what += f".{method}"
      listed = f" with {', '.join(options)}" if options else ""
      raise leaving(f"{what}{listed}")
    rule = UFUNCS.get(ufunc)
    if rule is None:
      raise no_rule(f"numpy.{ufunc.__name__}")
    return rule(*inputs)

  def __array_function__(
    self,
    function: Callable[..., object],
    types: object,
    args: Iterable[object],
    options: Mapping[str, object],
  ) -> object:
    name = f"{function.__module__}.{function.__name__}"
    rule = FUNCTIONS.get(function)
    if rule is None:
      raise no_rule(name)
    try:
      return rule(*args, **options)
    except TypeError as error:
      if error.__traceback__ is None or error.__traceback__.tb_next is not None:
        raise
      raise no_rule(f"{name} (with these arguments)") from error

  def __array__(self, dtype: object = None, copy: object = None) -> onp.ndarray:
    raise leaving("numpy.asarray, or a function that makes an array of it")

  def __float__(self) -> float:
    raise leaving("float() or a function of the module math")

  def __int__(self) -> int:
    raise leaving("int")

  def __index__(self) -> int:
    raise leaving("an index or a size")

  def __complex__(self) -> complex:
    raise leaving("complex")

  def __round__(self, digits: object = None) -> NoReturn:
    raise leaving("round")

  def __bool__(self) -> bool:
    raise leaving("a branch, e.g. `if`, `while`, `and` or `or`")

  def __setitem__(self, index: object, value: object) -> None:
    raise leaving("an assignment to its entries")

  def __reduce_ex__(self, protocol: object) -> NoReturn:
    raise leaving("a pickle")

  def __copy__(self) -> Traced:
    return self  # Traced arrays are immutable.

  def __deepcopy__(self, memo: object) -> Traced:
    return self

  def astype(self, dtype: onp.typing.DTypeLike) -> Array:
    return FUNCTIONS[astype](self, onp.dtype(dtype))

  # The return type is not NoReturn: with it, type checkers would accept this
  # class as an implementation of every protocol.
  def __getattr__(self, name: str) -> object:
    function = getattr(onp, name, None)
    has_rule = function in FUNCTIONS if callable(function) else False
    instead = f": use numpy.{name}" if has_rule else ""
    raise AttributeError(
      f"an array that is differentiated has no attribute {name}{instead}"
    )

  def __repr__(self) -> str:
    return f"Traced({self.value!r})"


# A plain or traced array. Without dimensions it may also be a NumPy scalar or a
# float: the alias leaves these out, as NumPy's types give `onp.generic` no
# operators.
Array: TypeAlias = Traced | onp.ndarray
# The results of a primitive: one array or several.
Results: TypeAlias = Array | tuple[Array, ...]
# A function from cotangents of results to cotangents of arguments. None
# stands for zeros.
Pullback: TypeAlias = Callable[[list[Array]], Sequence[Array | None]]
# The linear map from tangents of one argument to tangents of the result, and
# the transpose of this map.
Pair: TypeAlias = tuple[Callable[[Array], Array], Callable[[Array], Array]]

# A trace records one of these for each array: in forward mode its tangent, in
# reverse mode a node and the array's index in the node's results. For a constant
# it records None.
Record: TypeAlias = Any

astype = object()  # The key of astype's rule in FUNCTIONS.

# The derivative rules of NumPy functions. Modules such as `linear_maps` and
# `ufuncs` register them here.
UFUNCS: dict[onp.ufunc, Callable[..., Array]] = {}
FUNCTIONS: dict[object, Callable[..., Any]] = {}


_WITH_DTYPE = (Traced, onp.ndarray, onp.generic)


class Primitive(Generic[_R]):
  """A differentiable function of arrays.

  The derivatives use functions of NumPy, so they have derivatives too. Results
  are an array or a tuple of arrays.
  """

  def evaluate(self, arrays: Sequence[Array]) -> _R:
    """Computes the results without derivatives."""
    raise NotImplementedError

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[_R, Tree]:
    """Computes the results and their tangents; None stands for zeros."""
    raise NotImplementedError

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[_R, Pullback]:
    """Computes the results and the pullback for the `wanted` arrays."""
    raise NotImplementedError

  def check(self, x: _T) -> _T:
    """Checks arguments or results, each an array or a tuple of arrays."""
    return checked(x)


class Pairs(Primitive[Array]):
  """A primitive with one result, with a jvp and a vjp for each argument.

  Attributes:
    call: the function.
    pair: `pair(i, result, *arrays)` returns the map of tangents of argument i,
      and its transpose.
  """

  def __init__(self, call: Callable[..., Array], pair: Callable[..., Pair]):
    self.call = call
    self.pair = pair

  def evaluate(self, arrays: Sequence[Array]) -> Array:
    return self.call(*arrays)

  def forward(
    self, arrays: Sequence[Array], tangents: Sequence[Array | None]
  ) -> tuple[Array, Array]:
    result = self.call(*arrays)
    total = added(
      [
        self.pair(i, result, *arrays)[0](tangent)
        for i, tangent in enumerate(tangents)
        if tangent is not None
      ]
    )
    if onp.shape(total) != onp.shape(result):
      total = onp.broadcast_to(total, onp.shape(result))
    return result, FUNCTIONS[astype](total, dtype_of(result))

  def reverse(
    self, arrays: Sequence[Array], wanted: Sequence[int]
  ) -> tuple[Array, Pullback]:
    result = self.call(*arrays)
    pullbacks = [self.pair(i, result, *arrays)[1] for i in wanted]
    return result, lambda cotangents: [
      pullback(cotangents[0]) for pullback in pullbacks
    ]


def apply(primitive: Primitive[_R], *arrays: Array) -> _R:
  """Applies a primitive to arrays, at least one of which is traced."""
  trace = latest(arrays)
  check = primitive.check
  records: list[Record] = []
  values: list[Array] = []
  for x in arrays:
    tracked = x if isinstance(x, Traced) and x.trace is trace else None
    records.append(None if tracked is None else tracked.record)
    values.append(check(_operand(x) if tracked is None else tracked.value))
  wanted = [i for i, record in enumerate(records) if record is not None]
  if not wanted:
    result = check(primitive.evaluate(values))
    return _wrapped(result, lambda x, i: Traced(x, trace, None))
  if trace.is_forward:
    result, tangent = primitive.forward(values, records)
    tangents = tangent if isinstance(tangent, tuple) else (tangent,)
    return _wrapped(check(result), lambda x, i: Traced(x, trace, tangents[i]))
  result, pullback = primitive.reverse(values, wanted)
  outputs = check(result) if isinstance(result, tuple) else (check(result),)
  node = Node(outputs, [records[i] for i in wanted], pullback)
  return _wrapped(result, lambda x, i: Traced(x, trace, (node, i)))


def latest(arrays: Sequence[object]) -> Trace:
  """Returns the innermost trace among the arrays."""
  traces = [x.trace for x in arrays if isinstance(x, Traced)]
  if any(trace.is_over for trace in traces):
    raise TypeError(
      f"an array of a differentiation that has ended is used{_place()}: return it "
      "from the function that is differentiated"
    )
  return max(traces, key=lambda trace: trace.level)


def _operand(x: Array) -> Array:
  """Copies a constant operand, as the caller may write to it later."""
  if isinstance(x, (Traced, int, float)):
    return x
  return onp.array(x) if isinstance(x, onp.ndarray) else onp.asarray(x)


def checked(x: _T) -> _T:
  """Checks that an array, or each of a tuple of arrays, is real; returns it."""
  for part in x if isinstance(x, tuple) else (x,):
    if dtype_of(part).kind in "cO":
      raise leaving(f"an array of dtype {dtype_of(part).name}")
  return x


def _wrapped(result: Results, wrap: Callable[[Array, int], Traced]) -> Tree:
  if isinstance(result, tuple):
    return tuple(wrap(x, i) for i, x in enumerate(result))
  return wrap(result, 0)


def added(terms: Sequence[Tree]) -> Tree:
  """Adds arrays, or tuples of arrays entry by entry."""
  if isinstance(terms[0], tuple):
    return tuple(map(added, zip(*terms, strict=True)))
  return sum(terms[1:], terms[0])


@overload
def constant(x: Array) -> onp.ndarray: ...
@overload
def constant(x: _T) -> _T: ...
def constant(x: object) -> object:
  """Returns the plain values of an array, without traces."""
  while isinstance(x, Traced):
    x = x.value
  return x


def fixed(call: Callable[..., Array], *arrays: object) -> Array:
  """Applies a function whose derivative is zero, e.g. a comparison.

  The result is still traced, so that it cannot decide a branch.
  """
  result = call(*(constant(x) for x in arrays))
  return Traced(checked(result), latest(arrays), None)


def dtype_of(x: object) -> onp.dtype:
  """Returns the dtype of an array or a number."""
  return x.dtype if isinstance(x, _WITH_DTYPE) else onp.asarray(x).dtype


def no_rule(name: str) -> NotImplementedError:
  """Returns the error for a function without a derivative rule."""
  return NotImplementedError(
    f"{name} of an array that is differentiated{_place()}: it has no derivative "
    "here; use other functions, or bind your own rule with ph.bind"
  )


def leaving(what: str) -> TypeError:
  """Returns the error for a conversion that would lose the derivative."""
  return TypeError(
    f"an array that is differentiated goes into {what}{_place()}: its derivative "
    "would be lost; use NumPy's functions of arrays"
  )


def _place() -> str:
  """Returns the location of the user's call, "" if it is not found."""
  frame = sys._getframe(1)
  while frame is not None and frame.f_code.co_filename.startswith(_FOLDERS):
    frame = frame.f_back  # type: ignore[assignment]
  if frame is None:
    return ""
  name, number = frame.f_code.co_filename, frame.f_lineno
  text = linecache.getline(name, number).strip()
  return f", at {name}:{number}" + (f", `{text}`" if text else "")
