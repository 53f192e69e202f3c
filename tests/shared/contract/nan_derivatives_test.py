"""Derivatives that are NaN where there is a value are warned of, with a reason."""

import math

from absl.testing import absltest
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import inference
from phasic import math as pm
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf


def _log_prob(rate, value=-1.0):
  return pd.Erlang(2, rate).log_prob(value)


def _caught(rate):
  """Returns a time that is infinite where the second phase is entered."""
  return pd.PhaseType(
    [1.0, 0.0], [[0.0, 1.0], [0.0, 0.0]], rate * onp.asarray([1.0, 0.0])
  )


class NaNDerivativesTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.rate = np.asarray(1.0, "float64")

  def assert_warns(self, call, regex):
    """Asserts that a derivative is NaN, and that one warning says why."""
    found, caught = self.caught(call)
    self.assertTrue(onp.any(onp.isnan(self.host(found))))
    (warning,) = caught
    self.assertRegex(str(warning.message), regex)
    self.assertEndsWith(warning.filename, "nan_derivatives_test.py")

  def test_every_function_warns_once(self):
    rate = self.rate
    why = "the derivative is NaN: the value is -inf, which has no derivatives$"
    for name, call in (
      (
        "value_and_gradient",
        lambda: pm.value_and_gradient(_log_prob, rate)[1],
      ),
      ("vjp", lambda: pm.vjp(_log_prob, rate)[1](rate)[0]),
      ("jvp", lambda: pm.jvp(_log_prob, (rate,), (rate,))[1]),
      (
        "hessian_vector_product",
        lambda: pm.hessian_vector_product(_log_prob, (rate,), (rate,)),
      ),
    ):
      with self.subTest(name):
        self.assert_warns(call, f"^{name}: {why}")

  def test_places(self):
    times = np.asarray([1.0, 0.0, 2.0], "float64")
    self.assert_warns(
      lambda: pm.value_and_gradient(pd.Erlang(2, 1.0).log_prob, times)[1],
      r"the derivative\[1\] is NaN: the value\[1\] is -inf",
    )
    self.assert_warns(
      lambda: pm.value_and_gradient(lambda r: _caught(r).mean(), self.rate)[1],
      "the derivative is NaN: the value is inf",
    )

  def test_log_likelihoods(self):
    data = inference.Observations([1.0, 0.0, 2.0])
    self.assert_warns(
      lambda: pm.value_and_gradient(
        lambda rate: data.log_likelihood(pd.Erlang(2, rate)), self.rate
      )[1],
      "the value is -inf",
    )

  def test_nan_that_is_told_otherwise(self):
    rate = self.rate
    bad = np.asarray(-1.0, "float64")
    missing = np.asarray(math.nan, "float64")
    # The constructor has warned of the rates.
    for x in (bad, missing):
      _, caught = self.caught(
        lambda x=x: pm.value_and_gradient(lambda r: _log_prob(r, 1.0), x)
      )
      (warning,) = caught
      self.assertRegex(str(warning.message), "^Erlang: rate = ")
    # The time was NaN before, and so was the cotangent.
    for call in (
      lambda: pm.value_and_gradient(pd.Erlang(2, 1.0).log_prob, missing),
      lambda: pm.vjp(lambda r: _log_prob(r, 1.0), rate)[1](missing),
      lambda: pm.jvp(lambda r: _log_prob(r, 1.0), (rate,), (missing,)),
    ):
      self.assertEmpty(self.caught(call)[1])

  def test_finite_derivatives_are_silent(self):
    for value in (-1.0, 0.0, 1.0, 700.0):
      _, caught = self.caught(
        lambda value=value: pm.value_and_gradient(
          lambda rate: pd.Erlang(2, rate).prob(value), self.rate
        )
      )
      self.assertEmpty(caught)

  def test_traced_derivatives_are_silent(self):
    def slope(rate):
      return pm.value_and_gradient(_log_prob, rate)[1]

    if MODE == "jax":
      slope = jax.jit(slope)
    elif MODE == "tf":
      slope = tf.function(slope)
    else:
      self.skipTest("NumPy traces nothing")
    found, caught = self.caught(lambda: slope(self.rate))
    self.assertTrue(onp.isnan(self.host(found)))
    self.assertEmpty(caught)

  def test_searches_are_silent(self):
    def log_likelihood(numbers):
      # The first steps from one go beyond three, where it is -inf.
      rate = numbers["rate"]
      return pd.Erlang(2, 1.0).log_prob(3.0 - rate) + 100.0 * np.log(rate)

    beyond = {"rate": np.asarray(4.0, "float64")}
    self.assert_warns(
      lambda: pm.value_and_gradient(log_likelihood, beyond)[1]["rate"],
      "the value is -inf",
    )
    found, caught = self.caught(
      lambda: inference.maximize(log_likelihood, {"rate": self.rate})
    )
    # The slope is zero where r^2 + 98 r = 300.
    expected = math.sqrt(49.0**2 + 300.0) - 49.0
    self.assert_close(found.parameters["rate"], expected, 1e-6)
    self.assertEmpty(caught)

  def test_diagnose_agrees(self):
    dist = pd.Erlang(2, 1.0)
    why = "the value is -inf, which has no derivatives"
    self.assertEqual(list(dist.diagnose([-1.0, 1.0])), [why, "ok"])
    self.assertEqual(str(dist.diagnose(-1.0, "prob")), "ok")
    found = pm.phase_type.diagnose([0.0, 1.0], [1.0, 0.0], [[-1, 1], [0, -1.0]])
    self.assertEqual(list(found), [why, "ok"])
    for method in ("mean", "variance"):
      self.assertEqual(
        str(_caught(self.rate).diagnose(method=method)),
        "the value is inf, which has no derivatives",
      )


if __name__ == "__main__":
  absltest.main()
