"""The portable path where float32 is all there is, against its stated bound."""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp

from phasic.substrates.jax import math as pm
from phasic.substrates.jax.internal import kernel_ops
from phasic.substrates.jax.math.portable import portable
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

# Model, times and kinds. All have ten phases and five times: JAX compiles less.
_CASES = {
  "erlang": (
    models.erlang(),
    [1e-20, 1e-3, 1.0, 30.0, 500.0],
    ("log_density", "log_survival", "log_cdf"),
  ),
  "queue": (
    models.birth_death(10),
    [1e-6, 0.5, 3.0, 25.0, 300.0],
    ("log_density", "log_survival"),
  ),
  "coalescent": (
    models.hypoexponential(onp.arange(11, 1, -1) * onp.arange(10, 0, -1) / 2),
    [1e-4, 0.1, 1.0, 5.0, 30.0],
    ("log_density",),
  ),
}


def _bound(log):
  """What `portable` promises."""
  return 2.0**-23 * (32 + 4 * abs(log))


def _evaluate(kind, model, times):
  operands = (model.initial_probs, model.subgenerator, model.exit_rates, [0.0])
  return portable.phase_type(
    kind, *(jnp.asarray(x, jnp.float32) for x in (*operands, times))
  )


class Float32Test(parameterized.TestCase):
  """With 64-bit numbers switched off."""

  def setUp(self):
    super().setUp()
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    self.addCleanup(jax.config.update, "jax_enable_x64", before)

  def test_precision_can_be_asked(self):
    with kernel_ops.use_path("portable"):
      self.assertEqual(kernel_ops.precision(), "float32")
    if not kernel_ops.unavailable_reason():
      with kernel_ops.use_path("kernel"):
        self.assertEqual(kernel_ops.precision(), "float64")

  @parameterized.parameters(*_CASES)
  def test_bound(self, name):
    model, times, kinds = _CASES[name]
    model = model._replace(prob_zero=0.0)
    times = onp.asarray(times, onp.float32)
    for kind in kinds:
      values = _evaluate(kind, model, times)
      self.assertEqual(values.dtype, jnp.float32)
      for t, value in zip(times, onp.asarray(values), strict=True):
        truth, _ = oracle.directional(kind, model._replace(time=t))
        bound = _bound(float(truth.mid()))
        self.assertLessEqual(oracle.error(value, truth), bound, (kind, t))

  def test_products_are_in_full_precision(self):
    # Otherwise GPUs compute them in TF32, with errors of 5e-4.
    model = models.birth_death(10)

    def both(subgenerator):
      rates = jnp.asarray(model.exit_rates, jnp.float32)
      arguments = (model.initial_probs, subgenerator, rates)
      value = pm.phase_type.log_prob(onp.float32(3.0), *arguments)
      return value + pm.phase_type.variance(*arguments)

    with kernel_ops.use_path("portable"):
      program = jax.jit(jax.value_and_grad(both)).lower(
        jnp.asarray(model.subgenerator, jnp.float32)
      )
    products = [x for x in program.as_text().split("\n") if "dot_general" in x]
    self.assertGreater(len(products), 10)
    for product in products:
      self.assertIn("precision = [HIGHEST, HIGHEST]", product)

  def test_out_of_range_is_nan(self):
    # In this tail one phase outweighs another by 1e27: never a wrong number.
    value = _evaluate("log_density", models.erlang(10, 3.3), [600.0] * 5)
    self.assertTrue(onp.all(onp.isnan(value)))


if __name__ == "__main__":
  absltest.main()
