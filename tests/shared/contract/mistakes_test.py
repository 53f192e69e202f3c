"""Common mistakes of users, and their messages."""

import inspect
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.math.calls import gradients
from phasic.math.likelihood import observations
from tests.helpers import derivatives
from tests.helpers import test_case


class MistakesTest(test_case.TestCase):
  @parameterized.parameters(
    ([2], [0], "sources"), ([0], [3], "targets"), ([-1], [0], "sources")
  )
  @test_case.of_bad_values
  def test_edge_out_of_range(self, sources, targets, name):
    edges = pm.EdgeRates(sources, targets, [0.75])
    with self.assertRaisesRegex(ValueError, rf"{name}\[0\] = "):
      pm.phase_type.log_prob(1.0, [1.0, 0.0], edges)
    probs = pm.EdgeProbs(sources, targets, [0.75])
    with self.assertRaisesRegex(ValueError, rf"{name}\[0\] = "):
      pm.discrete_phase_type.prob(1.0, [1.0, 0.0], probs)

  def test_batches_that_do_not_broadcast(self):
    two, three = pd.Erlang(2, [1.0, 2.0]), pd.Erlang(2, [1.0, 2.0, 3.0])
    for method in ("kl_divergence", "cross_entropy"):
      with self.assertRaisesRegex(ValueError, rf"{method}.*\(2,\).*\(3,\)"):
        getattr(two, method)(three)
    message = (
      r"batch shapes do not broadcast: mixture_probs \(2,\), rates \(3,\)"
    )
    with self.assertRaisesRegex(ValueError, message):
      pd.Hyperexponential(onp.full((2, 2), 0.5), onp.ones((3, 2)))
    with self.assertRaisesRegex(ValueError, r"\(3,\), distribution \(2,\)"):
      pd.MatrixWeibull(two, onp.ones(3))

  def test_moments_of_the_other_time(self):
    edges = pm.EdgeRates([0], [1], [2.0])
    with self.assertRaisesRegex(TypeError, "subtransition is EdgeRates"):
      pm.discrete_phase_type.mean([1.0], edges)
    probs = pm.EdgeProbs([0], [1], [0.5])
    with self.assertRaisesRegex(TypeError, "subgenerator is EdgeProbs"):
      pm.phase_type.mean([1.0], probs)

  def test_model_before_the_value(self):
    probs, rates = [0.5, 0.5], [[-1.0, 0.5], [0.25, -2.0]]
    edges = pm.EdgeRates([0, 1, 0], [1, 2, 2], [1.0, 2.0, 0.5])
    hint = r"value comes first: log_prob\(value, initial_probs, subgenerator\)$"
    for value in (1.0, [1.0, 2.0], [1.0, 2.0, 3.0]):
      with self.assertRaisesRegex(ValueError, f"it must be square.*; {hint}"):
        pm.phase_type.log_prob(probs, rates, value)
    with self.assertRaisesRegex(
      TypeError,
      "^initial_probs is EdgeRates: it must be an array; pass edges as "
      f"the argument subgenerator; {hint}",
    ):
      pm.phase_type.log_prob(probs, edges, 1.0)
    with self.assertWarnsRegex(RuntimeWarning, f"masses must be >= 0.*{hint}"):
      pm.phase_type.log_prob(probs, rates, onp.ones((2, 2)))
    with self.assertRaisesRegex(
      ValueError, r"u comes first: laplace_transform"
    ):
      pm.phase_type.laplace_transform(probs, rates, 1.0)
    with self.assertRaisesRegex(ValueError, r"prob\(value, .*subtransition\)$"):
      pm.discrete_phase_type.prob([1.0], [[0.5]], 2.0)

  @parameterized.parameters("phase_type", "discrete_phase_type")
  def test_errors_of_python_name_the_public_function(self, package):
    module = getattr(pm, package)
    for name in module.__all__:
      if not inspect.isclass(getattr(module, name)):
        with self.assertRaisesRegex(TypeError, rf"^{name}\(\) got an unexp"):
          getattr(module, name)(no_such_argument=1.0)

  def test_no_hint_where_the_value_is_first(self):
    rates = [[-1.0, 0.5], [0.25, -2.0]]
    with self.assertRaisesRegex(ValueError, r"\(\.\.\., p, p\)$"):
      pm.phase_type.log_prob([1.0, 2.0], rates, [0.5, 0.5])
    with self.assertRaisesRegex(TypeError, "argument subgenerator$"):
      pm.phase_type.mean(pm.EdgeRates([0], [1], [1.0]), [1.0])

  def test_arguments_of_moments(self):
    with self.assertRaisesRegex(ValueError, "order is 0"):
      pm.phase_type.raw_moments(0, [1.0], [[-1.0]])
    with self.assertRaisesRegex(ValueError, "order is True"):
      pm.phase_type.raw_moments(True, [1.0], [[-1.0]])
    found = pm.phase_type.raw_moments(onp.int64(2), [1.0], [[-1.0]])
    self.assert_close(found, [1.0, 2.0], 1e-14)
    with self.assertRaisesRegex(ValueError, r"rewards has shape \(2,\)"):
      pm.phase_type.reward_moments(1, [1.0, 2.0], [1.0], [[-1.0]])
    model = ([1.0], [[-1.0]])
    for function, others in (
      (pm.phase_type.mixed_moment, ()),
      (pm.phase_type.joint_mark_probs, ([1.0],)),
    ):
      with self.assertRaisesRegex(TypeError, r"rewards is None.*p, R\)"):
        function((1,), None, *others, *model)
      with self.assertRaisesRegex(ValueError, r"shape \(1,\).*p, R\)"):
        function((1,), [1.0], *others, *model)
    with self.assertRaisesRegex(ValueError, "rewards has batch shape"):
      pm.phase_type.reward_moments(
        1, onp.ones((2, 1)), [1.0], onp.full((3, 1, 1), -1.0)
      )

  def test_models_that_are_no_tuples(self):
    start, matrix = [1.0, 0.0], [[-2.0, 1.0], [0.0, -1.0]]
    model = (start, matrix, None, None)
    for wrong in (start, (start, matrix), pd.Erlang(2, 1.0), 1.0):
      for function in (
        pm.phase_type.cross_entropy,
        pm.phase_type.kl_divergence,
      ):
        with self.assertRaisesRegex(TypeError, "model is .*tuple of initial_"):
          function(wrong, model)
        with self.assertRaisesRegex(TypeError, "other is .*tuple of initial_"):
          function(model, wrong)
    with self.assertRaisesRegex(TypeError, "model is .*subtransition"):
      pm.discrete_phase_type.kl_divergence((start, matrix), model)

  def test_no_value(self):
    with self.assertRaisesRegex(TypeError, "value is None"):
      pm.phase_type.log_prob(None, [1.0], [[-1.0]])

  def test_interval_that_ends_before_it_begins(self):
    with self.assertRaisesRegex(ValueError, r"upper\[1\] = 1"):
      observations.log_likelihood_terms(
        [1.0], [[-1.0]], [1.0, 3.0], [2.0, 1.0], validate_args=True
      )

  def test_validated_values_may_be_infinite(self):
    dist = pd.PhaseType([1.0], [[-1.0]], validate_args=True)
    self.assert_close(dist.cdf(math.inf), 1.0)
    with self.assertRaisesRegex(ValueError, "value = -1"):
      dist.cdf(-1.0)

  def test_arrays_are_not_shared(self):
    probs = onp.asarray([0.6, 0.4])
    dist = pd.PhaseType(probs, [[-1.0, 0.0], [0.0, -2.0]])
    before = self.host(dist.prob(1.0))
    probs[:] = [0.1, 0.9]
    self.assert_close(dist.prob(1.0), before, 0.0)

  def test_samples_of_what_never_ends(self):
    dist = pd.PhaseType([0.6, 0.4], [[-1.0, 1.0], [1.0, -1.0]])
    samples = self.host(dist.sample(3, seed=0))
    self.assertTrue(onp.all(samples == math.inf))

  def test_gradient_of_an_infinite_mean(self):

    def mean(rate):
      return pm.phase_type.mean(
        np.ones_like(rate)[None], -rate * onp.ones((1, 1))
      )

    value, slope = gradients.value_and_gradient(mean, np.asarray(0.0))
    self.assertEqual(float(value), math.inf)
    self.assertFalse(float(slope) == 0.0)


class DiagnoseTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    if kernel_ops.path() != "kernel":
      self.skipTest("the portable path diagnoses less")

  def test_edges(self):
    edges = pm.EdgeRates([0], [1], [-2.0])
    reason = pm.phase_type.diagnose([1.0, 2.0], [1.0], edges)
    self.assertEqual(onp.shape(reason), (2,))
    self.assertNotEqual(reason[0], "ok")

  def test_discrete(self):
    probs = pm.EdgeProbs([0, 0], [1, 1], [0.75, 0.75])
    reason = pm.discrete_phase_type.diagnose(3.0, [1.0], probs, method="prob")
    self.assertNotEqual(str(reason), "ok")

  def test_observations(self):
    reasons = pm.phase_type.diagnose(
      [1.0, 2.0], [1.0], [[-1.0]], upper=[2.0, 1.0]
    )
    self.assertEqual(str(reasons[0]), "ok")
    self.assertNotEqual(str(reasons[1]), "ok")

  @parameterized.parameters("mean", "variance", "stddev")
  def test_statistics(self, method):
    rates = onp.asarray(
      [[[-2.0, 1.0], [0.0, -1.0]], [[-2.0, -1.0], [0.0, -1.0]]]
    )
    found = pm.phase_type.diagnose(None, [1.0, 0.0], rates, method=method)
    self.assertEqual(str(found[0]), "ok")
    self.assertIn("off-diagonal", str(found[1]))
    found = pm.discrete_phase_type.diagnose(None, [1.0], [[1.5]], method=method)
    self.assertIn("row's sum", str(found))
    for given in ({"value": 1.0}, {"value": None, "upper": 1.0}):
      with self.assertRaisesRegex(ValueError, "is 1.0: it must be None"):
        pm.phase_type.diagnose(
          initial_probs=[1.0], subgenerator=[[-1.0]], method=method, **given
        )

  def test_method(self):
    with self.assertRaisesRegex(
      ValueError, "method is 'pdf'.*, cdf, .*, mean, "
    ):
      pm.phase_type.diagnose(1.0, [1.0], [[-1.0]], method="pdf")

  @test_case.of_bad_values
  def test_diagnosis_of_a_batch(self):
    # Three models of two phases: the second one has a negative rate.
    rates = onp.asarray([1.0, -1.0, 2.0])[:, None, None]
    matrix = onp.asarray([[-3.0, 1.0], [0.0, -1.0]]) * rates
    for path in self.paths():
      with kernel_ops.use_path(path):
        reasons = pm.phase_type.diagnose(0.5, [[0.5, 0.5]] * 3, matrix)
        reasons = onp.asarray(reasons).flatten()
        self.assertEqual((reasons == "ok").tolist(), [True, False, True])
        self.assertRegex(str(reasons[1]), "off-diagonal")
        arguments = 0.5, [1.0], [[-1.0]], [-1.0], 0.0
        self.assertRegex(
          str(pm.phase_type.diagnose(*arguments)), "exit_rates: "
        )


