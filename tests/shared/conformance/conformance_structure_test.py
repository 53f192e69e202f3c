"""Conformance: shapes, slices, copies, checks, and distributions as arguments."""

import copy

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from tests.helpers import conformance
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf


class StructureTest(test_case.TestCase):
  """Tests shapes, slices, copies and structure of distributions."""

  @parameterized.named_parameters(*conformance.rows("structure"))
  @test_case.of_bad_values
  def test_structure(self, family, mode):
    case = conformance.CASES[family]
    if mode == conformance.EAGER:
      self._check_facts(case)
      self._check_batches(case)
      self._check_copies(case)
      self._check_values(case)
    elif mode == conformance.COMPILED:
      self._check_argument(case)
    else:
      self._check_entries(family, case)

  def _check_facts(self, case):
    dist = case.make()
    family = type(dist).__name__
    self.assertEqual((dist.batch_shape, dist.event_shape), ((), ()))
    self.assertEqual(self.host(dist.batch_shape_tensor()).tolist(), [])
    self.assertEqual(self.host(dist.event_shape_tensor()).tolist(), [])
    self.assertEqual((dist.dtype, dist.name), ("float64", family))
    self.assertStartsWith(repr(dist), f"<{family} '{family}' batch_shape=()")
    for key in dist.parameter_properties():
      if key != "params" and dist.parameters[key] is not None:
        shown, stored = getattr(dist, key), dist.parameters[key]
        # Of edges the arrays.
        own = [getattr(x, "parameters", x) for x in (shown, stored)]
        self.assertIs(*own)
    with self.assertRaisesRegex(TypeError, "not iterable"):
      iter(dist)

  def _check_batches(self, case):
    values = onp.asarray(case.values[:3])
    alone = self.host(case.make().log_prob(values))
    dist = case.batched((2, 1))
    self.assertEqual(dist.batch_shape, (2, 1))
    self.assertEqual(self.host(dist.batch_shape_tensor()).tolist(), [2, 1])
    expected = onp.broadcast_to(alone, (2, 3))
    self.assert_close(dist.log_prob(values), expected, 1e-13)
    part = dist[1]
    self.assertEqual(part.batch_shape, (1,))
    self.assert_close(part.log_prob(values), alone, 1e-13)
    self.assertEqual(dist[None, ..., 0].batch_shape, (1, 2))
    self.assertEqual(self.host(dist.sample(5, seed=1)).shape, (5, 2, 1))
    with self.assertRaises(IndexError):
      _ = dist[2]
    with self.assertRaisesRegex(ValueError, "value has shape"):
      case.batched((2,)).log_prob(values)

  def _check_copies(self, case):
    dist = case.make()
    value = case.values[1]
    found = self.host(dist.log_prob(value))
    other = dist.copy(name="other")
    self.assertEqual(other.name, "other")
    again = type(dist)._unflatten(dist._parts())
    for x in (other, again, copy.copy(dist), copy.deepcopy(dist)):
      self.assertIs(type(x), type(dist))
      self.assert_close(x.log_prob(value), found, 0.0)

  def _check_values(self, case):
    dist = case.make(validate_args=True)
    self.assertTrue(dist.validate_args)
    found = self.host(case.make().log_prob(case.values[0]))
    self.assert_close(dist.log_prob(case.values[0]), found, 1e-14)
    for method in ("log_prob", "cdf", "log_survival_function"):
      with self.assertRaisesRegex(ValueError, r"value = -1\.0"):
        getattr(dist, method)(-1.0)

  def _check_argument(self, case):
    """Checks that compiled functions take and return distributions."""
    dist = case.make()
    value = onp.asarray(case.values[1])
    if MODE == "jax":
      leaves, structure = jax.tree.flatten(dist)
      again = jax.tree.unflatten(structure, leaves)
      traces = []

      def log_prob(dist, value):
        traces.append(value)
        return dist, dist.log_prob(value)

      compiled = jax.jit(log_prob)
      back, found = compiled(again, value)
      other = [x * 0.984375 if x.dtype.kind == "f" else x for x in leaves]
      compiled(jax.tree.unflatten(structure, other), value + 1)
      self.assertLen(traces, 1)
    else:
      found = tf.function(dist.log_prob)(tf.constant(value))
      back = dist
    self.assertIs(type(back), type(dist))
    self.assertEqual(repr(back), repr(dist))
    self.assert_close(found, self.host(dist.log_prob(value)), 1e-13, 1e-15)
    self.assert_close(back.log_prob(value), self.host(dist.log_prob(value)))

  def _check_entries(self, family, case):
    """Checks that a batch agrees with its entries."""
    each = [conformance.arrays(conformance.varied(family, i)) for i in range(3)]
    batch = case.build(
      **{k: onp.stack([arrays[k] for arrays in each]) for k in each[0]}
    )
    value = onp.asarray(case.values[1])
    alone = [self.host(case.build(**x).log_prob(value)) for x in each]
    expected = onp.stack(alone)
    self.assert_close(batch.log_prob(value), expected, 1e-13)
    parts = [self.host(batch[i].log_prob(value)) for i in range(3)]
    self.assert_close(onp.stack(parts), expected, 1e-13)
    backwards = batch[::-1].log_prob(value)
    self.assert_close(backwards, expected[::-1], 1e-13)
    if MODE == "jax":
      # Arrays of a graph have no batch.
      axes = jax.tree.map(
        lambda x, one: None if x.shape == one.shape else 0,
        batch,
        case.build(**each[0]),
      )
      found = jax.vmap(lambda dist: dist.log_prob(value), in_axes=(axes,))(
        batch
      )
      self.assert_close(found, expected, 1e-13)


if __name__ == "__main__":
  absltest.main()
