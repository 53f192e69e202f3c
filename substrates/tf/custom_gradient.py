"""Functions with custom derivative rules.

A rule belongs to the op PhasicRule, which returns the function's values and has
a registered gradient that looks up the rule. TensorFlow derives forward mode by
transposing registered gradients, so reverse rules serve both modes. `jvp_fn` is
used, and transposed, only if there is no reverse rule.

`tf.custom_gradient` is not a substitute: in a `tf.function` ForwardAccumulator
ignores it and silently differentiates the function's operations. It is used
only if the native library is missing; then only tapes are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import itertools
from typing import NamedTuple, TypeAlias, TypeVar
import weakref

import numpy as onp
import tensorflow as tf

from phasic.substrates.tf.internal import op_library
from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal import xla_calls
from phasic.substrates.tf.internal.arrays import ArrayLike, Tree

_Function = TypeVar("_Function", bound=Callable[..., object])
# A map from arguments and cotangents to gradients; None for no gradient.
_Pullback: TypeAlias = Callable[
  [Sequence[tf.Tensor], Sequence[tf.Tensor]], list[tf.Tensor | None]
]
# Static shapes of arrays, with None for unknown ranks and sizes.
_Shapes: TypeAlias = tuple[tuple[int | None, ...] | None, ...]


class Rules(NamedTuple):
  """The derivative rules of a function; None for a rule that is missing."""

  vjp_fwd: Callable[..., tuple[object, object]] | None
  vjp_bwd: Callable[..., Tree] | None
  jvp_fn: Callable[..., tuple[object, object]] | None
  nondiff_argnums: tuple[int, ...]


class _RuleName(str):
  """A rule's name, with a reference that keeps the rule's pullback alive.

  The pullback maps arguments and cotangents to gradients.

  A tape keeps the attributes of eager ops as objects, so it keeps the pullback
  alive. The lifetime of a graph is not known, so the rules of graphs are never
  deleted.
  """

  pullback: _Pullback


_pullbacks: weakref.WeakValueDictionary[str, _Pullback] = (
  weakref.WeakValueDictionary()
)
_graph_pullbacks: dict[str, _Pullback] = {}
_counter = itertools.count()


def custom_gradient(
  vjp_fwd: Callable[..., tuple[object, object]] | None = None,
  vjp_bwd: Callable[..., object] | None = None,
  jvp_fn: Callable[..., tuple[object, object]] | None = None,
  nondiff_argnums: Sequence[int] = (),
  eager: bool = False,
) -> Callable[[_Function], _Function]:
  """Returns a decorator that gives a function custom derivative rules.

  Args:
    vjp_fwd: `vjp_fwd(*args) -> (out, residuals)`.
    vjp_bwd: `vjp_bwd(*nondiff_args, residuals, cotangent) -> tuple`, one
      entry for each differentiable argument, in their order.
    jvp_fn: `jvp_fn(*nondiff_args, primals, tangents) -> (out, tangent_out)`,
      where primals and tangents are tuples over the differentiable arguments.
    nondiff_argnums: positions of the arguments that are not differentiated:
      arrays, or hashable Python values.
    eager: whether eager calls run the function uncompiled, for functions that
      call the host; else a backend may compile it.

  Derivatives whose rule is missing raise NotImplementedError with the names of
  the function and the rule.

  Arguments, results and residuals are arrays or nested structures of arrays.
  Everything that the function depends on must be an argument. The rules are
  array code and are differentiated for higher orders; `vjp_fwd` runs when a
  derivative is computed, and may call the decorated function.

  Example:

    >>> import tensorflow as tf
    >>> from phasic.substrates.tf.internal import autodiff, custom_gradient
    >>> @custom_gradient.custom_gradient(
    ...   vjp_fwd=lambda x: (x * x, x), vjp_bwd=lambda x, ct: (2 * x * ct,)
    ... )
    ... def square(x):
    ...   return x * x
    >>> _, pullback = autodiff.reverse(lambda x: (square(x),), [tf.constant(3.0)])
    >>> float(pullback([tf.constant(1.0)])[0])
    6.0
  """
  if (vjp_fwd is None) != (vjp_bwd is None):
    raise ValueError("vjp_fwd and vjp_bwd must be given together")
  del eager  # Eager calls of TensorFlow are never compiled.
  rules = Rules(vjp_fwd, vjp_bwd, jvp_fn, tuple(nondiff_argnums))

  def decorate(f: _Function) -> _Function:
    names: dict[tuple[object, ...], _RuleName] = {}

    def rule_name(
      call: _Call, out: object, shapes: tuple[_Shapes, _Shapes]
    ) -> _RuleName:
      """Returns the name of the rule for given static arguments and shapes."""
      key = (call.statics, repr((call.skeletons, out)), shapes)
      if key not in names:
        # A counter and an id make the name unique: in another process it must
        # not be the name of a different rule.
        text = f"{f.__module__}.{f.__qualname__}.{next(_counter)}.{id(f)}"
        pullback = functools.partial(_pullback, f, rules, call, out)
        name = _RuleName(text)
        name.pullback = functools.partial(_with_shapes, pullback, *shapes)
        _pullbacks[text] = name.pullback
        names[key] = name
      if not tf.executing_eagerly():
        _graph_pullbacks[str(names[key])] = names[key].pullback
      return names[key]

    @functools.wraps(f)
    @tf.autograph.experimental.do_not_convert
    def wrapped(*args: object) -> object:
      statics = tuple(
        (i, args[i]) for i in rules.nondiff_argnums if not _is_array(args[i])
      )
      fixed = [i for i, _ in statics]
      given = [
        structures.map_leaves(_tensor, x)
        for i, x in enumerate(args)
        if i not in fixed
      ]
      arrays = structures.flatten(given)
      call = _Call(statics, [structures.skeleton(x) for x in given])
      if op_library.load_error():
        return _without_library(f, rules, call, arrays)
      # Stop gradients inside: only the rule may define the derivative.
      out = f(*call.arguments([tf.stop_gradient(x) for x in arrays]))
      values = [tf.convert_to_tensor(x) for x in structures.flatten(out)]
      if not arrays or not values:
        return out  # There is nothing to differentiate.
      shapes = (_static_shapes(arrays), _static_shapes(values))
      name = rule_name(call, structures.skeleton(out), shapes)
      if xla_calls.is_compiling():
        results = xla_calls.identity(
          "PhasicRule", {"rule": name}, [*values, *arrays], len(values)
        )
      else:
        results = op_library.native_ops().phasic_rule(
          values=values, arguments=arrays, rule=name
        )
      for result, value in zip(results, values, strict=True):
        result.set_shape(value.shape)
      return structures.pack(out, results)

    wrapped.rules = rules  # type: ignore[attr-defined]
    # `functools.wraps` hides that `wrapped` has the type of `f`.
    return wrapped  # type: ignore[return-value]

  return decorate


class _Call(NamedTuple):
  """The static arguments of a call, and the structures of its arrays.

  Attributes:
    statics: positions and values of arguments that are not arrays.
    skeletons: the structures of the arguments that are arrays.
  """

  statics: tuple[tuple[int, object], ...]
  skeletons: list[object]

  def arguments(self, arrays: Sequence[tf.Tensor]) -> list[object]:
    """Returns all arguments of the call in order, given its arrays."""
    args = structures.pack(self.skeletons, arrays)
    for position, value in sorted(self.statics, key=lambda item: item[0]):
      args.insert(position, value)
    return args


@xla_calls.register_gradient("PhasicRule")
def _rule_gradient(
  op: xla_calls.Operation, *cotangents: xla_calls.Upstream
) -> list[tf.Tensor | None]:
  name = op.get_attr("rule")
  name = name.decode() if isinstance(name, bytes) else name
  pullback = _pullbacks.get(str(name))
  if pullback is None:
    raise NotImplementedError(
      f"the derivative rule {name} is not known in this process: a SavedModel "
      "does not contain derivative rules that are array code"
    )
  count = len(op.outputs)
  full = xla_calls.cotangents(op, cotangents)
  gradients = pullback(list(op.inputs)[count:], full)
  return [None] * count + list(gradients)


def _static_shapes(arrays: Sequence[tf.Tensor]) -> _Shapes:
  """Returns static shapes as tuples; None for an unknown rank."""
  return tuple(
    None if x.shape.rank is None else tuple(x.shape.as_list()) for x in arrays
  )


def _with_shapes(
  pullback: _Pullback,
  shapes: _Shapes,
  cotangent_shapes: _Shapes,
  arrays: Sequence[tf.Tensor],
  cotangents: Sequence[tf.Tensor],
) -> list[tf.Tensor | None]:
  """Evaluates a pullback after restoring the static shapes of the call.

  After calls with many shapes, TensorFlow's forward mode traces gradients of
  ops without static shapes.
  """
  for x, shape in zip(
    [*arrays, *cotangents], [*shapes, *cotangent_shapes], strict=True
  ):
    if shape is not None:
      x.set_shape(shape)
  return pullback(arrays, cotangents)


def _pullback(
  f: Callable[..., object],
  rules: Rules,
  call: _Call,
  out: object,
  arrays: Sequence[tf.Tensor],
  cotangents: Sequence[tf.Tensor],
) -> list[tf.Tensor | None]:
  """Computes gradients of all arrays; None if an array has no derivative."""
  args = call.arguments(arrays)
  fixed = [args[i] for i in rules.nondiff_argnums]
  free = [i for i in range(len(args)) if i not in rules.nondiff_argnums]
  if rules.vjp_fwd is not None and rules.vjp_bwd is not None:
    _, residuals = rules.vjp_fwd(*args)
    cotangent = structures.pack(out, list(cotangents))
    gradients = rules.vjp_bwd(*fixed, residuals, cotangent)
  elif rules.jvp_fn is not None:
    primals = tuple(args[i] for i in free)
    gradients = _transpose(rules.jvp_fn, fixed, primals, out, cotangents)
  else:
    name = getattr(f, "__name__", repr(f))
    raise NotImplementedError(
      f"{name} has no derivative rule: give vjp_fwd and vjp_bwd, or jvp_fn"
    )
  by_position = dict(zip(free, gradients, strict=True))
  statics = [i for i, _ in call.statics]
  positions = [i for i in range(len(args)) if i not in statics]
  return [
    gradient
    for i, structure in zip(positions, call.skeletons, strict=True)
    for gradient in structures.flatten_up_to(structure, by_position.get(i))
  ]


def _without_library(
  f: Callable[..., object],
  rules: Rules,
  call: _Call,
  arrays: Sequence[tf.Tensor],
) -> Tree:
  """Applies the rules by `tf.custom_gradient`, without the native library."""
  structure = []

  @tf.custom_gradient
  def ruled(
    *values: tf.Tensor,
  ) -> tuple[list[tf.Tensor], Callable[..., list[tf.Tensor | None]]]:
    out = f(*call.arguments(values))
    structure.append(structures.skeleton(out))

    def pullback(*cotangents: tf.Tensor) -> list[tf.Tensor | None]:
      return _pullback(f, rules, call, structure[-1], values, cotangents)

    return structures.flatten(out), pullback

  results = ruled(*arrays)
  return structures.pack(structure[-1], results)


def _transpose(
  jvp_fn: Callable[..., tuple[object, object]],
  fixed: Sequence[object],
  primals: tuple[object, ...],
  out: object,
  cotangents: Sequence[tf.Tensor],
) -> tuple[object, ...]:
  """Computes cotangents by transposing a forward rule."""
  tangents = structures.map_leaves(tf.zeros_like, primals)
  watched = [x for x in structures.flatten(tangents) if _is_floating(x)]
  with tf.GradientTape() as tape:
    tape.watch(watched)
    _, tangent_out = jvp_fn(*fixed, primals, tangents)
  changes = structures.flatten_up_to(out, tangent_out)
  pairs = [
    (change, cotangent)
    for change, cotangent in zip(changes, cotangents, strict=True)
    if change is not None
  ]
  gradients = iter(
    tape.gradient(
      [change for change, _ in pairs],
      watched,
      output_gradients=[cotangent for _, cotangent in pairs],
      unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
  )
  return structures.map_leaves(
    lambda x: next(gradients) if _is_floating(x) else None, tangents
  )


def _is_floating(x: tf.Tensor) -> bool:
  return x.dtype.is_floating or x.dtype.is_complex


def _tensor(x: ArrayLike) -> tf.Tensor:
  """Converts to a tensor; Python numbers become float64, as in NumPy."""
  if hasattr(x, "dtype"):
    return tf.convert_to_tensor(x)
  return tf.convert_to_tensor(x, tf.float64)


def _is_array(x: object) -> bool:
  if isinstance(x, (str, int, float)):
    return False  # `tf.is_tensor` is slow for these.
  return isinstance(x, (tf.Variable, onp.ndarray)) or tf.is_tensor(x)
