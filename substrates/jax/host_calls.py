"""Calls of Python functions of NumPy arrays, as JAX makes them.

A function is called by its number: no address is in a program. A program that
runs in another process says so. What is called is never deleted, as programs
may outlive the functions' names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import itertools
import secrets
from typing import Any

import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import host_functions
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import rules as rules_lib

_PROCESS = secrets.randbits(62)
_numbers = itertools.count()
_called: dict[int, HostCall] = {}


def call(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns; there are no derivatives.

  Args:
    function: the function.
    abstract: `abstract(*args, **options)` of arguments with shapes and dtypes
      returns what has the result's; None calls the function with zeros.
    args: trees of arrays.
    options: keyword arguments, which are no arrays.

  Raises:
    TypeError: results are not as `abstract` says, in eager calls.
  """
  return call_multilinear([function], abstract, args, (), options)


def call_multilinear(
  functions: Sequence[host_functions.HostFunction | None],
  abstract: Callable[..., Any] | None,
  fixed: Sequence[Any],
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what a function returns that is linear in each of its arguments.

  Args:
    functions: the function f, and for each of `args` its transpose, None where
      there is none: `transpose(*fixed, *others, cotangent)`.
    abstract: as for `call`, of all arguments.
    fixed: trees of arrays, in which there are no derivatives.
    args: trees of floating arrays.
    options: keyword arguments, which are no arrays.
  """
  function = functions[0]
  assert function is not None
  primals, fixed_tree = jax.tree.flatten(
    jax.tree.map(_without_float0, tuple(fixed))
  )
  primals = [jnp.asarray(x) for x in primals]
  flat = [jax.tree.flatten(arg) for arg in args]
  slots = [[jnp.asarray(x) for x in leaves] for leaves, _ in flat]
  shapes = jax.tree.unflatten(fixed_tree, [_like(x) for x in primals])
  more = [
    jax.tree.unflatten(tree, [_like(x) for x in slot])
    for slot, (_, tree) in zip(slots, flat, strict=True)
  ]
  statics = _hashable(function.name, options)
  out_specs, out_tree = _result(function, abstract, (*shapes, *more), statics)
  op = HostCall(
    tuple(functions),
    statics,
    fixed_tree,
    tuple(tree for _, tree in flat),
    tuple(tuple(map(_spec, slot)) for slot in slots),
    out_tree,
    out_specs,
  )
  return jax.tree.unflatten(out_tree, multilinear.bind(op, primals, slots))


def result_like(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  args: Sequence[Any],
  options: Mapping[str, Any],
) -> Any:
  """Returns what has the shapes and dtypes of a function's result.

  Arguments are those of `call`.
  """
  statics = _hashable(function.name, options)
  specs, tree = _result(function, abstract, tuple(args), statics)
  return jax.tree.unflatten(
    tree, [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in specs]
  )


def cotangent_like(args: tuple[Any, ...]) -> tuple[Any, ...]:
  """Returns arguments with None in the place of what has no cotangent."""
  return jax.tree.map(
    lambda x: x if jnp.issubdtype(x.dtype, jnp.inexact) else None, args
  )


def last_error() -> BaseException | None:
  """Returns the last exception of a function that compiled code called."""
  return host_functions.errors.last()


@dataclasses.dataclass(frozen=True, repr=False)
class HostCall(rules_lib.Mapped):
  """A function on the host, linear in each of its slots, or a transpose.

  Attributes:
    functions: f and its transposes.
    options: keyword arguments, as pairs.
    fixed_tree: of the arguments that are the primals.
    arg_trees: of f's other arguments, each a slot.
    arg_specs: their leaves, of one example.
    out_tree: of f's result.
    out_specs: its leaves, of one example.
    target: which of the functions; 0 is f, i + 1 the transpose in slot i,
      whose slots are f's others and the cotangent.
    levels: of vmaps.
  """

  functions: tuple[host_functions.HostFunction | None, ...]
  options: tuple[tuple[str, Any], ...]
  fixed_tree: Any
  arg_trees: tuple[Any, ...]
  arg_specs: tuple[tuple[host_functions.ArraySpec, ...], ...]
  out_tree: Any
  out_specs: tuple[host_functions.ArraySpec, ...]
  target: int = 0
  levels: tuple[rules_lib.Level, ...] = ()

  def __repr__(self) -> str:
    return f"bound[{self.functions[0].name}, {self.target}]"  # type: ignore

  def _sides(self) -> tuple[list[Any], list[Any], Any, Any]:
    """Trees and specs of the slots, and of the result."""
    trees, specs = list(self.arg_trees), list(self.arg_specs)
    if self.target == 0:
      return trees, specs, self.out_tree, self.out_specs
    tree, spec = trees.pop(self.target - 1), specs.pop(self.target - 1)
    return [*trees, self.out_tree], [*specs, self.out_specs], tree, spec

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    trees = self._sides()[0]
    return (self.fixed_tree.num_leaves, *(tree.num_leaves for tree in trees))

  def abstract(self, *operands: Any) -> list[tuple[tuple[Any, ...], Any]]:
    del operands
    sizes = [level.size for level in reversed(self.levels)]
    return [((*sizes, *s.shape), s.dtype) for s in self._sides()[3]]

  def run(self, arrays: Sequence[onp.ndarray]) -> list[onp.ndarray]:
    """Calls the function on the host."""
    trees, _, out_tree, out_specs = self._sides()
    function = self.functions[self.target]
    assert function is not None
    options = dict(self.options)
    counts = self.groups

    def one(leaves: Sequence[Any]) -> list[Any]:
      groups = []
      start = 0
      for count in counts:
        groups.append(leaves[start : start + count])
        start += count
      args = jax.tree.unflatten(self.fixed_tree, groups[0])
      rest = [
        jax.tree.unflatten(tree, group)
        for tree, group in zip(trees, groups[1:], strict=True)
      ]
      result = function.f(*args, *rest, **options)
      return _flattened(function.name, result, out_tree)

    linear = sum(counts[1:])
    levels = [
      host_functions.BatchLevel(
        level.size,
        (*(axis is not None for axis in level.axes), *[True] * linear),
      )
      for level in self.levels
    ]
    return host_functions.run(
      function, one, arrays, out_specs, levels, jax.dtypes.canonicalize_dtype
    )

  def eager(self, *operands: Any) -> list[Any]:
    """Calls the function, whose exceptions are the caller's."""
    arrays = [onp.array(x) for x in operands]
    return [jnp.array(x) for x in self.run(arrays)]

  def evaluate(self, *operands: Any) -> Sequence[Any]:
    shapes = [
      jax.ShapeDtypeStruct(shape, dtype)
      for shape, dtype in self.abstract(*operands)
    ]
    return jax.pure_callback(
      lambda *x: self.run([onp.asarray(y) for y in x]), shapes, *operands
    )

  def lower_cpu(self, ctx: Any, *operands: Any) -> Any:
    if not _has_dispatcher():
      return None
    name = self.functions[self.target].name  # type: ignore[union-attr]
    return jax.ffi.ffi_lowering(ffi_targets.CALL_PYTHON)(
      ctx,
      *operands,
      process=onp.int64(_PROCESS),
      number=onp.int64(_number(self)),
      name=name,
    )

  def differentiate(
    self, primals: list[Any], slots: list[list[Any]], tangents: list[Any]
  ) -> Any:
    raise NotImplementedError(
      f"{self.functions[0].name} has no derivative in its fixed arguments: "  # type: ignore[union-attr]
      "there is no rule for it"
    )

  def transpose(
    self,
    slot: int,
    wanted: tuple[bool, ...],
    primals: list[Any],
    others: list[list[Any]],
    cotangents: list[Any],
  ) -> tuple[multilinear.Map, list[list[Any]]]:
    count = len(self.arg_trees)
    if self.target == 0:
      return self._transposed(slot), [*others, cotangents]
    own = self.target - 1
    if slot == count - 1:
      # In the cotangent: f, with this one's cotangent as the own argument.
      slots = [*others[:own], cotangents, *others[own:]]
      return dataclasses.replace(self, target=0), slots
    # In another argument: its transpose, where the own argument is given.
    index = slot if slot < own else slot + 1
    kept = [i for i in range(count) if i not in (own, index)]
    args = dict(zip(kept, others[:-1], strict=True))
    args[own] = cotangents
    slots = [args[i] for i in sorted(args)]
    return self._transposed(index), [*slots, others[-1]]

  def _transposed(self, index: int) -> HostCall:
    if self.functions[index + 1] is None:
      name = self.functions[0].name  # type: ignore[union-attr]
      raise NotImplementedError(
        f"{name} has no transpose in argument {index}: reverse-mode "
        "derivatives need the rule `transpose`, which it was bound without"
      )
    return dataclasses.replace(self, target=index + 1)


@functools.lru_cache(maxsize=4096)
def _number(op: HostCall) -> int:
  """Returns the number by which programs call."""
  number = next(_numbers)
  _called[number] = op
  return number


def _dispatch(
  number: int, inputs: Sequence[onp.ndarray]
) -> tuple[str | None, list[onp.ndarray] | None]:
  op = _called[number]
  try:
    return None, op.run(inputs)
  except Exception as error:
    name = op.functions[op.target].name  # type: ignore[union-attr]
    return host_functions.errors.keep(name, error), None


@functools.cache
def _has_dispatcher() -> bool:
  """Whether the native library is there, which then calls `_dispatch`."""
  kernel, _ = ffi_targets.load()
  if kernel is None:
    return False
  kernel.set_dispatcher(_dispatch, _PROCESS)
  return True


def _result(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  shapes: tuple[Any, ...],
  options: tuple[tuple[str, Any], ...],
) -> tuple[tuple[host_functions.ArraySpec, ...], Any]:
  """Returns specs and tree of the result for one example."""
  leaves, tree = jax.tree.flatten(shapes)
  specs = tuple(_spec(x) for x in leaves)
  wide = jax.dtypes.canonicalize_dtype("float64").name
  return _cached_result(function, abstract, tree, specs, options, wide)


@functools.lru_cache(maxsize=4096)
def _cached_result(
  function: host_functions.HostFunction,
  abstract: Callable[..., Any] | None,
  tree: Any,
  specs: tuple[host_functions.ArraySpec, ...],
  options: tuple[tuple[str, Any], ...],
  wide: str,
) -> tuple[tuple[host_functions.ArraySpec, ...], Any]:
  del wide  # A part of the key.
  if abstract is not None:
    shapes = jax.tree.unflatten(
      tree, [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in specs]
    )
    result = abstract(*shapes, **dict(options))
  else:
    if any(not isinstance(d, int) for s in specs for d in s.shape):
      raise TypeError(
        f"{function.name} is called with sizes that are not known: it needs "
        "the rule `abstract`"
      )
    zeros = [onp.zeros(s.shape, s.dtype) for s in specs]
    result = function.f(*jax.tree.unflatten(tree, zeros), **dict(options))
    result = jax.tree.map(onp.asarray, result)
  leaves, out_tree = jax.tree.flatten(result)
  for x in leaves:
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
      raise TypeError(
        f"`abstract` of {function.name} returned a {type(x).__name__}: it must "
        "return what has a shape and a dtype"
      )
  return tuple(_spec(x) for x in leaves), out_tree


def _spec(x: Any) -> host_functions.ArraySpec:
  dtype = jax.dtypes.canonicalize_dtype(x.dtype)
  return host_functions.ArraySpec(tuple(x.shape), dtype)


def _like(x: Any) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(x.shape, x.dtype)


def _without_float0(x: Any) -> Any:
  """Returns None for tangents of what has none."""
  return None if getattr(x, "dtype", None) == jax.dtypes.float0 else x


def _flattened(name: str, result: Any, tree: Any) -> list[Any]:
  leaves, own = jax.tree.flatten(result)
  if own != tree:
    raise TypeError(
      f"{name} returned a structure {own}: it must be {tree}, as its rule "
      "`abstract` or its arguments say"
    )
  return leaves


def _hashable(
  name: str, options: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
  for key, value in options.items():
    try:
      hash(value)
    except TypeError:
      raise TypeError(
        f"{name}: keyword argument {key} is {type(value).__name__}: keyword "
        "arguments must be hashable, arrays go by position"
      ) from None
  return tuple(sorted(options.items()))
