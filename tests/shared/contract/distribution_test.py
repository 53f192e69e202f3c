"""The contract of the distributions, for PhaseType."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import math as pm
from phasic.internal import kernel_ops
from phasic.internal import static
from tests.helpers import models
from tests.helpers import test_case

_GOOD = {
  "initial_probs": [0.3, 0.6],
  "subgenerator": [[-2.0, 1.0], [0.5, -1.0]],
}


def _batch():
  """Builds a batch of shape (2, 3)."""
  alpha = onp.asarray([[0.3, 0.6], [1.0, 0.0]])[:, None]
  matrix = onp.asarray(_GOOD["subgenerator"])
  return pd.PhaseType(alpha, matrix * onp.arange(1, 4)[:, None, None])


class ContractTest(test_case.TestCase):
  """Tests names, shapes, copies and slices."""

  def test_methods_are_the_functions(self):
    dist = pd.PhaseType(**_GOOD)
    model = tuple(_GOOD.values())
    times = onp.asarray([0.0, 0.5, 2.0])
    for method, function in (
      (dist.log_prob, pm.phase_type.log_prob),
      (dist.prob, pm.phase_type.prob),
      (dist.log_cdf, pm.phase_type.log_cdf),
      (dist.cdf, pm.phase_type.cdf),
      (dist.log_survival_function, pm.phase_type.log_survival_function),
      (dist.survival_function, pm.phase_type.survival_function),
    ):
      self.assert_close(method(times), function(times, *model), 0.0)

  def test_moments(self):
    dist = pd.PhaseType(**_GOOD)
    self.assert_close(dist.mean(), 1.4)
    self.assert_close(dist.variance(), 2.44)
    self.assert_close(dist.stddev(), math.sqrt(2.44))

  def test_facts(self):
    dist = _batch()
    self.assertEqual(dist.batch_shape, (2, 3))
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(self.host(dist.batch_shape_tensor()).tolist(), [2, 3])
    self.assertEqual(self.host(dist.event_shape_tensor()).tolist(), [])
    self.assertEqual(dist.dtype, "float64")
    self.assertEqual(dist.name, "PhaseType")
    self.assertEqual(dist.num_phases, 2)
    self.assertIs(dist.reparameterization_type, pd.FULLY_REPARAMETERIZED)
    self.assertEqual(
      repr(dist),
      "<PhaseType 'PhaseType' batch_shape=(2, 3), event_shape=(), "
      "dtype=float64, initial_probs=[[[0.3, 0.6]], [[1, 0]]]>",
    )

  def test_text_has_small_parameters(self):
    dist = pd.PhaseType([0.5, 0.25], [[-2.0, 1.0], [0.0, -1.0]])
    self.assertEqual(
      repr(dist),
      "<PhaseType 'PhaseType' batch_shape=(), event_shape=(), dtype=float64, "
      "initial_probs=[0.5, 0.25], subgenerator=[[-2, 1], [0, -1]]>",
    )

  def test_median(self):
    rates = onp.asarray([0.5, 2.0, 8.0])
    dist = pd.PhaseType([1.0], -rates[:, None, None])
    self.assert_close(dist.median(), math.log(2.0) / rates, rtol=1e-14)

  def test_parameters(self):
    dist = pd.PhaseType(**_GOOD, name="waiting")
    self.assertEqual(
      list(dist.parameters),
      [
        "initial_probs",
        "subgenerator",
        "exit_rates",
        "prob_zero",
        "validate_args",
        "allow_nan_stats",
        "name",
      ],
    )
    self.assertEqual(dist.parameters["name"], "waiting")
    self.assertIsNone(dist.exit_rates)
    properties = pd.PhaseType.parameter_properties()
    self.assertEqual(
      {name: p.event_ndims for name, p in properties.items()},
      {"initial_probs": 1, "subgenerator": 2, "exit_rates": 1, "prob_zero": 0},
    )

  def test_copy(self):
    dist = pd.PhaseType(**_GOOD)
    other = dist.copy(initial_probs=[0.0, 1.0], name="other")
    self.assertEqual((dist.name, other.name), ("PhaseType", "other"))
    self.assert_close(other.prob_zero or 0.0, 0.0)
    self.assert_close(other.cdf(0.0), 0.0)
    self.assert_close(dist.cdf(0.0), 0.1)

  @parameterized.parameters(
    ((0,), (3,)),
    ((slice(None), 1), (2,)),
    ((..., slice(1, None)), (2, 2)),
    ((1, 2), ()),
    ((None, 0), (1, 3)),
    ((...,), (2, 3)),
    ((onp.int64(1),), (3,)),
    ((..., onp.uint8(2)), (2,)),
    ((onp.asarray(-2), onp.int32(-3)), ()),
    ((slice(onp.int64(1), None), 0), (1,)),
  )
  def test_slices(self, index, shape):
    dist = _batch()
    part = dist[index]
    self.assertEqual(part.batch_shape, shape)
    whole = self.host(dist.mean())
    self.assert_close(part.mean(), whole[index], 1e-14)

  def test_bad_slices(self):
    with self.assertRaisesRegex(IndexError, "index has 3 entries"):
      _ = _batch()[0, 0, 0]
    with self.assertRaisesRegex(TypeError, "index is"):
      _ = _batch()[onp.asarray([0, 1])]
    for index in (True, False, onp.True_, (0, True), 1.0, onp.asarray([True])):
      with self.assertRaisesRegex(TypeError, "index is"):
        _ = _batch()[index]
    with self.assertRaisesRegex(IndexError, "at most one"):
      _ = _batch()[..., ...]
    for index in (2, -3, (0, 3), (..., 3), (None, 2), (slice(None), ..., -4)):
      with self.assertRaisesRegex(IndexError, r"out of range: .*\(2, 3\)"):
        _ = _batch()[index]
    with self.assertRaisesRegex(TypeError, "not iterable"):
      list(_batch())

  def test_arrays_are_not_the_callers(self):
    # Large arrays too, whose memory a backend may share.
    for p in (2, 256):
      arrays = {
        "initial_probs": onp.full(p, 1 / p),
        "subgenerator": -2.0 * onp.eye(p),
        "exit_rates": onp.full(p, 2.0),
        "prob_zero": onp.zeros(4),
      }
      dist = pd.PhaseType(**arrays)
      for x in arrays.values():
        x[...] = 0.125
      self.assert_close(dist.cdf(0.5), onp.full(4, -math.expm1(-1.0)))
    graph = pg.Graph.from_transitions(lambda _: [(pg.ABSORBED, [1.0])], 0, 1)
    params = onp.full((256, 1), 2.0)
    dist = pd.PhaseType.from_graph(graph, params)
    params[...] = 0.125
    self.assert_close(dist.cdf(0.5), onp.full(256, -math.expm1(-1.0)))

  def test_float32(self):
    arrays = {k: onp.asarray(v, onp.float32) for k, v in _GOOD.items()}
    dist = pd.PhaseType(**arrays)
    self.assertEqual(dist.dtype, "float32")
    for x in (dist.log_prob(1), dist.mean(), dist.sample(3, seed=1)):
      self.assertEqual(static.dtype_name(x), "float32")

  @test_case.of_bad_values
  def test_infinite_mean(self):
    dist = pd.PhaseType([0.5, 0.5], [[-1.0, 1.0], [0.0, 0.0]])
    self.assert_close(dist.mean(), math.inf)
    unreached = dist.copy(
      initial_probs=[1.0, 0.0], subgenerator=[[-2.0, 0.0], [1.0, -1.0]]
    )
    self.assert_close(unreached.mean(), 0.5)

  @test_case.of_bad_values
  def test_nan_statistics_can_be_refused(self):
    dist = pd.PhaseType([0.3, 0.9], _GOOD["subgenerator"])
    self.assert_close(dist.mean(), math.nan)
    with self.assertRaisesRegex(ValueError, "mean is NaN"):
      dist.copy(allow_nan_stats=False).mean()

  def test_unflatten_does_not_look(self):
    dist = pd.PhaseType(**_GOOD)
    parameters = {**dist.parameters, "initial_probs": object()}
    other = pd.PhaseType._unflatten(parameters)
    self.assertIs(other.initial_probs, parameters["initial_probs"])
    self.assertIn("PhaseType", repr(other))


class FallbackTest(test_case.TestCase):
  """Tests default implementations of methods."""

  def test_from_log_density_and_log_cdf(self):
    class Exponential(pd.Distribution):
      def __init__(self, rate):
        super().__init__(
          {
            "rate": rate,
            "validate_args": False,
            "allow_nan_stats": True,
            "name": "Exponential",
          }
        )

      @classmethod
      def _parameter_properties(cls):
        return {"rate": pd.ParameterProperties(0, "nonnegative")}

      def _prob(self, value):
        return self._parameters["rate"] * self._survival_function(value)

      def _cdf(self, value):
        rate = self._parameters["rate"]
        return pd.PhaseType([1.0], [[-1.0]]).cdf(rate * value)

      def _stddev(self):
        return 1 / self._parameters["rate"]

    dist = Exponential(2.0)
    self.assert_close(dist.log_prob(1.0), math.log(2) - 2.0, 1e-12)
    self.assert_close(dist.survival_function(1.0), math.exp(-2))
    self.assert_close(dist.log_survival_function(1.0), -2.0, 1e-12)
    self.assert_close(dist.log_cdf(1.0), math.log(-math.expm1(-2.0)))
    self.assert_close(dist.variance(), 0.25)
    for call, message in (
      (dist.mean, "mean: its class must define _mean"),
      (lambda: dist.moment(3), r"moment\(3\): its class must define _moment"),
      (lambda: dist.quantile(0.5), "quantile: its class must define _quantile"),
      (lambda: dist.sample(seed=1), "sample: its class must define _sample_n"),
      (
        lambda: dist._log_observed_by(0.0, 1.0, "a"),
        "observations with a cause: drop the causes, or take a distribution of",
      ),
    ):
      with self.assertRaisesRegex(
        NotImplementedError,
        f"^Exponential has no (probabilities of )?{message}",
      ):
        call()


class ValidationTest(test_case.TestCase):
  """Tests that messages have the argument, the value and the rule."""

  @parameterized.named_parameters(
    ("alpha", {"initial_probs": [-0.5, 0.6]}, r"initial_probs\[0\] = -0.5.*>="),
    ("mass", {"initial_probs": [0.5, 0.75]}, r"initial_probs.*1.25.*<= 1"),
    (
      "off_diagonal",
      {"subgenerator": [[-1.0, -0.5], [0.0, -1.0]]},
      r"subgenerator\[0, 1\] = -0.5: off-diagonals",
    ),
    (
      "row_sum",
      {"subgenerator": [[-1.0, 0.5], [2.0, -1.0]]},
      r"row sum of subgenerator\[1\] = 1.0",
    ),
    (
      "nan",
      {"subgenerator": [[-1.0, math.nan], [0.0, -1.0]]},
      r"subgenerator\[0, 1\] = nan.*finite",
    ),
    (
      "diagonal",
      {"exit_rates": [1.0, 2.0]},
      r"diagonal of subgenerator.*= -1.0: it must be minus",
    ),
    ("exits", {"exit_rates": [-1.0, 0.5]}, r"exit_rates\[0\] = -1.0.*>= 0"),
    ("atom", {"prob_zero": 1.5}, r"prob_zero = 1.5.*\[0, 1\]"),
    ("total", {"prob_zero": 0.5}, r"initial_probs\) \+ prob_zero.*1.4.*be 1"),
  )
  @test_case.of_bad_values
  def test_parameters(self, changes, message):
    arguments = {**_GOOD, **changes}
    with self.assertRaisesRegex(ValueError, message):
      pd.PhaseType(**arguments, validate_args=True)
    self.assertIsNotNone(pd.PhaseType(**arguments))

  @parameterized.parameters(-1.0, -math.inf, math.nan)
  def test_times(self, time):
    dist = pd.PhaseType(**_GOOD, validate_args=True)
    with self.assertRaisesRegex(ValueError, r"value\[1\] = .*: it must be"):
      dist.log_prob([0.5, time])
    with self.assertRaisesRegex(ValueError, "value = .*: it must be"):
      dist.cdf(time)

  def test_good_values_pass(self):
    plain = pd.PhaseType(**_GOOD)
    checked = plain.copy(
      validate_args=True, exit_rates=[1.0, 0.5], prob_zero=0.1
    )
    self.assert_close(checked.log_prob(1.0), plain.log_prob(1.0))
    self.assert_close(checked.mean(), plain.mean())

  def test_structure_errors_always_raise(self):
    with self.assertRaisesRegex(ValueError, "phases p must agree"):
      pd.PhaseType([1.0], _GOOD["subgenerator"])
    with self.assertRaisesRegex(TypeError, "float32.*float64"):
      pd.PhaseType(onp.ones(1, onp.float32), -onp.ones((1, 1)))
    with self.assertRaisesRegex(TypeError, "value has dtype complex"):
      pd.PhaseType(onp.ones(1), -onp.ones((1, 1))).prob(1j)

  @parameterized.parameters(
    "log_prob",
    "prob",
    "log_survival_function",
    "survival_function",
    "log_cdf",
    "cdf",
    "diagnose",
  )
  def test_messages_call_the_value_value(self, method):
    call = getattr(_batch(), method)
    for value, error, message in (
      (onp.ones(2), ValueError, r"value has shape \(2,\).*broadcast.*\(2, 3\)"),
      (onp.ones(3, complex), TypeError, "value has dtype complex"),
      ([1.0, [2.0]], ValueError, "value is ragged: it must be"),
    ):
      with self.assertRaisesRegex(error, message):
        call(value)

  @test_case.of_bad_values
  def test_diagnosis(self):
    good = pd.PhaseType(**_GOOD)
    reasons = good.diagnose([0.5, math.nan])
    self.assertEqual(reasons.shape, (2,))
    self.assertEqual(reasons[0], "ok")
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assertEqual(good.diagnose(math.nan), "value: is NaN")
    bad = good.copy(subgenerator=[[-1.0, -0.5], [0.0, -1.0]])
    self.assertRegex(str(bad.diagnose(1.0)), "off-diagonal")
    self.assert_close(bad.log_prob(1.0), math.nan)

  @parameterized.parameters(
    "log_prob",
    "prob",
    "log_survival_function",
    "survival_function",
    "log_cdf",
    "cdf",
  )
  def test_diagnosis_of_a_method(self, method):
    # Survival is likely; absorption is too unlikely for some paths.
    dist = pd.PhaseType(*models.hypoexponential([1e-6] * 60 + [1e3]))
    times = onp.asarray([1e-10, 1.0, math.nan])
    for path in self.paths():
      with kernel_ops.use_path(path):
        reasons = dist.diagnose(times, method=method)
        known = ~onp.isnan(self.host(getattr(dist, method)(times)))
        self.assertEqual((reasons == "ok").tolist(), known.tolist())
        if "survival" in method:
          self.assertEqual(known.tolist(), [True, True, False])

  def test_diagnosis_of_an_unknown_method(self):
    with self.assertRaisesRegex(ValueError, "method is 'pdf'.*one of log_prob"):
      pd.PhaseType(**_GOOD).diagnose(1.0, "pdf")


if __name__ == "__main__":
  absltest.main()
