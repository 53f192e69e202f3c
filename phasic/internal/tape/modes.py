"""Forward and reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import heapq
from typing import Any

import numpy as onp

from phasic.internal.tape import functions
from phasic.internal.tape import linear_maps
from phasic.internal.tape import placing
from phasic.internal.tape import traced

Traced = traced.Traced
MAY_HOLD_TRACED = (Traced, list, tuple)
_PLAIN = {onp.ndarray, float, int, str, bool, type(None)}
cast = functions.cast
constant = traced.constant
dtype_of = traced.dtype_of
fixed = traced.fixed
linear = linear_maps.linear
RULES = (functions, placing)  # Importing them registers them.


def is_traced(x: Any) -> bool:
  """Whether an array is differentiated."""
  return isinstance(x, Traced)


def any_traced(values: Sequence[Any]) -> bool:
  """Whether one of the arrays is differentiated."""
  return Traced in map(type, values)


def without_derivative(x: Any, advice: str) -> Any:
  """Returns the numbers of an array that has no derivative, as indices have.

  Args:
    x: the array.
    advice: what is said where it has one, which would be lost.

  Raises:
    NotImplementedError: it has one.
  """
  while isinstance(x, Traced):
    if x.record is not None and x.dtype.kind == "f":
      raise NotImplementedError(advice)
    x = x.value
  return x


def holds_traced(x: Any) -> bool:
  """Whether an array, or one in nested lists, is differentiated."""
  if not isinstance(x, (list, tuple)):
    return isinstance(x, Traced)
  return not _PLAIN.issuperset(map(type, x)) and any(map(holds_traced, x))


def joined(x: Any) -> Any:
  """Returns nested lists of arrays and numbers as one array."""
  if isinstance(x, (list, tuple)):
    return onp.stack([joined(item) for item in x])
  return x if isinstance(x, Traced) else onp.asarray(x)


def forward(
  f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
  """Returns the arrays that `f` gives, a tuple, and their tangents."""
  trace = traced.Trace(is_forward=True)
  try:
    results = f(
      *(
        Traced(_own(x), trace, _own(t))
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
  f: Callable[..., Any], primals: Sequence[Any]
) -> tuple[tuple[Any, ...], Callable[[Sequence[Any]], tuple[Any, ...]]]:
  """Returns the arrays that `f` gives, a tuple, and their pullback."""
  trace = traced.Trace(is_forward=False)
  leaf = traced.Node(list(primals), (), lambda cotangents: ())
  try:
    results = f(
      *(Traced(_own(x), trace, (leaf, i)) for i, x in enumerate(primals))
    )
  finally:
    trace.is_over = True
  values, records = _ended(trace, results)

  def pullback(cotangents: Sequence[Any]) -> tuple[Any, ...]:
    found = _pulled(leaf, records, cotangents)
    return tuple(
      onp.zeros(*output) if bar is None else _own(bar)
      for output, bar in zip(leaf.outputs, found, strict=True)
    )

  return values, pullback


def _pulled(
  leaf: traced.Node, records: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
  """The cotangents of a leaf's arrays, None where nothing depends on them."""
  bars: dict[traced.Node, list[Any]] = {}
  heap: list[tuple[int, traced.Node]] = []

  def add(
    record: tuple[traced.Node, int], bar: Any, is_checked: bool = True
  ) -> None:
    node, i = record
    if is_checked:
      shape, dtype = node.outputs[i]
      if onp.shape(bar) != shape:
        raise ValueError(
          f"a rule returned a cotangent of shape {onp.shape(bar)} for an array "
          f"of shape {shape}"
        )
      if traced.dtype_of(bar) != dtype:
        bar = functions.as_dtype(bar, dtype)
    if node not in bars:
      bars[node] = [None] * len(node.outputs)
      heapq.heappush(heap, (-node.order, node))
    own = bars[node]
    own[i] = bar if own[i] is None else own[i] + bar

  for record, cotangent in zip(records, cotangents, strict=True):
    if record is not None:
      add(record, cotangent, is_checked=False)  # Rules check what they get.
  while heap:
    _, node = heapq.heappop(heap)
    if node is leaf:
      break  # The first of all.
    full = [
      onp.zeros(*output) if bar is None else bar
      for bar, output in zip(bars.pop(node), node.outputs, strict=True)
    ]
    for parent, bar in zip(node.parents, node.pull(full), strict=True):
      if bar is not None:
        add(parent, bar)
  return bars.get(leaf, [None] * len(leaf.outputs))


def _ended(
  trace: traced.Trace, results: Sequence[Any]
) -> tuple[tuple[Any, ...], list[Any]]:
  """The values of what a trace gave, and its records."""
  values, records = [], []
  for x in results:
    own = isinstance(x, Traced) and x.trace is trace
    value = _own(x.value) if own else x
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
    records.append(x.record if own else None)
  return tuple(values), records


def _own(x: Any) -> Any:
  """A copy, which nobody else changes."""
  return onp.array(x) if isinstance(x, onp.ndarray) else x
