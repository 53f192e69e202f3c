"""JAXbind's interface: code that uses it moves over by changing an import.

The functions have the signatures and the meaning that they have in JAXbind
1.3.1: functions `f(out, args, kwargs_dump)` write into the arrays `out`, and
calls return lists. What JAXbind's calls cannot do works here, as these are bound
functions: derivatives of all orders where a function is linear, all dtypes,
exceptions of one's own, gradients of replicated arguments in `jax.shard_map`.

Two things differ. Where a function can batch, the batch's axes come in front.
And `out` has NaN in it, or zeros for integers, so what a function does not write
is seen.
"""

from collections.abc import Callable, Sequence
import functools
import pickle
from typing import Any

import numpy as onp

from phasic.binding import arguments
from phasic.binding import functions
from phasic.internal import host_calls
from phasic.internal import host_functions
from phasic.internal import static_options

# Of JAXbind, whose interface this is.
__version__ = "1.3.1"


def load_kwargs(kwargs_dump: Any) -> dict[str, Any]:
  """Returns the keyword arguments of a call."""
  return pickle.loads(kwargs_dump)


def get_linear_call(
  f: Callable[..., None],
  f_T: Any,
  /,
  abstract: Callable[..., Any],
  abstract_T: Any,
  *,
  first_n_args_fixed: int = 0,
  func_can_batch: bool = False,
) -> Callable[..., list[Any]]:
  """Returns a call of a linear function, or of a multilinear one.

  Args:
    f: `f(out, args, kwargs_dump)`, linear in all arguments but the fixed ones.
    f_T: its transpose, called with the fixed arguments and the cotangents; for
      a multilinear function a tuple with one for each argument, called with the
      others and the cotangents, None for fixed arguments.
    abstract: `abstract(*args, **kwargs)` returns a tuple of (shape, dtype), or
      (shape, dtype, batch axis), for each of `out`.
    abstract_T: the same for the transpose, or for each.
    first_n_args_fixed: how many arguments have no derivative.
    func_can_batch: whether the functions are called for batches: then there is
      a keyword argument `batch_axes`, a tuple of axes for each argument, None
      where there is no batch.
  """
  callback = _Callback(f, abstract, func_can_batch)
  call = callback.host_function(list)
  is_multilinear = isinstance(f_T, (tuple, list))
  if is_multilinear:
    rules = [
      _rule(
        f"{call.name} has no transpose f_T[{i}]",
        (f_i, abstract_i, func_can_batch),
        lambda results: results[0],
      )
      for i, (f_i, abstract_i) in enumerate(zip(f_T, abstract_T, strict=True))
    ][first_n_args_fixed:]
  else:
    missing = f"{call.name} has no transpose f_T"
    rules = [_rule(missing, (f_T, abstract_T, func_can_batch), tuple)]

  def bound(*args: Any, **kwargs: Any) -> list[Any]:
    arguments.key(call.name, kwargs)
    fixed, slots = args[:first_n_args_fixed], args[first_n_args_fixed:]
    if not is_multilinear:
      slots = (slots,)
    return host_calls.call_multilinear(
      (call, *rules), callback.result_specs, fixed, slots, kwargs
    )

  return bound


def get_nonlinear_call(
  f: Callable[..., None],
  f_derivative: Sequence[Any],
  /,
  abstract: Callable[..., Any],
  abstract_reverse: Callable[..., Any],
  *,
  first_n_args_fixed: int = 0,
  func_can_batch: bool = False,
) -> Callable[..., list[Any]]:
  """Returns a call of a function with derivatives of first order.

  Args:
    f: `f(out, args, kwargs_dump)`.
    f_derivative: functions for jvp, called with the arguments and tangents, and
      vjp, called with the arguments and cotangents; both without fixed ones.
    abstract: `abstract(*args, **kwargs)` returns a tuple of (shape, dtype), or
      (shape, dtype, batch axis), for each of `out`.
    abstract_reverse: the same for vjp.
    first_n_args_fixed: how many arguments have no derivative.
    func_can_batch: as for `get_linear_call`.
  """
  callback = _Callback(f, abstract, func_can_batch)
  jvp, vjp = f_derivative
  without = (None,) * first_n_args_fixed
  call = callback.host_function(list)
  return functions.BoundFunction(
    call,
    callback.result_specs,
    _rule(
      f"{call.name} has no rule jvp in f_derivative",
      (jvp, abstract, func_can_batch),
      list,
    ),
    _rule(
      f"{call.name} has no rule vjp in f_derivative",
      (vjp, abstract_reverse, func_can_batch),
      lambda results: (*without, *results),
    ),
    tuple(range(first_n_args_fixed)),
  )


