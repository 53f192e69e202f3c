"""Forward-mode and reverse-mode evaluation with traced arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import heapq
from typing import Any, TypeAlias, TypeVar

import numpy as onp

from phasic.internal.tape import functions
from phasic.internal.tape import linear_maps
from phasic.internal.tape import placing
from phasic.internal.tape import traced

Array = traced.Array
Traced = traced.Traced
_T = TypeVar("_T")
MAY_HOLD_TRACED = (Traced, list, tuple)
_PLAIN = {onp.ndarray, float, int, str, bool, type(None)}
constant = traced.constant
dtype_of = traced.dtype_of
# An array or a traced array. Its type is `Any`, so that modules outside of this
# folder can use it as an array of NumPy.
DuckArray: TypeAlias = Any
cast: Callable[..., DuckArray] = functions.cast
fixed: Callable[..., DuckArray] = traced.fixed
linear: Callable[..., DuckArray] = linear_maps.linear
RULES = (functions, placing)  # Importing these modules registers their rules.


def is_traced(x: object) -> bool:
  """Returns whether `x` is an array that is differentiated."""
  return isinstance(x, Traced)


def any_traced(values: Sequence[object]) -> bool:
  """Returns whether some of the arrays are differentiated."""
  return Traced in map(type, values)


def without_derivative(x: object, advice: str) -> object:
  """Returns the values of an array; raises if it is differentiated.

  Args:
    x: the array, e.g. an index.
    advice: the message if it has a derivative, which would be lost.

  Raises:
    NotImplementedError: the array has a derivative.
  """
  while isinstance(x, Traced):
    if x.record is not None and x.dtype.kind == "f":
      raise NotImplementedError(advice)
    x = x.value
  return x


def holds_traced(x: object) -> bool:
  """Returns whether nested lists contain a differentiated array."""
  if not isinstance(x, (list, tuple)):
    return isinstance(x, Traced)
  return not _PLAIN.issuperset(map(type, x)) and any(map(holds_traced, x))


def joined(x: object) -> DuckArray:
  """Stacks nested lists of arrays and numbers into one array."""
  if isinstance(x, (list, tuple)):
    return onp.stack([joined(item) for item in x])
  return x if isinstance(x, Traced) else onp.asarray(x)


def forward(
  f: Callable[..., Sequence[Array]],
  primals: Sequence[Array],
  tangents: Sequence[Array],
) -> tuple[tuple[DuckArray, ...], tuple[DuckArray, ...]]:
  """Returns the results of `f`, a tuple, and their tangents (jvp)."""
  trace = traced.Trace(is_forward=True)
  try:
    results = f(
      *(
        Traced(_copied(x), trace, _copied(t))
        for x, t in zip(primals, tangents, strict=True)
      )
    )
  finally:
    trace.is_over = True
  values, records = _ended(trace, results)
  return values, tuple(
    onp.zeros_like(x) if record is None else record
    for x, record in zip(values, records, strict=True)
  )


def reverse(
  f: Callable[..., Sequence[Array]], primals: Sequence[Array]
) -> tuple[
  tuple[DuckArray, ...],
  Callable[[Sequence[DuckArray]], tuple[DuckArray, ...]],
]:
  """Returns the tuple of results of `f`, and the pullback of `f` (vjp)."""
  trace = traced.Trace(is_forward=False)
  leaf = traced.Node(list(primals), (), lambda cotangents: ())
  try:
    results = f(
      *(Traced(_copied(x), trace, (leaf, i)) for i, x in enumerate(primals))
    )
  finally:
    trace.is_over = True
  values, records = _ended(trace, results)

  def pullback(cotangents: Sequence[Array]) -> tuple[Array, ...]:
    # Suppress NumPy's warnings: derivatives may be infinite or NaN, as values
    # may.
    with onp.errstate(all="ignore"):
      propagated = _propagated(leaf, records, cotangents)
    return tuple(
      onp.zeros(*output) if cotangent is None else _copied(cotangent)
      for output, cotangent in zip(leaf.outputs, propagated, strict=True)
    )

  return values, pullback


def _propagated(
  leaf: traced.Node,
  records: Sequence[tuple[traced.Node, int] | None],
  cotangents: Sequence[Array],
) -> list[Array | None]:
  """Propagates output cotangents back to the inputs; None for unused inputs."""
  accumulated: dict[traced.Node, list[Array | None]] = {}
  heap: list[tuple[int, traced.Node]] = []

  def add(
    record: tuple[traced.Node, int], cotangent: Array, is_checked: bool = True
  ) -> None:
    node, i = record
    if is_checked:
      shape, dtype = node.outputs[i]
      if onp.shape(cotangent) != shape:
        raise ValueError(
          f"a rule returned a cotangent of shape {onp.shape(cotangent)} for an "
          f"array of shape {shape}: the two shapes must be equal"
        )
      if traced.dtype_of(cotangent) != dtype:
        cotangent = functions.as_dtype(cotangent, dtype)
    if node not in accumulated:
      accumulated[node] = [None] * len(node.outputs)
      heapq.heappush(heap, (-node.order, node))
    sums = accumulated[node]
    sums[i] = cotangent if sums[i] is None else sums[i] + cotangent

  for record, cotangent in zip(records, cotangents, strict=True):
    if record is not None:
      # Skip the check: the caller of the pullback has checked these shapes.
      add(record, cotangent, is_checked=False)
  while heap:
    _, node = heapq.heappop(heap)
    if node is leaf:
      break  # The leaf is the first node, so it comes last here.
    full: list[Array] = [
      onp.zeros(*output) if cotangent is None else cotangent
      for cotangent, output in zip(
        accumulated.pop(node), node.outputs, strict=True
      )
    ]
    for parent, returned in zip(node.parents, node.pullback(full), strict=True):
      if returned is not None:
        add(parent, returned)
  return accumulated.get(leaf, [None] * len(leaf.outputs))


def _ended(
  trace: traced.Trace, results: Sequence[Array]
) -> tuple[tuple[Array, ...], list[traced.Record]]:
  """Returns the values of a trace's results, and their tangents or nodes."""
  values, records = [], []
  for x in results:
    tracked = x if isinstance(x, Traced) and x.trace is trace else None
    value = x if tracked is None else _copied(tracked.value)
    if traced.dtype_of(value).kind not in "fiubc":
      raise TypeError(
        f"a function that is differentiated returned {type(value).__name__}: its "
        "results must be arrays of real numbers, or tuples, lists and mappings of "
        "them"
      )
    if isinstance(value, Traced):
      traced.latest((value,))
      if value.trace.level > trace.level:
        raise traced.leaving("the result of another differentiation")
    values.append(value)
    records.append(None if tracked is None else tracked.record)
  return tuple(values), records


def _copied(x: _T) -> _T | onp.ndarray:
  """Copies an array, as other code may write to it."""
  return onp.array(x) if isinstance(x, onp.ndarray) else x