class WrappedTest(test_case.TestCase):
  """Tests distributions that cannot be made of another one."""

  def test_equilibrium_of_zero(self):
    nothing = pd.PhaseType([0.0], [[-1.0]], prob_zero=1.0)
    with self.assertRaisesRegex(
      ValueError, "mean of distribution .*must be > 0"
    ):
      pd.Equilibrium(nothing, validate_args=True).mean()

  def test_truncated_above_infinity(self):
    with self.assertWarnsRegex(RuntimeWarning, "low.*finite"):
      pd.TruncatedPhaseType(pd.NegativeBinomialTrials(2, 0.5), math.inf)


class WantedTest(test_case.TestCase):
  @parameterized.parameters(
    (("initial_probs",),), (("upper",),), (("lower", "subgenerator"),)
  )
  def test_of_observations(self, wanted):
    model = ([0.5, 0.5], [[-1.0, 0.2], [0.1, -2.0]])
    arguments = (*model, [0.5, 1.0, 2.0], [0.5, math.inf, 3.0])
    bar = onp.asarray([1.0, 2.0, 3.0])
    _, every = derivatives.vjp(
      observations.log_likelihood_terms, *arguments, cotangent=bar
    )
    _, some = derivatives.vjp(
      observations.log_likelihood_terms,
      *arguments,
      cotangent=bar,
      wanted=wanted,
    )
    names = ("initial_probs", "subgenerator", "lower", "upper")
    for name, x, y in zip(names, every, some, strict=False):
      if name in wanted:
        self.assert_close(y, self.host(x), 0.0)
      else:
        self.assertIsNone(y)


if __name__ == "__main__":
  absltest.main()