def _rule(
  missing: str,
  declared: tuple[Callable[..., None] | None, Callable[..., Any], bool],
  finish: Callable[[list[Any]], Any],
) -> host_functions.HostFunction | host_functions.Missing:
  """Returns a rule, declared as a `_Callback`, or what is said without it."""
  f, abstract, can_batch = declared
  if f is None:
    return host_functions.Missing(missing)
  return _Callback(f, abstract, can_batch).host_function(finish)


class _Callback:
  """A function of JAXbind's kind, as one of arrays that returns arrays."""

  def __init__(
    self, f: Callable[..., None], abstract: Callable[..., Any], can_batch: bool
  ):
    arguments.check_callable("f", f)
    arguments.check_callable("abstract", abstract)
    self._f = f
    self._name = getattr(f, "__qualname__", type(f).__name__)
    self._abstract = abstract
    self._can_batch = can_batch

  def host_function(
    self, finish: Callable[[list[Any]], Any]
  ) -> host_functions.HostFunction:
    """Returns a function of trees, whose result `finish` makes."""

    def call(*trees: Any, **kwargs: Any) -> Any:
      return finish(self._call(_leaves(trees), **kwargs))

    batching = _batched if self._can_batch else None
    return host_functions.HostFunction(self._name, call, batching)

  def result_specs(
    self, *trees: Any, **kwargs: Any
  ) -> list[host_functions.ArraySpec]:
    """Returns specs of `out` for one example."""
    specs, _ = self._specs(_leaves(trees), None, kwargs)
    return specs

  def _call(
    self,
    arrays: list[onp.ndarray],
    batch_axes: Sequence[host_functions.BatchLevel] | None = None,
    **kwargs: Any,
  ) -> list[onp.ndarray]:
    """Returns `out`; levels of a batch are in front of arrays and results."""
    levels = batch_axes or ()
    axes = _batch_axes(levels, len(arrays)) if levels else None
    specs, _ = self._specs(arrays, axes, kwargs)
    out = [host_functions.unwritten(spec) for spec in specs]
    keywords = arguments.key(self._name, self._keywords(axes, kwargs))
    self._f(tuple(out), tuple(arrays), _dumped(keywords))
    for i in range(len(levels)):
      # The level's axis, as it was when it was the last one.
      inner = levels[: len(levels) - i]
      found = self._specs(
        [
          x[(0,) * sum(level.mapped[k] for level in levels[len(inner) :])]
          for k, x in enumerate(arrays)
        ],
        _batch_axes(inner, len(arrays)),
        kwargs,
      )[1]
      out = [
        onp.moveaxis(x, axis + i, i) for x, axis in zip(out, found, strict=True)
      ]
    return out

  def _specs(
    self,
    arrays: Sequence[Any],
    axes: tuple[tuple[int, ...], ...] | None,
    kwargs: dict[str, Any],
  ) -> tuple[list[host_functions.ArraySpec], list[Any]]:
    """Returns specs of `out`, and its newest batch axes."""
    like = [host_functions.spec_of(self._name, x) for x in arrays]
    found = self._abstract(*like, **self._keywords(axes, kwargs))
    specs = [host_functions.ArraySpec(item[0], item[1]) for item in found]
    return specs, [item[2] if len(item) > 2 else None for item in found]

  def _keywords(self, axes: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**kwargs, "batch_axes": axes} if self._can_batch else kwargs


def _batched(
  call: Callable[..., Sequence[Any]],
  arrays: Sequence[Any],
  levels: Sequence[host_functions.BatchLevel],
) -> Sequence[Any]:
  return call(arrays, batch_axes=levels)


def _batch_axes(
  levels: Sequence[host_functions.BatchLevel], count: int
) -> tuple[tuple[int, ...], ...]:
  """Returns for each array its axes, the innermost level's first."""
  numbers = [sum(level.mapped[i] for level in levels) for i in range(count)]
  return tuple(tuple(reversed(range(number))) for number in numbers)


def _leaves(tree: Any) -> list[Any]:
  """Returns what is in nested tuples and lists, but None."""
  if isinstance(tree, (tuple, list)):
    return [leaf for item in tree for leaf in _leaves(item)]
  return [] if tree is None else [tree]


@functools.lru_cache(maxsize=1024)
def _dumped(key: static_options.Options) -> onp.ndarray:
  kwargs = static_options.thaw(key)
  return onp.frombuffer(pickle.dumps(kwargs), onp.uint8)
