"""What phasic is compared with in JAX and SciPy computes the right numbers.

The oracle is SciPy's matrix exponential; derivatives are its imaginary part
at a complex step, which takes no difference.
"""

from absl.testing import absltest
from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp
import scipy.linalg

from benchmarks import alternatives
from benchmarks import coxian
from benchmarks import jax_scan
from benchmarks import models

_FORMS = {
  **jax_scan.DENSE,
  **jax_scan.SPARSE,
  **{f"{k}, vmapped": form for k, form in jax_scan.SPARSE_VMAPPED.items()},
}
_STEP = 1e-30


def _log_density(alpha, off, exits, t):
  subgenerator = off - onp.diag(off.sum(axis=1) + exits)
  return onp.log(alpha @ scipy.linalg.expm(subgenerator * t) @ exits)


def _log_prob(model, theta, times):
  off, exits = model.rates @ theta, model.exits @ theta
  return onp.array(
    [_log_density(model.initial_probs, off, exits, t) for t in times]
  )


def _gradient(function, theta):
  """d sum(function) / d theta."""
  return onp.array(
    [
      onp.sum(onp.imag(function(theta + 1j * _STEP * unit))) / _STEP
      for unit in onp.eye(len(theta))
    ]
  )


class AlternativesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enterContext(jax.enable_x64(True))

  def check(self, method, model, thetas, times):
    values = [_log_prob(model, theta, times) for theta in thetas]
    gradients = [
      _gradient(lambda x: _log_prob(model, x, times), theta) for theta in thetas
    ]
    shape = method.log_prob().shape
    onp.testing.assert_allclose(
      method.log_prob(), onp.reshape(values, shape), rtol=1e-11
    )
    value, gradient = method.value_and_gradient()
    onp.testing.assert_allclose(value, onp.sum(values), rtol=1e-11)
    onp.testing.assert_allclose(
      gradient, onp.reshape(gradients, gradient.shape), rtol=1e-9
    )

  @parameterized.product(
    name=list(_FORMS),
    make=[lambda: models.kingman(5), lambda: models.dense(4)],
  )
  def test_scans(self, name, make):
    model = make()
    times, thetas = model.times(9), models.thetas(model, 3)
    method = alternatives.scan(_FORMS[name], model, times, thetas)
    self.check(method, model, thetas, times)

  @parameterized.parameters(1, 4, 12)
  def test_scan_of_times_that_are_an_argument(self, chunk):
    model = models.kingman(5)
    times, thetas = model.times(12), models.thetas(model, 2)
    log_prob = jax_scan.many_times(jax_scan.segments, model, times[-1], chunk)
    method = alternatives.JaxMethod(thetas, log_prob, jnp.asarray(times))
    self.check(method, model, thetas, times)

  def test_scan_with_a_table(self):
    model = models.kingman(5)
    times, thetas = model.times(12), models.thetas(model, 2)
    log_prob, table = jax_scan.with_table(jax_scan.in_edges, model, times[-1])
    weights = table(jnp.asarray(times))
    method = alternatives.JaxMethod(thetas, log_prob, weights)
    self.check(method, model, thetas, times)

  @parameterized.parameters(
    alternatives.jax_expm,
    alternatives.jax_scan_dense,
    alternatives.ScipyMethod,
  )
  def test_one_model(self, make):
    model = models.kingman(5)
    times = model.times(6)
    method = make(model, times)
    if isinstance(method, alternatives.JaxMethod):
      self.check(method, model, model.theta[None], times)
      return
    expected = _log_prob(model, model.theta, times)
    onp.testing.assert_allclose(method.log_prob(), expected, rtol=1e-11)
    value, gradient = method.value_and_gradient()
    self.assertAlmostEqual(value, onp.sum(expected))
    onp.testing.assert_allclose(
      gradient,
      _gradient(lambda x: _log_prob(model, x, times), model.theta),
      rtol=1e-9,
    )

  def test_coxian(self):
    data = coxian.regression(20)
    method = alternatives.JaxMethod(
      data.rates, coxian.jax_scan(data), jnp.asarray(data.times)
    )

    def log_prob(rates, t):
      off = onp.diag(rates[:3], 1)
      return _log_density(onp.eye(4)[0], off, rates[3:], t)

    expected = [log_prob(r, t) for r, t in zip(data.rates, data.times)]
    onp.testing.assert_allclose(method.log_prob(), expected, rtol=1e-11)
    _, gradient = method.value_and_gradient()
    for row, r, t in zip(gradient, data.rates, data.times):
      onp.testing.assert_allclose(
        row, _gradient(lambda x, t=t: log_prob(x, t), r), rtol=1e-8, atol=1e-9
      )

  def test_coxian_times_have_their_models_mean(self):
    data = coxian.regression(20_000)
    means = onp.zeros(len(data.times))
    for i in reversed(range(coxian.PHASES)):
      move = data.rates[:, i] if i < 3 else 0.0
      means = (1.0 + move * means) / (move + data.rates[:, 3 + i])
    # A standard error is about 1 / sqrt(20,000).
    self.assertAlmostEqual(onp.mean(data.times / means), 1.0, delta=0.04)


if __name__ == "__main__":
  absltest.main()
