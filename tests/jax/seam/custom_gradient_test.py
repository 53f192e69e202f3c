"""Functions with rules of their own, under JAX's transformations."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax.internal import custom_gradient
from phasic.substrates.jax.math.calls import gradients

jax.config.update("jax_enable_x64", True)

_BOTH = (0, 1)


def plain(a, b):
  return jnp.sin(a) * jnp.sum(b)


def _vjp_fwd(a, b):
  return plain(a, b), (a, b)


def _vjp_bwd(residuals, ct):
  a, b = residuals
  return jnp.cos(a) * jnp.sum(b) * ct, jnp.sum(jnp.sin(a) * ct) + 0 * b


def _jvp(primals, tangents):
  (a, b), (da, db) = primals, tangents
  tangent = jnp.cos(a) * da * jnp.sum(b) + jnp.sin(a) * jnp.sum(db)
  return plain(a, b), tangent


ruled = custom_gradient.custom_gradient(_vjp_fwd, _vjp_bwd, _jvp)(plain)
reverse_only = custom_gradient.custom_gradient(_vjp_fwd, _vjp_bwd)(plain)
forward_only = custom_gradient.custom_gradient(jvp_fn=_jvp)(plain)


def _loss(f):
  return lambda a, b: jnp.sum(jnp.exp(f(a, b)))


def _scanned(f):
  def run(a, b):
    def step(carry, x):
      return 0.1 * f(carry, b) + x, jnp.sum(carry)

    return jnp.sum(jax.lax.scan(step, a, jnp.arange(4.0))[1] ** 2)

  return run


_TRANSFORMATIONS = {
  "value": lambda f: f,
  "grad": lambda f: jax.grad(_loss(f), _BOTH),
  "jit_grad": lambda f: jax.jit(jax.grad(_loss(f), _BOTH)),
  "jacfwd": lambda f: jax.jacfwd(f, _BOTH),
  "jacrev": lambda f: jax.jacrev(f, _BOTH),
  "jvp": lambda f: lambda a, b: jax.jvp(f, (a, b), (a + 1, b - 1)),
  "hessian": lambda f: jax.hessian(_loss(f), _BOTH),
  "reverse_reverse": lambda f: jax.jacrev(jax.grad(_loss(f))),
  "reverse_forward": lambda f: jax.jacrev(jax.jacfwd(_loss(f))),
  "forward_forward": lambda f: jax.jacfwd(jax.jacfwd(_loss(f))),
  "third": lambda f: jax.jacrev(jax.jacfwd(jax.grad(_loss(f)))),
  "vmap": lambda f: jax.vmap(f, (None, 0)),
  "vmap_grad": lambda f: jax.vmap(jax.grad(_loss(f), _BOTH), (None, 0)),
  "vmap_vmap_hessian": lambda f: jax.vmap(
    jax.vmap(jax.hessian(_loss(f), _BOTH), (0, None)), (None, 0)
  ),
  "grad_vmap": lambda f: jax.grad(
    lambda a, b: jnp.sum(jax.vmap(_loss(f), (None, 0))(a, b)), _BOTH
  ),
  "grad_scan": lambda f: jax.grad(_scanned(f), _BOTH),
  "jvp_scan": lambda f: jax.jacfwd(_scanned(f)),
  "hessian_scan": lambda f: jax.hessian(_scanned(f), _BOTH),
  "hessian_checkpoint": lambda f: jax.hessian(jax.checkpoint(_loss(f))),
}


class CustomGradientTest(parameterized.TestCase):
  a = onp.array([0.3, 0.4])
  b = onp.array([[1.0, 0.2, 0.5], [0.1, 0.7, 0.3]])

  def _assert_same(self, transform):
    actual = transform(ruled)(self.a, self.b)
    expected = transform(plain)(self.a, self.b)
    jax.tree.map(
      lambda x, y: onp.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12),
      actual,
      expected,
    )

  @parameterized.named_parameters(*_TRANSFORMATIONS.items())
  def test_same_as_plain_function(self, transform):
    self._assert_same(transform)

  def test_rules_are_used(self):
    def wrong_bwd(residuals, ct):
      del residuals
      return (100.0 * ct,)

    def wrong_jvp(primals, tangents):
      return primals[0], 10.0 * tangents[0]

    f = custom_gradient.custom_gradient(
      lambda x: (x, None), wrong_bwd, wrong_jvp
    )(lambda x: x)
    self.assertEqual(jax.grad(f)(1.0), 100.0)
    self.assertEqual(jax.jvp(f, (1.0,), (1.0,))[1], 10.0)
    self.assertEqual(jax.linearize(f, 1.0)[1](1.0), 10.0)

  def test_residuals_are_computed_once(self):
    calls = []

    def forward(x):
      jax.debug.callback(lambda: calls.append("forward"))
      return x * x, {"x": x}

    f = custom_gradient.custom_gradient(
      forward, lambda residuals, ct: (2 * residuals["x"] * ct,)
    )(lambda x: x * x)
    gradient = jax.grad(f)(3.0)
    jax.effects_barrier()
    self.assertEqual(gradient, 6.0)
    self.assertEqual(calls, ["forward"])

  def test_missing_rules_are_named(self):
    with self.assertRaisesRegex(NotImplementedError, "plain has no jvp_fn"):
      jax.jvp(reverse_only, (self.a, self.b), (self.a, self.b))
    with self.assertRaisesRegex(
      NotImplementedError, "plain has no vjp_fwd and vjp_bwd"
    ):
      jax.grad(_loss(forward_only))(self.a, self.b)
    with self.assertRaisesRegex(NotImplementedError, "plain has no jvp_fn"):
      jax.jit(jax.jacfwd(reverse_only))(self.a, self.b)

  def test_reverse_rules_give_second_order(self):
    for transform in (jax.jacfwd, jax.jacrev):
      actual = transform(jax.grad(_loss(reverse_only)))(self.a, self.b)
      expected = transform(jax.grad(_loss(plain)))(self.a, self.b)
      onp.testing.assert_allclose(actual, expected, rtol=1e-12)

  def test_nondiff_and_pytree_arguments(self):
    def scaled(name, x, power):
      return {"y": (x["u"] * (2.0 if name == "twice" else 1.0)) ** power}

    def jvp(name, power, primals, tangents):
      def of_x(x):
        return scaled(name, x, power)

      return jax.jvp(of_x, primals, tangents)

    def forward(name, x, power):
      return scaled(name, x, power), x

    def backward(name, power, x, ct):
      return jax.vjp(lambda x: scaled(name, x, power), x)[1](ct)

    f = custom_gradient.custom_gradient(forward, backward, jvp, (0, 2))(scaled)
    x = {"u": jnp.asarray(1.5)}
    actual = jax.grad(lambda x: f("twice", x, 3)["y"])(x)
    self.assertAlmostEqual(float(actual["u"]), 54.0)
    value, pullback = gradients.vjp(f, "twice", x, 3)
    grads = pullback(value)
    self.assertIsNone(grads[0])
    self.assertIsNone(grads[2])
    self.assertAlmostEqual(float(grads[1]["u"]), 54.0 * 27.0)
    with self.assertRaisesRegex(TypeError, "argument 2 is in nondiff_argnums"):
      f("twice", x, onp.ones(2))

  def test_integer_arguments(self):
    @custom_gradient.custom_gradient(
      vjp_fwd=lambda x, n: (x * n, n),
      vjp_bwd=lambda n, ct: (ct * n, None),
      jvp_fn=lambda primals, tangents: (
        primals[0] * primals[1],
        tangents[0] * primals[1],
      ),
    )
    def times(x, n):
      return x * n

    n = jnp.asarray(3)
    self.assertEqual(jax.grad(times)(2.0, n), 3.0)
    self.assertEqual(jax.jacfwd(times)(2.0, n), 3.0)
    mapped = jax.vmap(jax.grad(times), (None, 0))(2.0, jnp.arange(3))
    onp.testing.assert_array_equal(mapped, [0.0, 1.0, 2.0])

  def test_wrong_rules_are_refused(self):
    wrong_shape = custom_gradient.custom_gradient(
      lambda x: (x, None), lambda residuals, ct: (jnp.ones(3),)
    )(lambda x: x)
    with self.assertRaisesRegex(ValueError, "vjp_bwd of .* shape"):
      jax.grad(lambda x: jnp.sum(wrong_shape(x)))(jnp.ones(2))
    wrong_number = custom_gradient.custom_gradient(
      lambda x: (x, None), lambda residuals, ct: (ct, ct)
    )(lambda x: x)
    with self.assertRaisesRegex(TypeError, "entry for each of the 1"):
      jax.grad(wrong_number)(1.0)
    with self.assertRaisesRegex(ValueError, "given together"):
      custom_gradient.custom_gradient(vjp_fwd=lambda x: (x, None))


if __name__ == "__main__":
  absltest.main()
