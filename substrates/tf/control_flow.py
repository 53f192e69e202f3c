"""Conditionals and loops over nested tuples of arrays.

Eagerly these are Python loops. In a `tf.function` they are TensorFlow's, so
that the graph does not grow with the number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
import operator
from typing import TypeVar

import tensorflow as tf

from phasic.substrates.tf.internal import static
from phasic.substrates.tf.internal import structures
from phasic.substrates.tf.internal.arrays import Array, ArrayLike, Tree

# Scans of at most this many steps are unrolled in graphs, so that all
# derivatives exist. TensorFlow's while loops have reverse mode of every order,
# but forward mode of first order only: higher orders raise.
_UNROLLED = 64

_T = TypeVar("_T")
_X = TypeVar("_X")
_Function = TypeVar("_Function", bound=Callable[..., object])

# Whether a compiler may merge equal calls of a function. If so, it pays to make
# calls equal that share most of their work.
MERGES_CALLS = True


@tf.autograph.experimental.do_not_convert
def cond(
  pred: ArrayLike,
  true_fn: Callable[..., _T],
  false_fn: Callable[..., _T],
  *operands: object,
) -> _T:
  """Evaluates `true_fn` or `false_fn` on the operands, as `pred` decides."""
  if tf.get_static_value(pred) is not None:
    return true_fn(*operands) if pred else false_fn(*operands)
  return tf.cond(pred, lambda: true_fn(*operands), lambda: false_fn(*operands))


@tf.autograph.experimental.do_not_convert
def while_loop(
  cond_fn: Callable[[_T], ArrayLike], body_fn: Callable[[_T], _T], init: _T
) -> _T:
  """Applies `body_fn` repeatedly, from `init`, while `cond_fn(carry)` holds."""
  if tf.executing_eagerly():
    carry = init
    while cond_fn(carry):
      carry = body_fn(carry)
    return carry
  carry = structures.map_leaves(tf.convert_to_tensor, init)
  leaves = tf.while_loop(
    lambda *leaves: cond_fn(structures.pack(carry, leaves)),
    lambda *leaves: _leaves_like(
      carry, body_fn(structures.pack(carry, leaves))
    ),
    structures.flatten(carry),
  )
  return structures.pack(carry, leaves)


@tf.autograph.experimental.do_not_convert
def scan(
  f: Callable[[_T, _X], tuple[_T, object]],
  init: _T,
  xs: _X,
  length: int | None = None,
) -> tuple[_T, Tree]:
  """Loops over the leading axis of `xs`: `carry, y = f(carry, x)`."""
  xs = structures.map_leaves(tf.convert_to_tensor, xs)
  steps = length if xs is None else structures.flatten(xs)[0].shape[0]
  if steps is None:
    steps = tf.shape(structures.flatten(xs)[0])[0]
  known = isinstance(steps, int)
  if tf.executing_eagerly() or (known and steps <= _UNROLLED):
    carry, outputs = init, []
    for i in range(steps):
      carry, y = f(carry, structures.map_leaves(operator.itemgetter(i), xs))
      outputs.append(y)
    if not outputs:
      return carry, None
    return carry, structures.map_leaves(lambda *xs: tf.stack(xs), *outputs)
  return _graph_scan(
    f, structures.map_leaves(tf.convert_to_tensor, init), xs, steps
  )


def _graph_scan(
  f: Callable[[_T, _X], tuple[_T, object]],
  init: _T,
  xs: _X,
  steps: static.Size,
) -> tuple[_T, Tree]:
  """Runs `scan` as a TensorFlow while loop, for at least one step.

  The outputs are written into plain tensors, as TensorArrays have no forward
  mode in a graph. The first step runs before the loop, and gives the shapes of
  the outputs.
  """
  carry, output = f(init, structures.map_leaves(lambda x: x[0], xs))
  filled = [
    tf.tensor_scatter_nd_update(_blank(y, steps), [[0]], y[None])
    for y in structures.flatten(
      structures.map_leaves(tf.convert_to_tensor, output)
    )
  ]
  size = len(structures.flatten(init))

  def step(i: Array, *state: Array) -> tuple[Array, ...]:
    carry, y = f(
      structures.pack(init, state[:size]),
      structures.map_leaves(lambda x: x[i], xs),
    )
    written = [
      tf.tensor_scatter_nd_update(so_far, [[i]], leaf[None])
      for so_far, leaf in zip(state[size:], structures.flatten(y), strict=True)
    ]
    return (i + 1, *_leaves_like(init, carry), *written)

  _, *state = tf.while_loop(
    lambda i, *_: i < steps,
    step,
    (tf.constant(1), *_leaves_like(init, carry), *filled),
    maximum_iterations=steps,
  )
  return structures.pack(init, state[:size]), structures.pack(
    output, state[size:]
  )


def _blank(y: Array, steps: static.Size) -> Array:
  """Returns zeros for the outputs of `steps` steps, each like `y`."""
  return tf.zeros(tf.concat([[steps], tf.shape(y)], 0), y.dtype)


def compiled(f: _Function, static_argnums: tuple[int, ...] = ()) -> _Function:
  """Compiles `f` in JAX; NumPy and TensorFlow run it eagerly.

  JAX compiles `f` once for each shape and each value of the static arguments,
  so that its loops are not compiled again at each call.

  Args:
    f: a function of arrays, defined at the top of a module.
    static_argnums: positions of arguments that are hashable host values.
  """
  return f


def _leaves_like(like: object, tree: object) -> list[Array]:
  """Gives the leaves of a tree the static shapes of another tree's leaves."""
  leaves = []
  for x, y in zip(
    structures.flatten(tree), structures.flatten(like), strict=True
  ):
    x = tf.convert_to_tensor(x)
    # Unlike tf.ensure_shape, set_shape supports forward mode in graphs.
    x.set_shape(y.shape)
    leaves.append(x)
  return leaves
