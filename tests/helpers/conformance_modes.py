"""Functions of parameters and values, run eagerly, compiled and vectorized."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as onp

from phasic.internal import static
from phasic.math.calls import gradients
from tests.helpers import conformance

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf

Arrays = Mapping[str, Any]
Function = Callable[[dict[str, Any], Any], dict[str, Any]]


def evaluate(
  function: Function,
  mode: str,
  rows: Sequence[Arrays],
  values: Any,
  dtype: str = "float64",
) -> dict[str, onp.ndarray]:
  """Evaluates a function in a mode; returns results by name.

  Compiled functions run twice, the second time with other numbers, and must
  be traced once. In TensorFlow batch sizes are unknown.

  Args:
    function: of arrays by name and values, gives arrays of the values' shape,
      or of the batch's, by name.
    mode: one of `conformance.MODES`.
    rows: n sets of arrays, which are equal but in the mode `VECTORIZED`.
    values: n numbers.
    dtype: of all arrays.

  Returns:
    Host arrays with a leading size n.
  """
  values = onp.asarray(values, dtype)
  each = [conformance.arrays(row, dtype) for row in rows]
  if mode == conformance.EAGER:
    found = function(each[0], values)
  elif mode == conformance.COMPILED:
    found = _compiled(function, each[0], values)
  else:
    batch = {k: onp.stack([row[k] for row in each]) for k in each[0]}
    found = _vectorized(function, each, batch, values)
  host = {k: onp.asarray(static.concrete(x)) for k, x in found.items()}
  return {k: _full(x, len(values)) for k, x in host.items()}


def _full(x: onp.ndarray, n: int) -> onp.ndarray:
  return x if x.ndim else onp.broadcast_to(x, (n,))


def _compiled(function: Function, arrays: Arrays, values: onp.ndarray) -> Any:
  traces = []

  def traced(parameters: dict[str, Any], value: Any) -> dict[str, Any]:
    traces.append(value)
    return function(parameters, value)

  if MODE == "jax":
    compiled = jax.jit(traced)
    found = compiled(arrays, values)
    compiled({k: x * 0.984375 for k, x in arrays.items()}, values + 1)
  else:
    dtype = tf.as_dtype(values.dtype)
    spec = {
      k: tf.TensorSpec([None, *x.shape], dtype) for k, x in arrays.items()
    }
    compiled = tf.function(
      traced, input_signature=[spec, tf.TensorSpec([None, 1], dtype)]
    )
    batch = {k: tf.constant(x[None]) for k, x in arrays.items()}
    found = compiled(batch, tf.constant(values[:, None]))
    found = {k: _first(x) for k, x in found.items()}
    twice = {k: tf.concat([x, 0.984375 * x], 0) for k, x in batch.items()}
    compiled(twice, tf.constant(values[:1, None]))
  if len(traces) != 1:
    raise AssertionError(f"new numbers are traced anew, {len(traces)} times")
  return found


def _first(x: Any) -> Any:
  """Takes the single entry of the batch, the last axis."""
  return x[..., 0]


def _vectorized(
  function: Function,
  each: Sequence[Arrays],
  batch: Arrays,
  values: onp.ndarray,
) -> Any:
  if MODE == "jax":
    found = jax.vmap(function)(batch, values)
  elif MODE == "tf":
    # The kernel's op has no batching rule, so it runs in a loop.
    found = tf.vectorized_map(
      lambda row: function(*row),
      (
        {k: tf.constant(x) for k, x in batch.items()},
        tf.constant(values),
      ),
      warn=False,
    )
  else:
    # A batch must give the same results as a loop.
    found = function(dict(batch), values)
    for i, (row, value) in enumerate(zip(each, values, strict=True)):
      for name, x in function(dict(row), value).items():
        onp.testing.assert_allclose(
          found[name][i], x, rtol=1e-13, atol=1e-300, err_msg=name
        )
  return found


def draws(
  draw: Callable[[Arrays], Any], mode: str, rows: Sequence[Arrays]
) -> onp.ndarray:
  """Draws samples (n, count) by a function for n sets of arrays."""
  each = [conformance.arrays(row) for row in rows]
  batch = {k: onp.stack([row[k] for row in each]) for k in each[0]}
  if mode == conformance.EAGER:
    return onp.asarray(static.concrete(draw(each[0])))[None]
  if MODE == "jax":
    vectorized = jax.vmap(draw)
    found = (
      jax.jit(vectorized) if mode == conformance.COMPILED else vectorized
    )(batch)
  elif MODE == "tf":
    spec = {
      k: tf.TensorSpec([None, *x.shape[1:]], tf.float64)
      for k, x in batch.items()
    }
    found = tf.transpose(tf.function(draw, input_signature=[spec])(batch))
  else:
    found = draw(batch).T
  return onp.asarray(static.concrete(found))


def jacobians(
  function: Callable[[dict[str, Any]], Any], mode: str, arrays: Arrays
) -> tuple[dict[str, onp.ndarray], dict[str, onp.ndarray]]:
  """Computes derivatives of m numbers in arrays, backward and forward.

  Args:
    function: of arrays by name, gives an array (m,).
    mode: one of `conformance.MODES`. Vectorized it is over two equal sets in
      JAX, in TensorFlow over one for each direction.
    arrays: where.

  Returns:
    Host arrays (m, ...) by name, twice.
  """
  if MODE == "jax":
    found = _jax_jacobians(function, mode, arrays)
  elif MODE == "tf":
    found = _tf_jacobians(function, mode, arrays)
  else:
    found = _jacobians(function, arrays)
  backward, forward = (
    {k: onp.asarray(static.concrete(x)) for k, x in part.items()}
    for part in found
  )
  return backward, forward


def _jacobians(function: Any, arrays: Arrays) -> Any:
  """Computes rows and columns one by one, as derivatives have no `vmap`."""
  value, pull = gradients.vjp(function, dict(arrays))
  rows = [pull(row)[0] for row in onp.eye(len(value))]
  backward = {k: onp.stack([row[k] for row in rows]) for k in arrays}
  forward = {}
  zeros = {k: onp.zeros_like(x) for k, x in arrays.items()}
  for name, x in arrays.items():
    columns = [
      gradients.jvp(
        function,
        (dict(arrays),),
        ({**zeros, name: onp.reshape(column, onp.shape(x))},),
      )[1]
      for column in onp.eye(onp.size(x))
    ]
    forward[name] = onp.reshape(
      onp.stack(columns, axis=-1), (len(value), *onp.shape(x))
    )
  return backward, forward


if MODE == "jax":

  def _jax_jacobians(function: Any, mode: str, arrays: Arrays) -> Any:
    def both(arrays: Arrays) -> Any:
      return jax.jacrev(function)(arrays), jax.jacfwd(function)(arrays)

    if mode == conformance.COMPILED:
      both = jax.jit(both)
    elif mode == conformance.VECTORIZED:
      pairs = {k: onp.stack([x, x]) for k, x in arrays.items()}
      return jax.tree.map(lambda x: x[0], jax.vmap(both)(pairs))
    return both(dict(arrays))


if MODE == "tf":

  def _tf_jacobians(function: Any, mode: str, arrays: Arrays) -> Any:
    def pull(arrays: Arrays, cotangent: Any) -> Any:
      with tf.GradientTape() as tape:
        tape.watch(arrays)
        found = function(dict(arrays))
      zero = tf.UnconnectedGradients.ZERO
      return tape.gradient(found, arrays, cotangent, zero)

    def push(arrays: Arrays, tangents: Arrays) -> Any:
      names = list(arrays)
      with tf.autodiff.ForwardAccumulator(
        [arrays[k] for k in names], [tangents[k] for k in names]
      ) as accumulator:
        found = function(dict(arrays))
      return accumulator.jvp(found, tf.UnconnectedGradients.ZERO)

    constants = {k: tf.constant(x) for k, x in arrays.items()}
    size = int(function(dict(constants)).shape[0])
    rows = _each(pull, mode, constants, tf.eye(size, dtype=tf.float64))
    backward = {k: tf.stack([row[k] for row in rows]) for k in constants}
    forward = {}
    zeros = {k: onp.zeros_like(x) for k, x in arrays.items()}
    tangents, sizes = [], []
    for name, x in arrays.items():
      sizes.append(x.size)
      tangents += [
        {**zeros, name: onp.reshape(column, x.shape)}
        for column in onp.eye(x.size)
      ]
    stacked = {
      k: tf.constant(onp.stack([tangent[k] for tangent in tangents]))
      for k in arrays
    }
    columns = tf.stack(_each(push, mode, constants, stacked), axis=-1)
    parts = tf.split(columns, sizes, axis=-1)
    for (name, x), part in zip(arrays.items(), parts):
      forward[name] = tf.reshape(part, [size, *x.shape])
    return backward, forward

  def _each(rule: Any, mode: str, arrays: Arrays, directions: Any) -> list[Any]:
    """Applies a rule to stacked directions, at one point."""
    count = len(tf.nest.flatten(directions)[0])

    def parts(stacked: Any) -> list[Any]:
      rows = [tf.unstack(x, count) for x in tf.nest.flatten(stacked)]
      return [tf.nest.pack_sequence_as(stacked, row) for row in zip(*rows)]

    if mode == conformance.VECTORIZED:
      places = {k: tf.stack([x] * count) for k, x in arrays.items()}
      return parts(
        tf.vectorized_map(
          lambda pair: rule(*pair), (places, directions), warn=False
        )
      )
    if mode == conformance.COMPILED:
      rule = tf.function(rule)
    return [rule(arrays, direction) for direction in parts(directions)]
