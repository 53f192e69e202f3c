"""Registered gradients of users' native ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import threading
from typing import NamedTuple, NoReturn, TypeVar

import tensorflow as tf

from phasic.substrates.tf.internal import derivative_family
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal.native import native_calls
from phasic.substrates.tf.internal.native import native_declarations
from phasic.substrates.tf.internal.native import native_results

_T = TypeVar("_T")


class _Role(NamedTuple):
  """The role of a native function: an op, or one of its derivatives.

  Attributes:
    function: the bound function.
    key: its key; keys of derivatives have a suffix.
    is_adjoint: whether it is a V_k, not a J_k.
    order: k.
  """

  function: native_declarations.NativeFunction
  key: str
  is_adjoint: bool
  order: int


# Roles by the value of the op attribute `bound`. Processes that bind the same
# functions in the same order use the same values, so that a SavedModel finds
# its rules.
_roles: dict[str, _Role] = {}
_keys: dict[int, str] = {}
_registered: set[str] = set()
_lock = threading.Lock()


def register(function: native_declarations.NativeFunction) -> str:
  """Registers the gradients of a bound function; returns its key."""
  with _lock:
    return _register(function)


def _register(function: native_declarations.NativeFunction) -> str:
  if id(function) in _keys:
    return _keys[id(function)]
  name = function.declaration.name
  key, number = name, 1
  while key in _roles:
    number += 1
    key = f"{name}#{number}"
  _keys[id(function)] = key
  _roles[key] = _Role(function, key, False, 0)
  members = [function.declaration]
  for k, member in enumerate(function.forward, start=1):
    _roles[f"{key}/J{k}"] = _Role(function, key, False, k)
    members.append(member)
  for k, member in enumerate(function.adjoint, start=1):
    _roles[f"{key}/V{k}"] = _Role(function, key, True, k)
    members.append(member)
  for member in members:
    op_type = native_calls.op_type(member)
    if op_type not in _registered:
      xla_calls.register_gradient(op_type)(_gradient)
      _registered.add(op_type)
  return key


def _gradient(
  op: xla_calls.Operation, *upstream: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  key = _text(op.get_attr("bound"))
  role = _roles.get(key)
  if role is None:
    raise NotImplementedError(
      f"op {op.type}: {key} is not bound in this process: import the module "
      "that binds it before computing derivatives"
    )
  options = _text(op.get_attr("options"))
  inputs, outputs = list(op.inputs)[1:], list(op.outputs)  # Skip `sizes`.
  # A tape lists the gradients that are not used. A graph operation does not, so
  # all its gradients are computed.
  unused = set(getattr(op, "skip_input_indices", None) or ())
  wanted = [i + 1 not in unused for i in range(len(inputs))]
  return [None, *_cotangents(role, options, inputs, outputs, upstream, wanted)]


def _cotangents(
  role: _Role,
  options: str,
  inputs: Sequence[tf.Tensor],
  outputs: Sequence[tf.Tensor],
  upstream: Sequence[xla_calls.Upstream],
  wanted: Sequence[bool],
) -> list[tf.Tensor | None]:
  """Computes the cotangents of all inputs of a call.

  For complex numbers, TensorFlow's cotangents are the conjugates of cotangents
  in rules and native functions.
  """
  declared = _own_declaration(role)
  cotangents = [
    (tf.zeros_like(x) if ct is None else tf.math.conj(ct))
    if operand.is_inexact
    else None
    for x, ct, operand in zip(outputs, upstream, declared.outputs, strict=True)
  ]
  if role.function.has_rule:
    input_cotangents = _by_rule(role.function, inputs, outputs, cotangents)
  else:
    input_cotangents = _by_native(role, options, inputs, cotangents, wanted)
  return [None if ct is None else tf.math.conj(ct) for ct in input_cotangents]


def _own_declaration(role: _Role) -> native_declarations.Declaration:
  if role.order == 0:
    return role.function.declaration
  family = role.function.adjoint if role.is_adjoint else role.function.forward
  return family[role.order - 1]


def _by_rule(
  function: native_declarations.NativeFunction,
  inputs: Sequence[tf.Tensor],
  outputs: Sequence[tf.Tensor],
  cotangents: Sequence[tf.Tensor | None],
) -> list[tf.Tensor | None]:
  declaration = function.declaration
  if function.vjp is not None:
    gradients = native_results.cotangents(
      declaration,
      function.vjp(tuple(inputs), tuple(outputs), tuple(cotangents)),
      inputs,
    )
  else:
    assert function.jvp is not None
    gradients = _transposed(
      declaration, function.jvp, inputs, outputs, cotangents
    )
  full = native_declarations.spread(declaration.inputs, gradients)
  return [
    None if ct is None else _summed(ct, x)
    for ct, x in zip(full, inputs, strict=True)
  ]


def _transposed(
  declaration: native_declarations.Declaration,
  forward: Callable[..., object],
  inputs: Sequence[tf.Tensor],
  outputs: Sequence[tf.Tensor],
  cotangents: Sequence[tf.Tensor | None],
) -> list[tf.Tensor]:
  """Computes cotangents by transposing the user's forward rule."""
  free = [
    tf.zeros_like(x)
    for _, x in native_declarations.inexact(declaration.inputs, inputs)
  ]
  with tf.GradientTape() as tape:
    tape.watch(free)
    along = native_declarations.spread(declaration.inputs, free)
    moved = forward(tuple(inputs), tuple(outputs), along)
    tangents = native_results.tangents(declaration, moved, outputs)
  gradients = tape.gradient(
    tangents,
    free,
    output_gradients=[tf.math.conj(ct) for ct in cotangents if ct is not None],
    unconnected_gradients=tf.UnconnectedGradients.ZERO,
  )
  return [tf.math.conj(ct) for ct in gradients]


