"""Derivatives in some of the arguments."""

import functools

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import math as pm
from phasic.math.model import operands
from tests.helpers import derivatives
from tests.helpers import models
from tests.helpers import test_case

# The order is that of the functions.
_ARGUMENTS = ("value", *operands.argument_names(False))
_TIMES = onp.asarray([0.1, 1.0, 5.0])


class WantedTest(test_case.TestCase):
  """Tests that results do not depend on which others are computed."""

  def setUp(self):
    super().setUp()
    self.require_kernel()

  def _check(self, full, part, wanted):
    for name, x, y in zip(_ARGUMENTS, full, part, strict=True):
      if name in wanted and x is not None:
        onp.testing.assert_array_equal(self.host(x), self.host(y), name)
      else:
        self.assertIsNone(y, name)

  @parameterized.parameters(
    "log_prob",
    "prob",
    "log_survival_function",
    "survival_function",
    "log_cdf",
    "cdf",
  )
  def test_one_argument(self, kind):
    model = models.random_model(5, onp.random.RandomState(2))
    arguments = (_TIMES, *model)
    vjp = functools.partial(derivatives.vjp, getattr(pm.phase_type, kind))
    cotangent = onp.asarray([1.0, -0.5, 2.0])
    value, full = vjp(*arguments, cotangent=cotangent)
    for name in _ARGUMENTS:
      same, part = vjp(*arguments, cotangent=cotangent, wanted=(name,))
      onp.testing.assert_array_equal(self.host(same), self.host(value))
      self._check(full, part, (name,))

  @parameterized.parameters(
    (("value", "subgenerator"),),
    (("initial_probs", "value"),),
    (["exit_rates", "prob_zero"],),
  )
  def test_several(self, wanted):
    for model in (
      models.cyclic(),
      models.random_model(4, onp.random.RandomState(8)),
    ):
      arguments = (_TIMES, *model)
      if all(arguments[_ARGUMENTS.index(x)] is None for x in wanted):
        continue
      _, full = derivatives.vjp(
        pm.phase_type.log_prob, *arguments, cotangent=1.0
      )
      _, part = derivatives.vjp(
        pm.phase_type.log_prob, *arguments, cotangent=1.0, wanted=wanted
      )
      self._check(full, part, wanted)

  def test_parameters_of_edges(self):
    edges = pm.EdgeRates([0, 1], [1, 2], [2.0], [[3.0], [1.0]])
    arguments = (_TIMES, [1.0, 0.0], edges)
    _, full = derivatives.vjp(pm.phase_type.log_cdf, *arguments, cotangent=1.0)
    wanted = ("subgenerator",)
    _, part = derivatives.vjp(
      pm.phase_type.log_cdf, *arguments, cotangent=1.0, wanted=wanted
    )
    self._check(full, part, wanted)


if __name__ == "__main__":
  absltest.main()
