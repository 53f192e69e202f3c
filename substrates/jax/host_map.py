"""Python functions on the host, as maps that `multilinear` binds.

A program calls a function by a number: no address is in it. One that runs in
another process says so. What is called is never deleted, as programs may outlive
the functions' names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
import secrets
import threading
from typing import Any

import jax
import numpy as onp

from phasic.substrates.jax.internal import ffi_targets
from phasic.substrates.jax.internal import host_functions
from phasic.substrates.jax.internal import multilinear
from phasic.substrates.jax.internal import rules as rules_lib

_PROCESS = secrets.randbits(62)
# What the numbers call, and whether results are lists of leaves.
_called: list[tuple[HostCall, bool]] = []
_lock = threading.Lock()


@dataclasses.dataclass(frozen=True, repr=False)
class HostCall(rules_lib.Mapped):
  """A function on the host, linear in each of its slots, or a transpose.

  Attributes:
    functions: f and its transposes.
    options: keyword arguments: names, types and values.
    fixed_tree: of the arguments that are the primals.
    arg_trees: of f's other arguments, each a slot.
    arg_specs: their leaves, of one example.
    out_tree: of f's result.
    out_specs: its leaves, of one example.
    target: which of the functions; 0 is f, i + 1 the transpose in slot i,
      whose slots are f's others and the cotangent.
    levels: of vmaps.
  """

  functions: tuple[host_functions.HostFunction | host_functions.Missing, ...]
  options: tuple[tuple[str, type, Any], ...]
  fixed_tree: Any
  arg_trees: tuple[Any, ...]
  arg_specs: tuple[tuple[host_functions.ArraySpec, ...], ...]
  out_tree: Any
  out_specs: tuple[host_functions.ArraySpec, ...]
  target: int = 0
  levels: tuple[rules_lib.Level, ...] = ()

  @property
  def function(self) -> host_functions.HostFunction:
    """What is called."""
    function = self.functions[self.target]
    assert isinstance(function, host_functions.HostFunction)
    return function

  def __repr__(self) -> str:
    return f"bound[{self.function.name}]"

  def _sides(self) -> tuple[list[Any], Any, Any]:
    """Trees of the slots, and tree and specs of the result."""
    trees, specs = list(self.arg_trees), list(self.arg_specs)
    if self.target == 0:
      return trees, self.out_tree, self.out_specs
    tree, spec = trees.pop(self.target - 1), specs.pop(self.target - 1)
    return [*trees, self.out_tree], tree, spec

  @property
  def groups(self) -> tuple[int, ...]:  # type: ignore[override]
    trees = self._sides()[0]
    return (self.fixed_tree.num_leaves, *(tree.num_leaves for tree in trees))

  def abstract(self, *operands: Any) -> list[tuple[tuple[Any, ...], Any]]:
    del operands
    sizes = [level.size for level in reversed(self.levels)]
    return [((*sizes, *s.shape), s.dtype) for s in self._sides()[2]]

  def flat_function(self) -> Callable[..., list[Any]]:
    """The function of a list of leaves, which returns one."""
    trees, out_tree, _ = self._sides()
    counts = self.groups
    function = self.function
    options = {name: value for name, _, value in self.options}

    def call(leaves: Sequence[Any], **more: Any) -> list[Any]:
      groups = []
      start = 0
      for count in counts:
        groups.append(leaves[start : start + count])
        start += count
      fixed = jax.tree.unflatten(self.fixed_tree, groups[0])
      slots = map(jax.tree.unflatten, trees, groups[1:])
      result = function.f(*fixed, *slots, **options, **more)
      return flattened(function.name, result, out_tree)

    return call

  def on_arrays(self) -> Callable[[Sequence[onp.ndarray]], list[onp.ndarray]]:
    """The function of host arrays, with its batch; results are checked."""
    call, (_, _, specs) = self.flat_function(), self._sides()
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

  def eager(self, *operands: Any) -> list[Any]:
    """Calls the function, whose exceptions are the caller's."""
    arrays = [onp.array(x) for x in operands]
    return [jax.device_put(onp.array(x)) for x in self.on_arrays()(arrays)]

  def evaluate(self, *operands: Any) -> Sequence[Any]:
    shapes = [
      jax.ShapeDtypeStruct(shape, dtype)
      for shape, dtype in self.abstract(*operands)
    ]
    run = self.on_arrays()

    def on_host(*values: Any) -> list[onp.ndarray]:
      try:
        return run([onp.array(x) for x in values])
      except Exception as error:
        message = host_functions.errors.keep(self.function.name, error)
        raise RuntimeError(message) from error

    return jax.pure_callback(on_host, shapes, *operands)

  def lower_cpu(self, ctx: Any, *operands: Any) -> Any:
    if not _has_callbacks():
      return None
    return jax.ffi.ffi_lowering(ffi_targets.CALL_PYTHON)(
      ctx,
      *operands,
      process=onp.int64(_PROCESS),
      number=onp.int64(_number(self)),
      name=self.function.name,
    )

  def differentiate(
    self, primals: list[Any], slots: list[list[Any]], tangents: list[Any]
  ) -> Any:
    raise NotImplementedError(host_functions.no_derivative(self.function.name))

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
    function = self.functions[index + 1]
    if isinstance(function, host_functions.Missing):
      raise NotImplementedError(function.message)
    return dataclasses.replace(self, target=index + 1)


def flattened(name: str, result: Any, tree: Any) -> list[Any]:
  """Returns the leaves of a result that has to be of a tree.

  Raises:
    TypeError: it is of another one.
  """
  leaves, own = jax.tree.flatten(result)
  if own != tree:
    raise TypeError(
      f"{name} returned a structure {own}: it must be {tree}, as its rule "
      "`abstract` or its arguments say"
    )
  return leaves


@functools.lru_cache(maxsize=4096)
def _number(op: HostCall) -> int:
  """Returns the number by which programs call."""
  kernel, _ = ffi_targets.load()
  function, is_flat = _callback(op)
  with _lock:
    number = kernel.add_callback(function, is_flat)
    _called.append((op, is_flat))
    assert number == len(_called) - 1
  return number


def _callback(op: HostCall) -> tuple[Callable[..., Any], bool]:
  """Returns a function of arrays, and whether it returns a list of them."""
  trees, out_tree, _ = op._sides()
  leaf = jax.tree.structure(0)
  if op.levels:
    run = op.on_arrays()
    return lambda *arrays: run(arrays), True
  if out_tree == leaf and all(
    tree == leaf for tree in (*op.fixed_tree.children(), *trees)
  ):
    # Arrays in and one out: nothing is between the program and the function.
    options = {name: value for name, _, value in op.options}
    f = op.function.f
    return functools.partial(f, **options) if options else f, False
  call = op.flat_function()
  return lambda *arrays: call(arrays), True


def _finish(number: int, result: Any) -> list[onp.ndarray]:
  """Returns the arrays of what a callback returned, checked."""
  op, is_flat = _called[number]
  if op.levels:
    return result
  name, (_, out_tree, specs) = op.function.name, op._sides()
  if not is_flat:
    result = flattened(name, result, out_tree)
  canonical = jax.dtypes.canonicalize_dtype
  return host_functions.checked(name, result, specs, canonical)


def _describe(number: int, error: BaseException) -> str:
  return host_functions.errors.keep(_called[number][0].function.name, error)


@functools.cache
def _has_callbacks() -> bool:
  """Whether the native library is there, through which programs call."""
  kernel, _ = ffi_targets.load()
  if kernel is None:
    return False
  kernel.start_callbacks(_finish, _describe, _PROCESS)
  return True