def _by_native(
  role: _Role,
  options: str,
  inputs: Sequence[tf.Tensor],
  cotangents: Sequence[tf.Tensor | None],
  wanted: Sequence[bool],
) -> list[tf.Tensor | None]:
  """Computes cotangents by the op's native derivatives J_k and V_k.

  See `derivative_family`.
  """
  function = role.function
  declared = function.declaration.inputs
  free = [i for i, operand in enumerate(declared) if operand.is_inexact]
  count, k = len(declared), role.order
  primals, rest = list(inputs[:count]), list(inputs[count:])
  num_directions = k - role.is_adjoint
  groups = [
    rest[len(free) * i : len(free) * (i + 1)] for i in range(num_directions)
  ]
  if role.is_adjoint:
    groups.append(rest[len(free) * num_directions :])
  derivative = derivative_family.Member(role.is_adjoint, k, groups)
  incoming = [ct for ct in cotangents if ct is not None]
  call = functools.partial(_call, function, role.key, options, primals)
  results: list[tf.Tensor | None] = [None] * count
  if any(wanted[i] for i in free):
    primal_cotangents = call(derivative.transposed(0, incoming))
    for i, x in zip(free, primal_cotangents, strict=True):
      results[i] = x
  for place, group in enumerate(groups, start=1):
    used = any(wanted[len(results) : len(results) + len(group)])
    part = derivative.transposed(place, incoming)
    results += call(part) if used else [None] * len(group)
  return results


def _call(
  function: native_declarations.NativeFunction,
  key: str,
  options: str,
  primals: Sequence[tf.Tensor],
  member: derivative_family.Member[tf.Tensor],
) -> list[tf.Tensor]:
  """Calls J_k or V_k; raises NotImplementedError if it was not bound."""
  is_adjoint, order, groups = member
  family = function.adjoint if is_adjoint else function.forward
  if order <= len(family):
    operands = [*primals, *(x for group in groups for x in group)]
    member_key = f"{key}/{'V' if is_adjoint else 'J'}{order}"
    return native_calls.call(
      function, member_key, family[order - 1], operands, options
    )
  if not function.forward and not function.adjoint:
    advice = "it was bound without rules: give bind_native jvp or vjp"
  else:
    advice = f"the op was bound with {len(family)} of them"
  mode = "reverse" if is_adjoint else "forward"
  message = function.declaration.error(
    f"a {mode} derivative of order {order} was asked for: {advice}"
  )
  if tf.executing_eagerly():
    raise NotImplementedError(message)
  # A graph may contain this derivative without using it, so the error is raised
  # when the derivative runs.

  def fail(*arrays: object) -> NoReturn:
    raise NotImplementedError(message)

  declared = function.declaration
  if is_adjoint:
    likes = native_declarations.inexact(declared.inputs, primals)
  else:
    results = native_calls.call(function, key, declared, primals, options)
    likes = native_declarations.inexact(declared.outputs, results)
  values = []
  for _, x in likes:
    value = tf.numpy_function(fail, [x], x.dtype, stateful=False)
    value.set_shape(x.shape)
    values.append(value)
  return values


def _summed(x: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
  """Sums x over broadcast batch dimensions to the shape of `like`."""
  full = tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(like))
  x = tf.broadcast_to(x, full)
  axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(like), s1=full)
  result = tf.reshape(tf.reduce_sum(x, axes), tf.shape(like))
  result.set_shape(like.shape)
  return result


def _text(value: str | bytes) -> str:
  return value.decode() if isinstance(value, bytes) else value
