"""Log likelihoods of panel data in transformations of JAX and TensorFlow."""

import functools
import importlib

from absl.testing import absltest
import jax
import jax.numpy as jnp
import numpy as onp
import tensorflow as tf

jax.config.update("jax_enable_x64", True)

_PLACES = ((0, 1), (0, 2), (1, 0), (1, 2))
_ALLOWED = {"well": ["ill", "dead"], "ill": ["well", "dead"]}
# Rates, and effects.
_RATES, _EFFECTS = [0.5, 0.2, 0.3, 0.4], [0.3, -0.2, 0.1, 0.5]
_TABLE = {
  "id": [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3],
  "year": [0.0, 0.7, 1.9, 0.0, 1.1, 1.5, 0.2, 3.0, 0.0, 0.4, 2.0],
  "state": ["well", "ill", "dead", "ill", "well", "ill"]
  + ["well", "dead", "well", "alive", "ill"],
  "drug": [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
}


@functools.cache
def _terms(substrate):
  """Returns a function of rates and effects, (4,) each."""
  path = f"phasic.substrates.{substrate}.multistate"
  multistate = importlib.import_module(path)
  data = multistate.PanelData.from_table(
    _TABLE,
    subject="id",
    time="year",
    state="state",
    exact=["dead"],
    censored={"alive": ["well", "ill"]},
    covariates=["drug"],
  )
  model = multistate.MultiState(_ALLOWED, effects=["drug"])
  bound, layout = model.with_data(data)
  return lambda rates, effects: bound.log_likelihood_terms(
    {"rates": rates, "effects": effects}, layout
  )


def _by_expm(rates, effects):
  """Computes the same by JAX's expm, (4,)."""
  states = {"well": [1, 0, 0], "ill": [0, 1, 0], "alive": [1, 1, 0]}
  drugs, years = onp.asarray(_TABLE["drug"]), onp.asarray(_TABLE["year"])
  edges = rates * jnp.exp(effects * drugs[:-1, None])
  rows, columns = onp.transpose(_PLACES)
  full = jnp.zeros((len(edges), 3, 3)).at[:, rows, columns].add(edges)
  exits = full[:, :, 2]
  matrices = full - jax.vmap(jnp.diag)(jnp.sum(full, axis=-1))
  # Those between subjects are not used.
  lengths = onp.maximum(onp.diff(years), 0.0)
  probs = jax.vmap(jax.scipy.linalg.expm)(matrices * lengths[:, None, None])
  values, forward = [], None
  for row, state in enumerate(_TABLE["state"]):
    seen = exits[row - 1] if state == "dead" else jnp.asarray(states[state])
    if not row or _TABLE["id"][row] != _TABLE["id"][row - 1]:
      forward = seen
      values.append(None)
      continue
    forward = (forward @ probs[row - 1]) * seen
    values[-1] = jnp.log(jnp.sum(forward))
  return jnp.stack(values)


def _summed(function):
  return lambda x: jnp.sum(function(x[:4], x[4:]))


class PanelTransformsTest(absltest.TestCase):
  def test_jax_derivatives(self):
    mine, exact = map(_summed, (_terms("jax"), _by_expm))
    point = jnp.asarray([*_RATES, *_EFFECTS])
    for f, rtol in ((jax.value_and_grad, 1e-9), (jax.hessian, 1e-7)):
      jax.tree.map(
        lambda x, y, rtol=rtol: onp.testing.assert_allclose(x, y, rtol, 1e-9),
        jax.jit(f(mine))(point),
        jax.jit(f(exact))(point),
      )

  def test_jax_vmap(self):
    points = onp.asarray([_RATES, _RATES[::-1], [1e-3, 2.0, 0.1, 5.0]])
    effects = jnp.asarray(_EFFECTS)
    terms = _terms("jax")
    batch = jax.jit(jax.vmap(terms, (0, None)))(jnp.asarray(points), effects)
    slopes = jax.vmap(jax.grad(lambda x: jnp.sum(terms(x, effects))))(
      jnp.asarray(points)
    )
    for i, rates in enumerate(points):
      onp.testing.assert_allclose(
        batch[i], _by_expm(jnp.asarray(rates), effects), 1e-9
      )
      exact = jax.grad(lambda x: jnp.sum(_by_expm(x, effects)))
      onp.testing.assert_allclose(slopes[i], exact(jnp.asarray(rates)), 1e-8)

  def test_tensorflow(self):
    terms = _terms("tf")

    @tf.function
    def value_and_slopes(rates, effects):
      with tf.GradientTape() as tape:
        tape.watch([rates, effects])
        value = tf.reduce_sum(terms(rates, effects))
      return value, tape.gradient(value, [rates, effects])

    value, slopes = value_and_slopes(
      *(tf.constant(x, tf.float64) for x in (_RATES, _EFFECTS))
    )
    point = jnp.asarray([*_RATES, *_EFFECTS])
    exact, gradient = jax.value_and_grad(_summed(_by_expm))(point)
    onp.testing.assert_allclose(value, exact, 1e-10)
    onp.testing.assert_allclose(
      onp.concatenate([onp.asarray(x) for x in slopes]), gradient, 1e-9
    )


if __name__ == "__main__":
  absltest.main()
