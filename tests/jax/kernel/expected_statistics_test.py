"""Expected statistics under JAX's transformations."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
from jax import export
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import math
from phasic.substrates.jax.internal import exporting
from phasic.substrates.jax.internal import kernel_ops

jax.config.update("jax_enable_x64", True)

_PROBS = onp.array([0.5, 0.3, 0.2])
_CYCLE = onp.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.7, 0.0, -1.0]])
_TIMES = onp.array([0.1, 0.5, 1.0, 2.0])


def _statistics(theta, times=_TIMES, weights=None):
  return math.phase_type.expected_statistics(
    times, _PROBS, theta[:, None] * _CYCLE, weights=weights
  )


class ExpectedStatisticsTest(parameterized.TestCase):
  theta = onp.array([1.0, 1.5, 0.8])

  def setUp(self):
    super().setUp()
    self.assertEqual(kernel_ops.unavailable_reason(), "")

  def _assert_rows(self, mapped, rows):
    for k, row in enumerate(rows):
      jax.tree.map(
        lambda x, y, k=k: onp.testing.assert_array_equal(x[k], y), mapped, row
      )

  def test_vmap_over_models(self):
    thetas = onp.stack([self.theta, 2 * self.theta])
    mapped = jax.jit(jax.vmap(_statistics))(thetas)
    self._assert_rows(mapped, [_statistics(theta) for theta in thetas])

  def test_vmap_over_times(self):
    mapped = jax.vmap(_statistics, (None, 0))(self.theta, _TIMES[:, None])
    rows = [_statistics(self.theta, t[None]) for t in _TIMES]
    self._assert_rows(mapped, rows)

  def test_vmap_over_weights(self):
    weights = onp.eye(4)
    mapped = jax.vmap(_statistics, (None, None, 0))(self.theta, _TIMES, weights)
    rows = [_statistics(self.theta, t[None]) for t in _TIMES]
    self._assert_rows(mapped, rows)

  def test_vmap_over_observations(self):
    def statistics(theta, lower, upper):
      return math.phase_type.expected_statistics(
        lower, _PROBS, theta[:, None] * _CYCLE, upper=upper
      )

    lower = onp.array([[0.1, -1.0], [0.5, 1.0], [0.0, 2.0]])
    upper = onp.array([[0.1, 2.0], [onp.inf, 1.5], [0.25, onp.inf]])
    mapped = jax.jit(jax.vmap(statistics, (None, 0, 0)))
    rows = [statistics(self.theta, *x) for x in zip(lower, upper, strict=True)]
    self._assert_rows(mapped(self.theta, lower, upper), rows)

  def test_scan(self):
    def step(theta, _):
      given = _statistics(theta)
      theta = (jnp.sum(given.jumps, -1) + given.exits) / given.sojourns
      return theta, theta

    last, _ = jax.lax.scan(step, self.theta, length=3)
    theta = self.theta
    for _ in range(3):
      theta, _ = step(theta, None)
    onp.testing.assert_allclose(last, theta, rtol=1e-14)

  def test_export(self):
    exported = export.export(
      jax.jit(_statistics), disabled_checks=exporting.export_disabled_checks()
    )(self.theta)
    self._assert_rows(
      jax.tree.map(lambda x: x[None], tuple(exported.call(self.theta))),
      [tuple(_statistics(self.theta))],
    )

  def test_float32_without_x64(self):
    with jax.enable_x64(False):
      probs, matrix, times = map(jnp.asarray, (_PROBS, _CYCLE, _TIMES))
      given = math.phase_type.expected_statistics(times, probs, matrix)
    for x in given:
      self.assertEqual(x.dtype, jnp.float32)

  def test_derivatives_are_refused(self):
    def total(theta):
      return jnp.sum(_statistics(theta).jumps)

    def weighted(weights):
      return jnp.sum(_statistics(self.theta, weights=weights).jumps)

    for f, x in ((total, self.theta), (weighted, onp.ones(4))):
      for derivative in (jax.grad(f), jax.jit(jax.grad(f))):
        with self.assertRaisesRegex(NotImplementedError, "have none"):
          derivative(x)
    with self.assertRaisesRegex(NotImplementedError, "stop_gradient"):
      jax.jacfwd(total)(self.theta)

  def test_constants_of_a_derivative(self):
    def loss(theta):
      given = _statistics(jax.lax.stop_gradient(theta))
      counts = jnp.sum(given.jumps, -1) + given.exits
      return jnp.sum(counts * jnp.log(theta) - given.sojourns * theta)

    def likelihood(theta):
      return jnp.sum(
        math.phase_type.log_prob(_TIMES, _PROBS, theta[:, None] * _CYCLE)
      )

    # Fisher's identity.
    onp.testing.assert_allclose(
      jax.grad(loss)(self.theta), jax.grad(likelihood)(self.theta), rtol=1e-12
    )

  def test_other_platforms_run_array_code(self):
    traced = jax.jit(_statistics).trace(self.theta)
    for platform, calls_kernel in (("cpu", True), ("cuda", False)):
      text = traced.lower(lowering_platforms=(platform,)).as_text()
      self.assertEqual("phasic" in text, calls_kernel)


if __name__ == "__main__":
  absltest.main()
