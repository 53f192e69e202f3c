"""Rules of bound functions in array code: derivatives of every order."""

from absl.testing import absltest
import jax
from jax import numpy as jnp
import numpy as onp

from phasic.substrates.jax import binding

# Each is the other's derivative, and so on.
sine = binding.bind(
  onp.sin,
  jvp=binding.array_code(lambda args, ts: cosine(args[0]) * ts[0]),
  vjp=binding.array_code(lambda args, ct: (cosine(args[0]) * ct,)),
  name="sine",
)
cosine = binding.bind(
  onp.cos,
  vjp=binding.array_code(lambda args, ct: (-sine(args[0]) * ct,)),
  jvp=binding.array_code(lambda args, ts: -sine(args[0]) * ts[0]),
  name="cosine",
)


class ArrayCodeTest(absltest.TestCase):
  def test_all_orders(self):
    x = jnp.asarray(0.7)
    expected = (jnp.cos(x), -jnp.sin(x), -jnp.cos(x), jnp.sin(x))
    for first in (jax.grad, jax.jacfwd):
      f = sine
      for value in expected:
        f = first(f)
        self.assertAlmostEqual(float(f(x)), float(value), places=14)
        self.assertAlmostEqual(float(jax.jit(f)(x)), float(value), places=14)

  def test_hessian_of_a_batch(self):
    x = jnp.asarray([0.3, 0.7, -2.0])
    f = jax.jit(jax.hessian(lambda x: jnp.sum(x * sine(x))))
    diagonal = 2.0 * jnp.cos(x) - x * jnp.sin(x)
    onp.testing.assert_allclose(f(x), jnp.diag(diagonal), rtol=1e-14, atol=0)
    second = jax.vmap(jax.grad(jax.grad(sine)))
    onp.testing.assert_allclose(second(x), -jnp.sin(x), rtol=1e-14)

  def test_beside_a_rule_of_the_host(self):
    op = binding.bind(
      lambda x, n: x**n,
      vjp=binding.array_code(
        lambda args, ct: (args[1] * args[0] ** (args[1] - 1) * ct, None)
      ),
      jvp=lambda args, ts: args[1] * args[0] ** (args[1] - 1) * ts[0],
      nondifferentiable=(1,),
      name="power",
    )
    third = jax.grad(jax.grad(jax.grad(op)))
    self.assertAlmostEqual(float(third(2.0, 5)), 240.0, places=10)
    forward = lambda v: jax.jvp(lambda x: op(x, 5), (2.0,), (v,))[1]
    self.assertEqual(float(jax.grad(forward)(1.0)), 80.0)
    with self.assertRaisesRegex(
      NotImplementedError, "jvp of power has no derivative.*=array_code"
    ):
      jax.jacfwd(jax.jacfwd(op))(2.0, 5)

  def test_errors(self):
    with self.assertRaisesRegex(TypeError, "rule is 3"):
      binding.array_code(3)
    op = binding.bind(
      onp.sin, vjp=binding.array_code(lambda args, ct: (ct[:1],)), name="mine"
    )
    with self.assertRaisesRegex(
      TypeError, r"vjp of mine returned shape \(1,\)"
    ):
      jax.grad(lambda x: jnp.sum(op(x)))(jnp.ones(3))


if __name__ == "__main__":
  absltest.main()
