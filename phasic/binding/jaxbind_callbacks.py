"""Converts JAXbind's callbacks `f(out, args, kwargs_dump)` to functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import functools
import operator
import pickle

import numpy as onp

from phasic.binding import arguments
from phasic.internal import raw_arguments
from phasic.internal.arrays import Tree
from phasic.internal.frameworks import Foreign
from phasic.internal.native import host_functions
from phasic.internal.native import host_results
from phasic.internal.native import static_options

_Kind = tuple[tuple[int, ...], onp.dtype]


class Callback:
  """Converts a callback in JAXbind's form to a function of arrays."""

  def __init__(
    self,
    f: Callable[..., None],
    abstract: Callable[..., Sequence[Sequence[Foreign]]],
    can_batch: bool,
    num_fixed: int | None = None,
  ):
    """Stores the callback and its options.

    Args:
      f: `f(out, args, kwargs_dump)`.
      abstract: `abstract(*args, **kwargs)`, which gives the specs of `out`.
      can_batch: whether it is called for batches.
      num_fixed: of how many arguments a batch may have one for all examples;
        None for any. JAX has tangents of arguments without a batch in a batch,
        and `abstract`, which is the function's too, looks at the arguments.
    """
    raw_arguments.check_flags(func_can_batch=can_batch)
    raw_arguments.check_callable("f", f)
    raw_arguments.check_callable("abstract", abstract)
    self._f = f
    self._name = getattr(f, "__qualname__", type(f).__name__)
    self._abstract = abstract
    self._can_batch = can_batch
    self._num_fixed = num_fixed
    # Plans are cached: making a plan takes most of a call's time, and a plan
    # depends only on shapes, dtypes and keyword arguments.
    self._kept = functools.lru_cache(maxsize=256)(self._plan)

  def check_call(
    self, args: Sequence[object], kwargs: Mapping[str, object]
  ) -> None:
    """Raises TypeError for arguments that a callback cannot take."""
    for i, x in enumerate(args):
      if x is None or isinstance(x, (tuple, list, dict)):
        raise TypeError(
          f"{self._name}: argument {i} is {type(x).__name__}: it must be an "
          "array"
        )
    arguments.check_unmasked(self._name, args)
    if self._can_batch and "batch_axes" in kwargs:
      raise TypeError(
        f"{self._name}: batch_axes is not a keyword argument of calls: only "
        "jax.vmap sets it"
      )
    arguments.key(self._name, kwargs)

  def host_function(
    self, finish: Callable[[list[onp.ndarray]], object]
  ) -> host_functions.HostFunction:
    """Returns a function of nested arrays; `finish` converts the results."""

    def call(*trees: Tree, **kwargs: object) -> object:
      return finish(self._call(_leaves(trees), (), kwargs))

    def call_for_batch(
      *trees: Tree,
      batch_axes: Sequence[host_functions.BatchLevel] = (),
      **kwargs: object,
    ) -> object:
      return finish(self._call(_leaves(trees), batch_axes, kwargs))

    if self._can_batch:
      return host_functions.HostFunction(self._name, call_for_batch, _batched)
    # A callback that takes no batches may have a keyword argument `batch_axes`
    # of its own, so pass all keyword arguments on.
    return host_functions.HostFunction(self._name, call)

  def result_specs(
    self, *trees: object, **kwargs: object
  ) -> list[host_results.ArraySpec]:
    """Returns the results' shapes and dtypes, for a call without a batch."""
    return self._specs([self._spec(x) for x in _leaves(trees)], None, kwargs)[0]

  def _call(
    self,
    arrays: Sequence[onp.ndarray],
    levels: Sequence[host_functions.BatchLevel],
    kwargs: Mapping[str, object],
  ) -> list[onp.ndarray]:
    """Calls the callback; arrays and results have their batch axes in front."""
    if not levels:
      kinds = tuple(map(_kind, arrays))
      specs, dump = self._kept(kinds, arguments.key(self._name, kwargs))
      out = [host_results.unwritten(spec) for spec in specs]
      self._f(tuple(out), tuple(arrays), dump)
      return out
    sizes = host_functions.level_sizes(arrays, levels)
    is_mapped = [
      any(level.mapped[i] for level in levels)
      or (self._num_fixed is not None and i >= self._num_fixed)
      for i in range(len(arrays))
    ]
    arrays = [
      _in_all_levels(x, [level.mapped[i] for level in reversed(levels)], sizes)
      if is_mapped[i]
      else x
      for i, x in enumerate(arrays)
    ]
    axes = [_batch_axes(is_mapped, n) for n in range(len(levels) + 1)]
    specs, _ = self._specs([self._spec(x) for x in arrays], axes[-1], kwargs)
    out = [host_results.unwritten(spec) for spec in specs]
    keywords = arguments.key(self._name, self._keywords(axes[-1], kwargs))
    self._f(tuple(out), tuple(arrays), _dumped(keywords))
    for i, size in enumerate(sizes):
      # The axes of the outer levels are in front already. So call `abstract`
      # with arrays that lack these axes: it returns the batch axis of level i.
      inner = [
        _spec_without(i if mapped else 0, x)
        for x, mapped in zip(arrays, is_mapped, strict=True)
      ]
      _, declared = self._specs(inner, axes[len(sizes) - i], kwargs)
      out = [
        _level_at(i, size, x, self._axis(k, item))
        for k, (x, item) in enumerate(zip(out, declared, strict=True))
      ]
    return out

  def _plan(
    self,
    kinds: Sequence[_Kind],
    key: static_options.Options,
  ) -> tuple[list[host_results.ArraySpec], onp.ndarray]:
    """Returns the specs of `out` and the dumped kwargs, for one example."""
    kwargs = static_options.thaw(key)
    like = [host_results.ArraySpec(*kind) for kind in kinds]
    specs, _ = self._specs(like, None, kwargs)
    keywords = arguments.key(self._name, self._keywords(None, kwargs))
    return specs, _dumped(keywords)

  def _specs(
    self,
    like: Sequence[host_results.ArraySpec],
    axes: tuple[tuple[int, ...], ...] | None,
    kwargs: Mapping[str, object],
  ) -> tuple[list[host_results.ArraySpec], list[Sequence[Foreign]]]:
    """Returns the specs of `out`, and the unprocessed result of `abstract`."""
    declared = list(self._abstract(*like, **self._keywords(axes, kwargs)))
    return [host_results.ArraySpec(*item[:2]) for item in declared], declared

  def _spec(self, x: object) -> host_results.ArraySpec:
    return host_results.spec_of(self._name, x)

  def _axis(self, position: int, item: Sequence[Foreign]) -> int | None:
    """Returns the batch axis that `abstract` gave for a result, or None."""
    try:
      _, _, axis = item
      return None if axis is None else operator.index(axis)
    except (TypeError, ValueError):
      raise TypeError(
        f"`abstract` of {self._name} returned {item!r} for result {position} "
        "of a batch: it must be (shape, dtype, batch axis)"
      ) from None

  def _keywords(
    self, axes: object, kwargs: Mapping[str, object]
  ) -> Mapping[str, object]:
    return {**kwargs, "batch_axes": axes} if self._can_batch else kwargs


