"""Quantiles and random numbers by native calls, under JAX's transformations."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import math as pm
from phasic.substrates.jax.internal import random

jax.config.update("jax_enable_x64", True)

_INITIAL = jnp.asarray([0.7, 0.3])
_SOURCES = jnp.asarray([0, 0, 1], jnp.int32)
_TARGETS = jnp.asarray([1, 2, 2], jnp.int32)
_RATES = jnp.asarray([1.0, 0.5, 2.0])
_CONSTANTS = jnp.asarray([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.1, 0.2, 0.3]])
_COEFFICIENTS = jnp.stack([jnp.eye(3), 2.0 * jnp.eye(3)])
_PROBABILITIES = jnp.asarray([0.2, 0.7])


def _quantile(edges):
  return pm.phase_type.quantile(_PROBABILITIES, _INITIAL, edges)


# Functions of one array of the edges, and arrays to map them over.
_OF_EDGES = {
  "constants": (
    lambda x: _quantile(pm.EdgeRates(_SOURCES, _TARGETS, _RATES, constants=x)),
    _CONSTANTS,
  ),
  "coefficients": (
    lambda x: _quantile(pm.EdgeRates(_SOURCES, _TARGETS, _RATES, x)),
    _COEFFICIENTS,
  ),
  "targets": (
    lambda x: _quantile(pm.EdgeRates(_SOURCES, x, _RATES)),
    jnp.asarray([[1, 2, 2], [1, 1, 2]], jnp.int32),
  ),
  "parameters": (
    lambda x: _quantile(pm.EdgeRates(_SOURCES, _TARGETS, x)),
    _CONSTANTS + 0.5,
  ),
}


class QuantilesTest(parameterized.TestCase):
  @parameterized.parameters(*_OF_EDGES)
  def test_vmap_over_edges(self, name):
    function, stacked = _OF_EDGES[name]
    found = jax.jit(jax.vmap(function))(stacked)
    for one, x in zip(found, stacked, strict=True):
      onp.testing.assert_array_equal(one, function(x))

  @parameterized.parameters(*_OF_EDGES)
  def test_other_platforms_take_the_portable_code(self, name):
    function, stacked = _OF_EDGES[name]
    traced = jax.jit(jax.vmap(function)).trace(stacked)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    self.assertNotIn("phasic_phase_type_quantiles", text)

  def test_vmap_over_each_operand(self):
    """Tests that maps over one operand share the others."""
    matrix = jnp.asarray([[-3.0, 1.0], [0.5, -2.0]])
    exits = jnp.asarray([2.0, 1.5])
    atom = jnp.asarray(0.1)
    initial = 0.9 * _INITIAL
    operands = (_PROBABILITIES, initial, matrix, exits, atom)
    for i, x in enumerate(operands):
      stacked = jnp.stack([x, 0.5 * x])
      axes = tuple(0 if i == j else None for j in range(len(operands)))
      arguments = [stacked if i == j else y for j, y in enumerate(operands)]
      if i == 1:  # The masses sum to one again.
        axes = (*axes[:-1], 0)
        arguments[-1] = jnp.asarray([0.1, 0.55])
      if i == 4:
        axes = (None, 0, None, None, 0)
        arguments[1] = jnp.stack([initial, initial / 0.9 * 0.95])
      found = jax.jit(jax.vmap(pm.phase_type.quantile, axes))(*arguments)
      for k in range(2):
        own = [
          y if axis is None else y[k]
          for y, axis in zip(arguments, axes, strict=True)
        ]
        expected = pm.phase_type.quantile(*own)
        onp.testing.assert_array_equal(found[k], expected, err_msg=str(i))


class RandomTest(parameterized.TestCase):
  @parameterized.parameters("float32", "float64")
  def test_exponential_is_that_of_jax(self, dtype):
    """Tests the native generator, and seeds that are folded when they run."""
    key = jax.random.key(7)
    epsilon = float(onp.finfo(dtype).eps)
    for data in (None, 0, 3, 2**40 + 1):
      own, theirs = random.sanitize_seed(key), key
      if data is not None:
        own = random.fold_in(own, data)
        folded = onp.uint32((data % 2**32) ^ 0x666F6C64)
        theirs = jax.random.fold_in(key, folded)
      found = random.exponential(own, (3, 40_000), dtype)
      # The logarithm of JAX has errors of up to a hundred ulps.
      uniform = jax.random.uniform(theirs, (3, 40_000), dtype)
      expected = -onp.log1p(-onp.asarray(uniform))
      onp.testing.assert_allclose(found, expected, rtol=4 * epsilon)

  def test_mapped_keys(self):
    keys = jax.random.split(jax.random.key(1), 5)

    def draw(key):
      return random.exponential(
        random.sanitize_seed(key, "salt"), (4,), "float64"
      )

    found = jax.jit(jax.vmap(draw))(keys)
    for one, key in zip(found, keys, strict=True):
      onp.testing.assert_array_equal(one, draw(key))

  def test_other_generators(self):
    key = jax.random.key(3, impl="rbg")
    found = random.exponential(random.sanitize_seed(key), (7,), "float64")
    expected = jax.random.exponential(key, (7,), "float64")
    onp.testing.assert_array_equal(found, expected)

  def test_other_platforms(self):
    traced = jax.jit(
      lambda key: random.exponential(random.fold_in(key, 1), (7,), "float64")
    ).trace(jax.random.key(3))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    self.assertNotIn("phasic_exponential", text)


if __name__ == "__main__":
  absltest.main()
