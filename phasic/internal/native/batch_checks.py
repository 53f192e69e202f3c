"""Checks functions that are bound to evaluate a whole batch in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import itertools
from typing import Any, Protocol

import numpy as onp

from phasic.internal.native import host_results


class MappedLevel(Protocol):
  """The attributes of a `host_functions.BatchLevel` that are read here."""

  @property
  def mapped(self) -> tuple[bool, ...]:
    """Returns, for each array, whether the level maps over it."""
    ...


class BatchedFunction(Protocol):
  """The attributes of a `host_functions.HostFunction` that are read here."""

  @property
  def name(self) -> str: ...

  @property
  def batching(self) -> Callable[..., Sequence[object]] | None: ...

  @property
  def checked(self) -> set[Any]: ...


def check(
  function: BatchedFunction,
  call: Callable[..., Sequence[object]],
  arrays: Sequence[onp.ndarray],
  specs: Sequence[host_results.ArraySpec],
  levels: Sequence[MappedLevel],
  sizes: tuple[int, ...],
  canonical: Callable[[onp.dtype], object] = onp.dtype,
) -> None:
  """Checks by a trial call that a function evaluates a batch correctly.

  Where a batch's size is also the size of another dimension, a function that
  broadcasts its arguments along a wrong dimension may return results of the
  right shape. So it is called once more, with a batch of some of the examples,
  of a size that no other dimension has.

  Args:
    function: the function.
    call: see `host_functions.run`.
    arrays: the arrays of the batch.
    specs: the specs of results for one example.
    levels: the levels of the batch, innermost first.
    sizes: the sizes of the levels, outermost first.
    canonical: see `host_functions.run`.

  Raises:
    TypeError: the function raises for that batch, or returns other shapes.
  """
  mapped = [
    [level.mapped[i] for level in reversed(levels)] for i in range(len(arrays))
  ]
  shapes = [
    x.shape[sum(is_mapped) :]
    for x, is_mapped in zip(arrays, mapped, strict=True)
  ]
  used_sizes = {
    n for shape in (*shapes, *(s.shape for s in specs)) for n in shape
  }
  is_unlike = len(set(sizes)) == len(sizes) and used_sizes.isdisjoint(sizes)
  kind = (tuple(levels), tuple(map(len, shapes)))
  if (
    is_unlike
    or 0 in sizes
    or kind in function.checked
    or function.batching is None
  ):
    return
  unlike = (n for n in itertools.count(2) if n not in used_sizes)
  trial = tuple(itertools.islice(unlike, len(sizes)))
  parts = [onp.array(x) for x in arrays]
  for i, is_mapped in enumerate(mapped):
    for level, size in enumerate(trial):
      if is_mapped[level]:
        axis, index = sum(is_mapped[:level]), onp.arange(size) % sizes[level]
        parts[i] = onp.take(parts[i], index, axis)
  expected = [
    host_results.ArraySpec((*trial, *s.shape), s.dtype) for s in specs
  ]
  try:
    results = function.batching(call, parts, levels)
    host_results.checked(function.name, results, expected, canonical)
  except Exception as error:
    raise TypeError(
      f"{function.name} does not take a batch, whose dimensions come first in "
      f"all arguments: for {' and '.join(map(str, trial))} examples it raised "
      f"{type(error).__name__}: {error}; bind it with "
      "batching='sequential', or align the last dimensions of its arguments"
    ) from error
  function.checked.add(kind)
