"""Users' Python functions on the host, as maps that `multilinear` binds.

A program calls a function by a number, not by an address. In another process it
raises. Called functions are never deleted, as programs may outlive their names.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
import dataclasses
import functools
import secrets
import threading
from typing import NoReturn

import jax
from jax.interpreters import mlir
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import kernel_ops
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import rules as rules_lib
from phasic.substrates.jax.internal.arrays import (
  Array,
  Lowered,
  Shaped,
  Spec,
  Tangent,
  Tree,
  TreeDef,
)
from phasic.substrates.jax.internal.native import host_functions
from phasic.substrates.jax.internal.native import host_results
from phasic.substrates.jax.internal.native import static_options

_PROCESS = secrets.randbits(62)
# The registered calls by number, each with the kind of its result (`_kind`).
_called: list[tuple[HostCall, str]] = []
_lock = threading.Lock()


@dataclasses.dataclass(frozen=True, repr=False)
class HostCall(rules_lib.Mapped):
  """A Python function that is linear in each slot, or one of its transposes.

  Attributes:
    functions: f and its transposes.
    options: keyword arguments.
    fixed_tree: the tree of the arguments that are primals.
    arg_trees: the trees of f's other arguments, each of which is a slot.
    arg_specs: the specs of their leaves, for one example.
    out_tree: the tree of f's result.
    out_specs: the specs of its leaves, for one example.
    target: the index of the function; 0 is f, and i + 1 is the transpose in
      slot i, whose slots are f's other slots and the cotangent.
    levels: the levels of vmaps.
  """

  functions: tuple[host_functions.HostFunction | host_functions.Missing, ...]
  options: static_options.Options
  fixed_tree: TreeDef
  arg_trees: tuple[TreeDef, ...]
  arg_specs: tuple[tuple[host_results.ArraySpec, ...], ...]
  out_tree: TreeDef
  out_specs: tuple[host_results.ArraySpec, ...]
  target: int = 0
  levels: tuple[rules_lib.Level, ...] = ()

  @property
  def function(self) -> host_functions.HostFunction:
    """Returns the Python function that this map calls."""
    function = self.functions[self.target]
    assert isinstance(function, host_functions.HostFunction)
    return function

  def __repr__(self) -> str:
    return f"bound[{self.function.name}]"

  def _sides(
    self,
  ) -> tuple[list[TreeDef], TreeDef, tuple[host_results.ArraySpec, ...]]:
    """Returns the trees of the inputs, and the tree and specs of the result."""
    trees, specs = list(self.arg_trees), list(self.arg_specs)
    if self.target == 0:
      return trees, self.out_tree, self.out_specs
    tree, spec = trees.pop(self.target - 1), specs.pop(self.target - 1)
    return [*trees, self.out_tree], tree, spec

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    trees = self._sides()[0]
    return (self.fixed_tree.num_leaves, *(tree.num_leaves for tree in trees))

  def abstract(self, *operands: Shaped) -> list[Spec]:
    sizes = [level.size for level in reversed(self.levels)]
    specs = [
      host_results.ArraySpec((*sizes, *s.shape), s.dtype)
      for s in self._sides()[2]
    ]
    for spec in specs:
      host_results.check_bytes(self.function.name, spec)
    return [(spec.shape, spec.dtype) for spec in specs]

  def flat_function(self) -> Callable[..., list[object]]:
    """Returns the function with a list of leaves as argument and as result."""
    trees, out_tree, _ = self._sides()
    function = self.function
    options = static_options.thaw(self.options)
    parts: list[tuple[TreeDef, slice]] = []
    start = 0
    for tree in (*self.fixed_tree.children(), *trees):
      parts.append((tree, slice(start, start + tree.num_leaves)))
      start += tree.num_leaves

    def call(leaves: Sequence[object], **more: object) -> list[object]:
      args = [tree.unflatten(leaves[part]) for tree, part in parts]
      result = function.f(*args, **options, **more)
      return flattened(function.name, result, out_tree)

    return call

  def _quick_function(self) -> Callable[..., Sequence[object]]:
    """Returns a faster `flat_function`: a call has fewer layers and checks."""
    name, (_, out_tree, _) = self.function.name, self._sides()
    quick, returns = _callback(dataclasses.replace(self, levels=()))
    full = self.flat_function()

    def call(leaves: Sequence[object], **more: object) -> Sequence[object]:
      if more:
        return full(leaves, **more)
      result = quick(*leaves)
      if returns == "list" or (
        returns == "tuple" and type(result) is tuple and _are_arrays(result)
      ):
        return result
      if returns == "array" and _are_arrays((result,)):
        return (result,)
      return flattened(name, result, out_tree)

    return call

  def on_arrays(self) -> Callable[[Sequence[onp.ndarray]], list[onp.ndarray]]:
    """Returns the function of batched host arrays; it checks the results."""
    call, (_, _, specs) = self._quick_function(), self._sides()
    linear = sum(self.groups[1:])
    levels = [
      host_functions.BatchLevel(
        (*(axis is not None for axis in level.axes), *[True] * linear)
      )
      for level in self.levels
    ]
    canonical = jax.dtypes.canonicalize_dtype

    def run(arrays: Sequence[onp.ndarray]) -> list[onp.ndarray]:
      return host_functions.run(
        self.function, call, arrays, specs, levels, canonical
      )

    return run

  def eager(self, *operands: Array) -> list[Array]:
    """Calls the function directly, so that exceptions reach the caller."""
    arrays = [onp.array(x) for x in operands]
    return [jax.device_put(onp.array(x)) for x in self.on_arrays()(arrays)]

  def evaluate(self, *operands: Array) -> Sequence[Array]:
    shapes = [
      jax.ShapeDtypeStruct(shape, dtype)
      for shape, dtype in self.abstract(*operands)
    ]
    run = self.on_arrays()

    def on_host(*values: Array) -> list[onp.ndarray]:
      try:
        return run([onp.array(x) for x in values])
      except Exception as error:
        message = host_functions.errors.keep(self.function.name, error)
        raise RuntimeError(message) from error

    return jax.pure_callback(on_host, shapes, *operands)

  def lower_cpu(
    self, ctx: mlir.LoweringRuleContext, *operands: mlir.ir.Value
  ) -> Lowered | None:
    if not _has_callbacks():
      kernel_ops.path_of_call()  # This warns that the kernel cannot run.
      return None
    # XLA removes calls whose results are all empty, so that these results are
    # never checked. Declaring a side effect prevents the removal.
    shapes = [spec.shape for spec in self._sides()[2]]
    is_empty = any(isinstance(n, int) and n == 0 for s in shapes for n in s)
    lowering = jax.ffi.ffi_lowering(
      "phasic_call_python", has_side_effect=is_empty
    )
    return lowering(
      ctx,
      *operands,
      process=onp.int64(_PROCESS),
      number=onp.int64(_number(self)),
      name=self.function.name,
    )

  def differentiate(
    self,
    primals: list[Array],
    slots: list[list[Array]],
    tangents: list[Tangent],
  ) -> NoReturn:
    raise NotImplementedError(host_functions.no_derivative(self.function.name))

  def transpose(
    self, at: multilinear.Slot
  ) -> tuple[multilinear.Map, list[list[Array]]]:
    target, slots = host_functions.transposed(
      self.target, at.number, at.others, at.cotangents
    )
    function = self.functions[target]
    if isinstance(function, host_functions.Missing):
      raise NotImplementedError(function.message)
    return dataclasses.replace(self, target=target), slots


def _are_arrays(values: Sequence[object]) -> bool:
  return all(isinstance(x, (onp.ndarray, onp.generic)) for x in values)


def flattened(name: str, result: object, tree: TreeDef) -> list[object]:
  """Returns the leaves of a result after checking its tree.

  Raises:
    TypeError: the result has another tree.
  """
  leaves, result_tree = jax.tree.flatten(result)
  if result_tree != tree:
    raise TypeError(
      f"{name} returned the structure {result_tree}: it must be {tree}, as "
      "given by its rule `abstract` or, without such a rule, by a call with "
      "zeros"
    )
  return leaves


@functools.lru_cache(maxsize=4096)
def _number(op: HostCall) -> int:
  """Registers a call and returns the number by which programs call it."""
  kernel, _ = ffi_targets.load()
  assert kernel is not None  # `lower_cpu` has checked this.
  function, returns = _callback(op)
  with _lock:
    number = kernel.add_callback(function, returns)
    _called.append((op, returns))
    assert number == len(_called) - 1
  return number


def _callback(op: HostCall) -> tuple[Callable[..., Tree], str]:
  """Returns the Python callable of a call, and the kind of its result.

  The kind is an "array", a "tuple" or a "list" of arrays. There are few layers
  between program and function, as each call pays for them. What the callable
  returns is not checked yet.
  """
  trees, out_tree, _ = op._sides()
  if op.levels:
    run = op.on_arrays()
    return lambda *arrays: run(arrays), "list"
  call = op.flat_function()
  returns = _kind(out_tree)
  places: list[int | slice] = []
  start = 0
  for tree in (*op.fixed_tree.children(), *trees):
    kind, stop = _kind(tree), start + tree.num_leaves
    if kind == "list" or returns == "list":
      return lambda *arrays: call(arrays), "list"
    places.append(start if kind == "array" else slice(start, stop))
    start = stop
  options = static_options.thaw(op.options)
  f = op.function.f
  if options:
    f = functools.partial(f, **options)
  if all(isinstance(place, int) for place in places):
    return f, returns
  return lambda *arrays: f(*[arrays[place] for place in places]), returns


def _kind(tree: TreeDef) -> str:
  """Returns whether a tree is an "array", a "tuple" of arrays or a "list"."""
  if tree == jax.tree.structure(0):
    return "array"
  leaves = (0,) * tree.num_leaves
  return "tuple" if tree == jax.tree.structure(leaves) else "list"


def _finish(number: int, result: Tree) -> list[onp.ndarray]:
  """Checks the result of a callback and returns its arrays."""
  op, returns = _called[number]
  if op.levels:
    return result
  name, (_, out_tree, specs) = op.function.name, op._sides()
  if returns != "list":
    result = flattened(name, result, out_tree)
  canonical = jax.dtypes.canonicalize_dtype
  return host_results.checked(name, result, specs, canonical)


def _describe(number: int, error: BaseException) -> str:
  return host_functions.errors.keep(_called[number][0].function.name, error)


def _has_callbacks() -> bool:
  """Starts callbacks from native code; returns whether they are available."""
  with _lock:  # Several threads may start callbacks at the same time.
    return _start_callbacks()


@functools.cache
def _start_callbacks() -> bool:
  kernel, _ = ffi_targets.load()
  if kernel is None:
    return False
  kernel.start_callbacks(_finish, _describe, _PROCESS)
  # Programs may still run when the interpreter exits: stop their callbacks.
  atexit.register(kernel.stop_callbacks)
  return True
