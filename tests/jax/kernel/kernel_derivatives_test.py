"""The native function as a JAX primitive: counts, orders, types, shapes."""

import re

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import math
from phasic.substrates.jax.internal import kernel_ops
from phasic.substrates.jax.math.model import function_kinds
from phasic.substrates.jax.math.portable import portable

jax.config.update("jax_enable_x64", True)

_TIMES = onp.array([0.1, 0.5, 1.0, 2.0])
_PROBS = onp.array([0.5, 0.3, 0.2])
_CYCLE = onp.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.7, 0.0, -1.0]])


def _log_density(theta):
  return math.phase_type.log_prob(_TIMES, _PROBS, theta[:, None] * _CYCLE)


def _loss(theta):
  return jnp.sum(jnp.sin(_log_density(theta)))


def _native_calls(f, *args):
  """J_k and V_k in the compiled program, as ["J0", "V1"]."""
  text = jax.jit(f).lower(*args).compile().as_text()
  found = re.findall(
    r'custom_call_target="phasic_phase_type_(\w+)".*?order = (\d)', text
  )
  letters = {"forward": "J", "adjoint": "V"}
  return sorted(letters[name] + order for name, order in found)


def _masks(f, *args):
  """The `wanted` of every V_k in the compiled program."""
  text = jax.jit(f).lower(*args).compile().as_text()
  found = re.findall(r'_phase_type_adjoint".*?wanted = (\d+)', text)
  return sorted(map(int, found))


_EXITS = onp.array([0.25, 0.5, 0.75])


def _total(probs, rates, exits, atom, times):
  values = math.phase_type.log_prob(times, probs, rates, exits, atom)
  return jnp.sum(jnp.sin(values))


class WantedTest(parameterized.TestCase):
  """Gradients that nobody asked for are not computed."""

  operands = (_PROBS * 0.5, onp.abs(_CYCLE), _EXITS, onp.array(0.5), _TIMES)

  @parameterized.parameters(
    ((0,), [1]), ((1,), [2]), ((2, 3), [12]), ((4,), [16]), ((1, 4), [18])
  )
  def test_grad(self, argnums, masks):
    gradient = jax.grad(_total, argnums)
    self.assertEqual(_masks(gradient, *self.operands), masks)
    full = jax.grad(_total, range(5))(*self.operands)
    for f in (gradient, jax.jit(gradient)):
      for i, x in zip(argnums, f(*self.operands), strict=True):
        onp.testing.assert_array_equal(x, full[i])

  def test_other_transformations(self):
    def loss(rates, times):
      return _total(*self.operands[:1], rates, *self.operands[2:4], times)

    def scanned(rates, times):
      def step(total, t):
        return total + loss(rates, t[None]), None

      return jax.lax.scan(step, 0.0, times)[0]

    rates, times = self.operands[1], _TIMES
    both = jnp.stack([rates, 2 * rates])
    for f, args, masks in (
      (jax.vmap(jax.grad(loss), (0, None)), (both, times), [2]),
      (jax.vmap(jax.grad(loss, 1), (None, 0)), (rates, times[:, None]), [16]),
      (jax.hessian(loss), (rates, times), [2, 2]),
      (jax.jacrev(jax.jacrev(loss, 1), 1), (rates, times), [16, 16]),
      (jax.grad(scanned), (rates, times), [2]),
      (jax.grad(jax.checkpoint(loss)), (rates, times), [2]),
    ):
      self.assertEqual(_masks(f, *args), masks)

  def test_mixed_second_derivatives(self):
    every = jax.hessian(_total, range(5))(*self.operands)
    for i in range(5):
      for j in range(5):
        for outer in (jax.jacfwd, jax.jacrev):
          alone = outer(jax.grad(_total, i), j)(*self.operands)
          onp.testing.assert_allclose(
            alone, every[i][j], rtol=1e-11, atol=1e-11
          )

  def test_portable_lowering(self):
    traced = jax.jit(jax.grad(_total, 1)).trace(*self.operands)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    self.assertNotIn("phasic_phase_type", text)


