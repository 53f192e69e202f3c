"""Constructors and properties that follow from a family's declarations."""

import inspect

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.distributions.base import bijectors
from phasic.distributions.base import constraints
from tests.helpers import own_family
from tests.helpers import test_case

Detour = own_family.Detour


class DeclarationsTest(test_case.TestCase):
  def _dist(self, **options):
    return Detour(np.asarray(2.0), np.asarray(0.25), 3, **options)

  def test_signature(self):
    found = inspect.signature(Detour)
    self.assertEqual(
      list(found.parameters),
      ["rate", "detour_prob", "repeats", "validate_args", "allow_nan_stats"]
      + ["name"],
    )
    self.assertIs(found.parameters["rate"].default, inspect.Parameter.empty)
    self.assertEqual(found.parameters["name"].default, "Detour")
    self.assertIn("detour_prob: q, (...), of the", Detour.__init__.__doc__)
    named = inspect.signature(own_family.Named).parameters["name"]
    self.assertEqual(named.default, "Named")
    text = pd.TruncatedPhaseType.__init__.__doc__
    self.assertRegex(text, r"\n  high: .+\n    \w.+\n    \w")
    self.assertEqual(Detour.rate.__doc__, "r, (...), per unit of time.")

  @parameterized.parameters(
    ((1.0, 0.5), {}, "missing a required argument: 'repeats'"),
    ((1.0, 0.5, 1, False, True, "x", 7), {}, "too many positional"),
    ((1.0, 0.5, 1), {"rate": 2.0}, "multiple values for argument 'rate'"),
    ((1.0,), {"rates": 2.0}, "Detour has no argument rates: .* are rate, "),
    ((1.0, 0.5, 1.5), {}, "repeats is float: it must be a Python int"),
    ((1.0, None, 1), {}, "detour_prob is None"),
    ((1.0, 0.5, 1, 2.0), {}, "validate_args is 2.0: it must be True or False"),
  )
  def test_wrong_calls(self, args, named, message):
    with self.assertRaisesRegex(TypeError, message):
      Detour(*args, **named)

  def test_values_are_checked_within_derivatives(self):
    with self.assertWarnsRegex(RuntimeWarning, r"rate.*-1\.0"):
      pm.value_and_gradient(lambda x: Detour(x, 0.5, 1).mean(), -1.0)
    with self.assertRaisesRegex(ValueError, r"rate.*-1\.0"):
      pm.value_and_gradient(
        lambda x: Detour(x, 0.5, 1, validate_args=True).mean(), -1.0
      )

  def test_values_are_checked(self):
    with self.assertRaisesRegex(ValueError, r"detour_prob.*= 1.5: .*\[0, 1\]"):
      Detour(2.0, 1.5, 1, validate_args=True)
    with self.assertWarnsRegex(RuntimeWarning, "rate.*-1.0"):
      Detour(-1.0, 0.5, 1)

  def test_parameters(self):
    dist = self._dist(validate_args=True)
    self.assertEqual(dist.repeats, 3)
    self.assert_close(dist.detour_prob, 0.25)
    self.assertEqual(dist.name, "Detour")
    self.assertEqual(dist.copy(name="own").name, "own")
    self.assertTrue(dist.copy(rate=3.0).validate_args)
    self.assertEqual(list(dist.parameter_properties()), ["rate", "detour_prob"])
    self.assertEqual(Detour(1.0, 0.5, 1, name=None).name, "Detour")
    self.assertEqual(dist.parameter_properties()["rate"].constraint, "positive")
    self.assertEqual(own_family.Named(1.0, 0.5, 1).name, "Named")
    batch = Detour(onp.asarray([1.0, 2.0]), 0.5, 1)
    self.assertEqual(batch.batch_shape, (2,))
    self.assert_close(batch[1].rate, 2.0)

  def test_a_family_that_declares_nothing(self):
    class Silent(pd.Distribution):
      def __init__(self):
        super().__init__(
          {"validate_args": False, "allow_nan_stats": True, "name": "Silent"}
        )

    with self.assertRaisesRegex(
      NotImplementedError, "Silent declares no .*define.*_parameter_properties"
    ):
      Silent()

  def test_text(self):
    base = self._dist()
    self.assertIn("rate=2, detour_prob=0.25, repeats=3>", repr(base))
    text = repr(pd.ZeroInflated(base, 0.5))
    self.assertIn(f"distribution={base!r}, prob_zero=0.5>", text)
    edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]])
    self.assertEqual(
      repr(edges),
      "<EdgeRates of shapes sources=(2,), targets=(2,), parameters=(1,), "
      "coefficients=(2, 1)>",
    )

  def test_law(self):
    dist, t = self._dist(), np.asarray(onp.asarray([0.25, 1.0, 3.0]))
    density = onp.exp(-2.0 * self.host(t)) * (1.5 + self.host(t))
    self.assert_close(dist.prob(t), density, 1e-12)
    self.assert_close(dist.mean(), 0.625, 1e-13)
    law = pd.PhaseType([0.25, 0.75], [[-2.0, 2.0], [0.0, -2.0]])
    self.assert_close(dist.quantile(0.9), law.quantile(0.9), 1e-12)
    self.assert_close(pd.MatrixWeibull(dist, 1.0).prob(t), density, 1e-12)

  def test_derivatives(self):
    t = np.asarray(1.5)
    _, slope = pm.value_and_gradient(
      lambda rate: Detour(rate, 0.25, 1).log_prob(t), np.asarray(2.0)
    )
    # Of exp(-r t) (0.75 r + 0.25 r^2 t).
    part = (0.75 + 0.5 * 2.0 * 1.5) / (0.75 * 2.0 + 0.25 * 4.0 * 1.5)
    self.assert_close(slope, part - 1.5, 1e-12)


class ConstraintsTest(test_case.TestCase):
  """Tests rules of parameters, and their maps."""

  def test_strictly_increasing(self):
    rule = constraints.named("strictly increasing")
    good = np.asarray(onp.asarray([[0.5, 1.0, 3.0], [1.0, 2.0, 2.5]]))
    self.assert_close(rule.check("x", good), self.host(good))
    for x in ([0.5, 0.5], [0.5, 0.25], [0.0, 1.0]):
      with self.assertRaisesRegex(ValueError, r"x\[[01]\] = "):
        rule.check("x", np.asarray(onp.asarray(x)))

  def test_batches_of_matrices(self):
    rates = onp.arange(1.0, 13.0).reshape((1, 3, 2, 2))
    found = self.host(bijectors.Subgenerator(2).forward(onp.log(rates)))
    off = onp.where(onp.eye(2) > 0, 0.0, rates)
    sums = onp.eye(2) * onp.sum(rates, axis=-1, keepdims=True)
    self.assert_close(found, off - sums, 1e-14)


if __name__ == "__main__":
  absltest.main()
