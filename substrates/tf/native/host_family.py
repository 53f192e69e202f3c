"""Users' multilinear Python functions on the host, in TensorFlow.

The gradients of a function and its transposes are again in this family. The
fixed arguments have no gradient; using it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import custom_gradient
from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal.arrays import Tree
from phasic.substrates.tf.internal.native import host_functions
from phasic.substrates.tf.internal.native import host_programs
from phasic.substrates.tf.internal.native import static_options

_T = TypeVar("_T")


def family(
  functions: host_functions.Functions,
  options: static_options.Options,
  arg_specs: tuple[object, ...],
  out_specs: object,
) -> Family:
  """Returns the `Family` of a function for given specs.

  Args:
    functions: f and its transposes.
    options: keyword arguments.
    arg_specs: the specs of the arguments in which f is linear.
    out_specs: the specs of its result.
  """
  function = functions[0]
  assert isinstance(function, host_functions.HostFunction)
  # The cache lives as long as the function, which is part of the key.
  make = function.keeping(_family)
  return make(tuple(functions), options, _Key((arg_specs, out_specs)))


def conjugated(tree: _T) -> _T:
  """Returns the complex conjugates of all leaves."""
  return structures.map_leaves(
    lambda x: tf.math.conj(x) if tf.as_dtype(x.dtype).is_complex else x, tree
  )


def is_differentiable(x: object) -> bool:
  """Returns whether an array or its spec is floating or complex."""
  dtype = x.dtype if hasattr(x, "dtype") else onp.asarray(x).dtype
  dtype = tf.as_dtype(dtype)
  return dtype.is_floating or dtype.is_complex


class Family:
  """A function that is linear in each argument (slot), with its transposes.

  Gradients of the functions are again functions of the family.
  """

  def __init__(
    self,
    functions: tuple[host_functions.HostFunction | host_functions.Missing, ...],
    options: dict[str, object],
    arg_specs: tuple[object, ...],
    out_specs: object,
  ):
    self._functions = functions
    self._options = options
    self._arg_specs = arg_specs
    self._out_specs = out_specs
    self._ops = [self._op(target) for target in range(len(functions))]

  def apply(
    self, target: int, fixed: Sequence[object], slots: Sequence[object]
  ) -> object:
    """Calls f for target 0, or its transpose in slot i for target i + 1.

    The slots of a transpose are f's other slots and the cotangent.
    """
    function = self._functions[target]
    if tf.executing_eagerly() and not isinstance(
      function, host_functions.Missing
    ):
      message = host_functions.no_derivative(function.name)
      fixed = structures.map_leaves(
        lambda x: _constant(message, x) if is_differentiable(x) else x, fixed
      )
    return self._ops[target](fixed, *slots)

  def _op(self, target: int) -> Callable[..., object]:
    function = self._functions[target]
    specs = self._out_specs if target == 0 else self._arg_specs[target - 1]

    def evaluate(fixed: Sequence[object], *slots: object) -> object:
      if isinstance(function, host_functions.Missing):
        return host_programs.failing(
          function.message, structures.flatten(slots), specs
        )
      return host_programs.evaluate(
        function, (*fixed, *slots), self._options, specs
      )

    def backward(
      residuals: tuple[Tree, ...], cotangent: object
    ) -> tuple[object, ...]:
      fixed, *slots = residuals
      plain = conjugated(cotangent)
      return (
        _fixed_gradients(function, fixed, cotangent),
        *(
          conjugated(self._transposed(target, slot, fixed, slots, plain))
          for slot in range(len(slots))
        ),
      )

    evaluate.__name__ = getattr(function, "name", "missing")
    rule = custom_gradient.custom_gradient(
      vjp_fwd=lambda *args: (None, args), vjp_bwd=backward
    )
    return rule(evaluate)

  def _transposed(
    self,
    target: int,
    slot: int,
    fixed: Sequence[object],
    slots: Sequence[object],
    cotangent: object,
  ) -> object:
    """Computes the transpose, in one slot, of f or of one of its transposes."""
    others = [x for i, x in enumerate(slots) if i != slot]
    target, slots = host_functions.transposed(target, slot, others, cotangent)
    return self.apply(target, fixed, slots)


class _Key:
  """A hashable tree of specs."""

  def __init__(self, tree: tuple[tuple[object, ...], object]):
    self.tree = tree
    self._text = repr(tree)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Key) and self._text == other._text

  def __hash__(self) -> int:
    return hash(self._text)


def _family(
  functions: tuple[host_functions.HostFunction | host_functions.Missing, ...],
  options: static_options.Options,
  specs: _Key,
) -> Family:
  args, out = specs.tree
  keywords = static_options.thaw(options)
  return Family(functions, keywords, args, out)


def _fixed_gradients(
  function: host_functions.HostFunction | host_functions.Missing,
  fixed: Sequence[object],
  cotangent: object,
) -> object:
  """Returns gradients of the fixed arguments; using the gradients raises.

  A tape requests all gradients of an op, and uses some. Eagerly they are zeros
  here, and using one calls `_constant`, which raises. In a graph they are maps
  of the cotangent that fail unless it is zero.
  """
  if isinstance(function, host_functions.Missing):
    return None
  if tf.executing_eagerly():
    return structures.map_leaves(tf.zeros_like, fixed)
  message = host_functions.no_derivative(function.name)
  return structures.map_leaves(
    lambda x: (
      _broken(message, x, tuple(structures.flatten(cotangent)))
      if is_differentiable(x)
      else None
    ),
    fixed,
  )


def _evaluate_broken(
  message: str, x: tf.Tensor, cotangents: tuple[tf.Tensor, ...]
) -> tf.Tensor:
  """Returns zeros like x if all cotangents are zero; else raises."""
  if tf.executing_eagerly():
    raise NotImplementedError(message)

  def on_host(
    x: host_programs.HostArray, *cotangents: host_programs.HostArray
  ) -> list[onp.ndarray]:
    if any(onp.any(c) for c in cotangents):
      raise NotImplementedError(message)
    return [onp.zeros_like(x)]

  return host_programs.in_graph(
    on_host, [x, *cotangents], host_programs.spec("a derivative", x)
  )


def _transpose_broken(
  message: str,
  args: tuple[tf.Tensor, tuple[tf.Tensor, ...]],
  cotangent: tf.Tensor,
) -> tuple[None, tuple[tf.Tensor, ...]]:
  inputs = args[1]
  return None, tuple(_broken(message, c, (cotangent,)) for c in inputs)


# Forward mode transposes the gradient of `_broken`: the transpose must raise
# too.
_broken = custom_gradient.custom_gradient(
  vjp_fwd=lambda message, *args: (None, args),
  vjp_bwd=_transpose_broken,
  nondiff_argnums=(0,),
)(_evaluate_broken)

# The identity function of x, whose gradient raises.
_constant = custom_gradient.custom_gradient(
  vjp_fwd=lambda message, x: (None, x),
  vjp_bwd=lambda message, x, cotangent: (_broken(message, x, (cotangent,)),),
  nondiff_argnums=(0,),
)(lambda message, x: x)