def _kind(x: onp.ndarray) -> _Kind:
  return x.shape, x.dtype


def _batched(
  call: Callable[..., Sequence[object]],
  arrays: Sequence[onp.ndarray],
  levels: Sequence[host_functions.BatchLevel],
) -> Sequence[object]:
  return call(arrays, batch_axes=levels)


def _in_all_levels(
  x: onp.ndarray, mapped: Sequence[bool], sizes: tuple[int, ...]
) -> onp.ndarray:
  """Broadcasts an array to all batch levels, with the outermost axis first.

  Were it in some of them, nobody could say which of them an axis belongs to.
  """
  if all(mapped):
    return x
  shape = (*sizes, *x.shape[sum(mapped) :])
  missing = [axis for axis, is_mapped in enumerate(mapped) if not is_mapped]
  return onp.broadcast_to(onp.expand_dims(x, missing), shape).copy()


def _spec_without(count: int, x: onp.ndarray) -> host_results.ArraySpec:
  """Returns an array's spec without its first `count` batch axes."""
  return host_results.ArraySpec(x.shape[count:], x.dtype)


def _batch_axes(
  is_mapped: Sequence[bool], count: int
) -> tuple[tuple[int, ...], ...] | None:
  """Returns the batch axes of each array, the innermost level first."""
  if not count:
    return None
  axes = tuple(reversed(range(count)))
  return tuple(axes if mapped else () for mapped in is_mapped)


def _level_at(
  position: int, size: int, x: onp.ndarray, axis: int | None
) -> onp.ndarray:
  """Moves the batch axis of a result to a position, or inserts a batch axis.

  Args:
    position: the number of outer levels, whose axes are in front already.
    size: the size of the batch.
    x: the result.
    axis: the batch axis, counted after the axes of the outer levels; None if
      the result has none, and is copied for each example.
  """
  if axis is None:
    shape = (*x.shape[:position], size, *x.shape[position:])
    return onp.broadcast_to(onp.expand_dims(x, position), shape)
  # A nonnegative `axis` does not count the axes of the outer levels, which come
  # first. A negative axis counts from the end, so it needs no shift.
  source = axis if axis < 0 else axis + position
  return onp.moveaxis(x, source, position)


def _leaves(tree: Tree) -> list[onp.ndarray]:
  """Flattens nested tuples and lists, and removes None."""
  if isinstance(tree, (tuple, list)):
    return [leaf for item in tree for leaf in _leaves(item)]
  return [] if tree is None else [tree]


@functools.lru_cache(maxsize=1024)
def _dumped(key: static_options.Options) -> onp.ndarray:
  kwargs = static_options.thaw(key)
  return onp.frombuffer(pickle.dumps(kwargs), onp.uint8)