class KernelDerivativesTest(parameterized.TestCase):
  theta = onp.array([1.0, 1.5, 0.8])

  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")

  @parameterized.named_parameters(
    ("value", lambda f: f, ["J0"]),
    ("grad", lambda f: jax.grad(_loss), ["J0", "V1"]),
    ("jvp", lambda f: lambda x: jax.jvp(f, (x,), (x,)), ["J0", "J1"]),
    ("jacfwd", jax.jacfwd, ["J1"]),
    ("jacrev", jax.jacrev, ["V1"]),
    ("hessian", lambda f: jax.hessian(_loss), ["J0", "J1", "V1", "V2"]),
    ("forward_forward", lambda f: jax.jacfwd(jax.jacfwd(f)), ["J2"]),
    ("vmap", lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x])), ["J0"]),
  )
  def test_only_what_is_needed_is_computed(self, transform, expected):
    self.assertEqual(
      _native_calls(transform(_log_density), self.theta), expected
    )

  def test_orders_above_three_are_refused(self):
    third = jax.jacfwd(jax.jacfwd(jax.jacfwd(_log_density)))
    for transform in (jax.jacfwd, jax.jacrev):
      with self.assertRaisesRegex(
        NotImplementedError, "log_density: a derivative of order 4.* up to 3"
      ):
        transform(third)(self.theta)

  @parameterized.parameters(*function_kinds.KINDS)
  def test_all_kinds(self, kind):
    f = getattr(math.phase_type, kind)

    def run(theta):
      return f(_TIMES, _PROBS, theta[:, None] * _CYCLE)

    def compute(path):
      with kernel_ops.use_path(path):
        return run(self.theta), jax.jacrev(run)(self.theta)

    for actual, expected in zip(
      compute("kernel"), compute("portable"), strict=True
    ):
      onp.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)

  def test_float32_without_x64(self):
    with jax.enable_x64(False):
      theta = jnp.asarray(self.theta)
      value, gradient = jax.jit(jax.value_and_grad(_loss))(theta)
      hessian = jax.hessian(_loss)(theta)
    self.assertEqual(value.dtype, jnp.float32)
    self.assertEqual(gradient.dtype, jnp.float32)
    self.assertEqual(hessian.dtype, jnp.float32)
    onp.testing.assert_allclose(
      gradient, jax.grad(_loss)(self.theta), rtol=2e-5
    )
    onp.testing.assert_allclose(
      hessian, jax.hessian(_loss)(self.theta), rtol=2e-4, atol=1e-5
    )

  def test_own_batch_with_broadcasting_under_vmap(self):
    theta = onp.stack([self.theta, self.theta[::-1]])
    probs = onp.stack([_PROBS, _PROBS[::-1], _PROBS])[:, None, :]

    def run(theta, probs, times):
      generators = theta[..., None] * _CYCLE
      return math.phase_type.log_prob(times, probs, generators)

    def loss(theta, probs, times):
      return jnp.sum(jnp.cos(run(theta, probs, times)))

    def compute(path):
      with kernel_ops.use_path(path):
        gradient = jax.grad(loss, (0, 1, 2))(theta, probs, _TIMES[:2])
        mapped = jax.vmap(jax.grad(loss, (0, 1, 2)), (0, None, None))(
          theta[:, None], probs, _TIMES[:1]
        )
        return gradient, mapped

    jax.tree.map(
      lambda x, y: onp.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11),
      compute("kernel"),
      compute("portable"),
    )

  def test_other_platforms_lower_to_the_portable_path(self):
    traced = jax.jit(jax.grad(_loss)).trace(self.theta)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    self.assertNotIn("phasic_phase_type", text)
    text = traced.lower(lowering_platforms=("cpu",)).as_text()
    self.assertIn("phasic_phase_type", text)


class OperandsTest(parameterized.TestCase):
  good = (
    onp.ones(3) / 3,
    onp.eye(3) * -1.0,
    onp.zeros(0),
    onp.zeros(0),
    onp.ones(4),
  )

  def _call(self, index, operand):
    operands = list(self.good)
    operands[index] = operand
    with kernel_ops.use_path("kernel"):
      return kernel_ops.phase_type("log_density", operands, portable.phase_type)

  def test_good(self):
    onp.testing.assert_allclose(self._call(0, self.good[0]), -onp.ones(4))

  @parameterized.named_parameters(
    ("probs", 0, (2,)),
    ("not_square", 1, (3, 2)),
    ("exits", 2, (2,)),
    ("atom", 3, (2,)),
    ("no_phases", 0, (0,)),
  )
  def test_event_shapes_are_refused(self, index, shape):
    with self.assertRaisesRegex(ValueError, "event shapes"):
      self._call(index, onp.ones(shape))

  @parameterized.named_parameters(
    ("rank", 4, (2, 4), "batch rank"), ("scalar", 0, (), "rank")
  )
  def test_batch_shapes_are_refused(self, index, shape, message):
    with self.assertRaisesRegex(ValueError, message):
      self._call(index, onp.ones(shape))

  def test_batches_that_do_not_broadcast_are_refused(self):
    operands = [onp.stack([x] * 2) for x in self.good]
    operands[4] = onp.ones((3, 4))
    with self.assertRaisesRegex(ValueError, "do not broadcast"):
      kernel_ops.phase_type("cdf", operands, portable.phase_type)

  @parameterized.parameters(onp.float32, onp.float16, onp.complex128)
  def test_dtypes_are_refused(self, dtype):
    with self.assertRaisesRegex(TypeError, "all must be float32 or"):
      self._call(4, onp.ones(4, dtype))


if __name__ == "__main__":
  absltest.main()
