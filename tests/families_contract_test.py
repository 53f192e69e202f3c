"""The contract of the distributions, for the families."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp
from scipy import stats

from phasic import distributions as pd
from phasic.internal import static
from tests import family_cases
from tests import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
if MODE == "tf":
  import tensorflow as tf

CASES = family_cases.CASES
NAMES = [name for name in CASES if name != "erlang_1000"]
if MODE == "jax":
  # Each of them is compiled.
  NAMES = ["hyper_erlang", "failures", "truncated"]


def _batched(case, shape):
  """A distribution with copies of the parameters in a batch."""
  arrays = {
    name: onp.broadcast_to(x, (*shape, *onp.shape(x))).copy()
    for name, x in case.parameters.items()
  }
  return case.build(**arrays)


class ContractTest(test_case.TestCase):
  """Names, shapes, dtypes, copies and slices."""

  @parameterized.parameters(*NAMES)
  def test_facts(self, name):
    case = CASES[name]
    dist = case.make(validate_args=True)
    self.assertEqual(dist.batch_shape, ())
    self.assertEqual(dist.event_shape, ())
    self.assertEqual(dist.dtype, "float64")
    self.assertEqual(dist.name, case.family)
    self.assertStartsWith(repr(dist), f"<{case.family} '{case.family}'")
    self.assertTrue(dist.validate_args)
    value = case.values[0]
    self.assert_close(dist.log_prob(value), case.make().log_prob(value), 1e-14)

  @parameterized.parameters(*NAMES)
  def test_batches(self, name):
    case = CASES[name]
    values = onp.asarray(case.values[:3])
    alone = self.host(case.make().log_prob(values))
    dist = _batched(case, (2, 1))
    self.assertEqual(dist.batch_shape, (2, 1))
    self.assertEqual(self.host(dist.batch_shape_tensor()).tolist(), [2, 1])
    expected = onp.broadcast_to(alone, (2, 3))
    self.assert_close(dist.log_prob(values), expected, 1e-13)
    part = dist[1]
    self.assertEqual(part.batch_shape, (1,))
    self.assert_close(part.log_prob(values), alone, 1e-13)
    self.assertEqual(dist[None, ..., 0].batch_shape, (1, 2))
    self.assertEqual(self.host(dist.sample(5, seed=1)).shape, (5, 2, 1))
    with self.assertRaises(IndexError):
      _ = dist[2]

  @parameterized.parameters(*NAMES)
  def test_float32(self, name):
    case = CASES[name]
    dist = case.make("float32")
    self.assertEqual(dist.dtype, "float32")
    value = onp.float32(case.values[1])
    found = [dist.log_prob(value), dist.cdf(value), dist.sample(2, seed=1)]
    if case.moments:
      found.append(dist.mean())
    for x in found:
      self.assertEqual(static.dtype_name(x), "float32")
    wide = self.host(case.make().log_prob(float(value)))
    self.assert_close(found[0], wide, 1e-4, 1e-4)

  @parameterized.parameters(*NAMES)
  def test_copies(self, name):
    case = CASES[name]
    dist = case.make()
    value = case.values[1]
    other = dist.copy(name="other")
    self.assertEqual((dist.name, other.name), (case.family, "other"))
    self.assert_close(other.log_prob(value), dist.log_prob(value), 0.0)
    again = type(dist)._unflatten(dist._parts())
    self.assert_close(again.log_prob(value), dist.log_prob(value), 0.0)
    for key in dist.parameter_properties():
      self.assertIs(getattr(dist, key), dist.parameters[key])

  @parameterized.parameters(*NAMES)
  def test_outside(self, name):
    case = CASES[name]
    dist = case.make()
    values = [-1.0, math.inf, math.nan]
    nan = math.nan
    self.assert_close(dist.log_prob(values), [-math.inf, -math.inf, nan])
    self.assert_close(dist.cdf(values), [0.0, 1.0, nan])
    self.assert_close(dist.survival_function(values), [1.0, 0.0, nan])
    with self.assertRaisesRegex(ValueError, r"value = -1\.0"):
      case.make(validate_args=True).log_prob(-1.0)

  @parameterized.parameters(*NAMES)
  def test_samples(self, name):
    case = CASES[name]
    dist = case.make()
    n = 2000
    x = self.host(dist.sample(n, seed=7))
    self.assert_close(dist.sample(n, seed=7), x, 0.0)
    if case.discrete or case.atom:
      # The largest difference at the values that are there.
      points = onp.unique(x)
      below = onp.searchsorted(onp.sort(x), points, side="right") / n
      distance = onp.max(onp.abs(below - self.host(dist.cdf(points))))
      self.assertLess(distance, 1.95 / math.sqrt(n))
    else:
      test = stats.kstest(x, lambda t: self.host(dist.cdf(t)))
      self.assertGreater(test.pvalue, 1e-3)

  @parameterized.parameters(*(n for n in NAMES if not CASES[n].discrete))
  def test_quantiles(self, name):
    dist = CASES[name].make()
    # A bound far out is too coarse for more.
    logs = onp.asarray([-3.0 if name == "truncated" else -600.0, -3.0, -0.1])
    for quantile, inverse in (
      (dist.quantile_log_cdf, dist.log_cdf),
      (dist.quantile_log_survival, dist.log_survival_function),
    ):
      x = self.host(quantile(logs))
      back = self.host(inverse(x))
      self.assert_close(back[x > 0], logs[x > 0], 1e-9)
    found = dist.quantile(onp.exp(logs[1:]))
    self.assert_close(found, self.host(dist.quantile_log_cdf(logs[1:])), 1e-9)

  @parameterized.parameters(*(n for n in NAMES if CASES[n].discrete))
  def test_quantiles_of_counts(self, name):
    dist = CASES[name].make()
    u = onp.asarray([1e-12, 0.25, 0.9])
    k = self.host(dist.quantile(u))
    self.assertTrue(onp.all(self.host(dist.cdf(k)) >= u))
    self.assertTrue(onp.all(self.host(dist.cdf(k - 1.0)) < u))
    self.assert_close(dist.quantile_log_survival(onp.log1p(-u[1:])), k[1:])

  def test_samples_of_a_batch_are_independent(self):
    base = pd.Erlang(2, onp.asarray([[1.0], [2.0]]))
    dist = pd.MatrixWeibull(base, onp.ones(3))
    x = self.host(dist.sample(400, seed=3))
    self.assertEqual(x.shape, (400, 2, 3))
    self.assert_close(onp.mean(x, axis=0)[0], onp.full(3, 2.0), 0.2)
    self.assert_close(onp.mean(x, axis=0)[1], onp.full(3, 1.0), 0.2)
    correlation = onp.corrcoef(onp.reshape(x, (400, 6)).T)
    self.assertLess(onp.max(onp.abs(correlation - onp.eye(6))), 0.25)

  @parameterized.parameters(
    *(name for name in NAMES if hasattr(CASES[name].make(), "as_phase_type"))
  )
  def test_dense_form(self, name):
    case = CASES[name]
    dist = case.make()
    dense = dist.as_phase_type()
    kind = pd.DiscretePhaseType if case.discrete else pd.PhaseType
    self.assertIs(type(dense), kind)
    self.assertEqual(dense.num_phases, dist.num_phases)
    values = onp.asarray(case.values)
    self.assert_close(dense.log_prob(values), dist.log_prob(values), 1e-11)
    self.assert_close(dense.mean(), dist.mean(), 1e-13)


class StructureTest(test_case.TestCase):
  """Counts of phases are structure."""

  @parameterized.parameters((2.0,), ("2",), (True,), (None,), (onp.asarray(2),))
  def test_counts_are_ints(self, count):
    for make in (
      lambda: pd.Erlang(count, 1.0),
      lambda: pd.NegativeBinomialTrials(count, 0.5),
      lambda: pd.NegativeBinomialFailures(count, 0.5),
      lambda: pd.HyperErlang([0.5, 0.5], (1, count), [1.0, 2.0]),
    ):
      with self.assertRaisesRegex(TypeError, "must be a Python int"):
        make()

  def test_counts_of_other_kinds(self):
    with self.assertRaisesRegex(TypeError, "arrays and traced values cannot"):
      pd.Erlang(np.asarray(2), 1.0)
    with self.assertRaisesRegex(TypeError, "list or tuple of Python ints"):
      pd.HyperErlang([0.5, 0.5], onp.asarray([1, 2]), [1.0, 2.0])
    with self.assertRaisesRegex(ValueError, "concentration is 0"):
      pd.Erlang(0, 1.0)
    with self.assertRaisesRegex(ValueError, "concentrations is empty"):
      pd.HyperErlang([0.5, 0.5], (), [1.0, 2.0])
    dist = pd.Erlang(onp.int64(3), 1.0)
    self.assertIs(type(dist.concentration), int)
    self.assertEqual(pd.HyperErlang([0.5, 0.5], [1, 2], [1, 2]).num_phases, 3)

  def test_compilations_are_shared(self):
    if MODE == "numpy":
      self.skipTest("NumPy does not compile")
    traces = []

    def log_prob(dist, value):
      traces.append(dist.concentration)
      return dist.log_prob(value)

    if MODE == "jax":
      compiled = jax.jit(log_prob)
      x = compiled(pd.Erlang(3, 1.0), 0.5)
      y = compiled(pd.Erlang(3, 2.0), 0.5)
      self.assertEqual(traces, [3])
      compiled(pd.Erlang(4, 2.0), 0.5)
      self.assertEqual(traces, [3, 4])
      leaves, structure = jax.tree.flatten(pd.Erlang(3, 1.0))
      self.assertLen(leaves, 1)
      self.assertEqual(jax.tree.unflatten(structure, leaves).concentration, 3)
      with self.assertRaisesRegex(TypeError, "must be a Python int"):
        jax.jit(lambda k: pd.Erlang(k, 1.0).mean())(3)
    else:
      spec = tf.TensorSpec([None], tf.float64)

      @tf.function(input_signature=[spec])
      def compiled(rates):
        return log_prob(pd.Erlang(3, rates), np.asarray(0.5))

      x = compiled(tf.constant([1.0], tf.float64))[0]
      y = compiled(tf.constant([2.0, 3.0], tf.float64))[0]
      self.assertEqual(traces, [3])
    for found, rate in ((x, 1.0), (y, 2.0)):
      self.assert_close(
        found, stats.gamma.logpdf(0.5, 3, scale=1 / rate), 1e-12
      )

  @parameterized.parameters("hyper_erlang", "weibull", "residual_life")
  def test_vectorised(self, name):
    if MODE != "jax":
      self.skipTest("JAX's vmap")
    case = CASES[name]
    batch = _batched(case, (3,))
    value = case.values[2]
    found = jax.vmap(lambda dist: dist.log_prob(value))(batch)
    self.assert_close(found, self.host(batch.log_prob(value)), 1e-13)

  def test_variables(self):
    if MODE != "tf":
      self.skipTest("TensorFlow's variables")
    rate = tf.Variable(1.0, dtype=tf.float64)
    power = tf.Variable(2.0, dtype=tf.float64)
    dist = pd.MatrixWeibull(pd.Erlang(2, rate), power)
    self.assertLen(dist.trainable_variables, 2)
    before = self.host(dist.log_prob(1.5))
    rate.assign(3.0)
    power.assign(1.0)
    self.assert_close(
      dist.log_prob(1.5), stats.gamma.logpdf(4.5, 2) + math.log(3)
    )
    self.assertNotEqual(float(before), float(self.host(dist.log_prob(1.5))))


_HALF = [0.5, 0.5]
_ERLANG = pd.Erlang(2, 1.0)
_TRIALS = pd.NegativeBinomialTrials(2, 0.5)


class ErrorsTest(test_case.TestCase):
  """Messages name the argument, the value and the rule."""

  @parameterized.named_parameters(
    ("sum", pd.Hyperexponential, ([0.5, 0.75], [1, 2]), r"probs.*1.25.*be 1"),
    ("probs", pd.Hyperexponential, ([-0.5, 1.5], [1, 2]), r"probs\[0\] = -0.5"),
    ("rates", pd.Hyperexponential, (_HALF, [1, -2]), r"rates\[1\] = -2.0.*> 0"),
    ("hypo", pd.Hypoexponential, ([1, math.inf],), r"rates\[1\] = inf.*finite"),
    ("nan", pd.Erlang, (2, math.nan), r"rate = nan: it must be > 0"),
    (
      "hyper_erlang",
      pd.HyperErlang,
      (_HALF, (1, 2), [0, 1]),
      r"rates\[0\] = 0",
    ),
    ("coxian", pd.Coxian, ([-1], [1, 1]), r"progression_rates\[0\] = -1.0"),
    ("last_exit", pd.Coxian, ([1], [1, 0]), r"exit_rates\[1\] = 0.0.*last"),
    ("order", pd.AcyclicPhaseType, (_HALF, [2, 1]), r"rates\[1\].*ascending"),
    ("mass", pd.AcyclicPhaseType, ([1, 1], [1, 2]), r"initial_probs.*<= 1"),
    ("mixture", pd.GeometricMixture, ([1, 1], _HALF), r"mixture_probs.*be 1"),
    (
      "success",
      pd.GeometricMixture,
      (_HALF, [0, 1]),
      r"success_probs\[0\] = 0",
    ),
    ("trials", pd.NegativeBinomialTrials, (2, 1.5), r"probs = 1.5.*\(0, 1\]"),
    ("failures", pd.NegativeBinomialFailures, (2, 0), r"probs = 0.0.*\(0, 1\]"),
    ("power", pd.MatrixWeibull, (_ERLANG, 0), r"concentration = 0.0.*> 0"),
    ("scale", pd.MatrixPareto, (_ERLANG, -1), r"scale = -1.0.*> 0"),
    ("growth", pd.MatrixGompertz, (_ERLANG, -1), r"growth_rate = -1.0.*> 0"),
    ("atom", pd.ZeroInflated, (_ERLANG, 1.5), r"prob_zero = 1.5.*\[0, 1\]"),
    ("time", pd.ResidualLife, (_ERLANG, -1), r"time = -1.0.*>= 0"),
    ("bounds", pd.TruncatedPhaseType, (_ERLANG, 2, 1), r"high = 1.0.*low"),
  )
  def test_values(self, family, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      family(*arguments, validate_args=True)
    self.assertIsNotNone(family(*arguments))

  @parameterized.named_parameters(
    ("scalar", pd.Hypoexponential, (1.0,), ValueError, r"rates has shape \(\)"),
    ("empty", pd.Hypoexponential, ([],), ValueError, r"rates has shape \(0,\)"),
    ("sizes", pd.Hyperexponential, (_HALF, [1]), ValueError, r"rates.*, 2\)"),
    (
      "counts",
      pd.HyperErlang,
      (_HALF, (1,), _HALF),
      ValueError,
      r"probs.*, 1\)",
    ),
    ("coxian", pd.Coxian, ([1, 1], [1, 1]), ValueError, r"\(2,\).*p - 1"),
    (
      "batches",
      pd.Hyperexponential,
      (onp.full((2, 2), 0.5), onp.ones((3, 2))),
      ValueError,
      "do not broadcast",
    ),
    (
      "dtypes",
      pd.MatrixWeibull,
      (_ERLANG, onp.float32(1)),
      TypeError,
      "float32",
    ),
    ("base", pd.ZeroInflated, (1.0, 0.5), TypeError, "distribution is float"),
    ("discrete", pd.MatrixPareto, (_TRIALS, 1), TypeError, "continuous time"),
  )
  def test_structure(self, family, arguments, error, message):
    with self.assertRaisesRegex(error, message):
      family(*arguments)

  def test_probabilities_that_do_not_sum_to_one(self):
    # Without checks no mass is put anywhere: results are NaN.
    dist = pd.Hyperexponential([0.5, 0.25], [1.0, 2.0])
    self.assert_close(dist.log_prob(1.0), math.nan)
    self.assert_close(dist.mean(), math.nan)
    self.assertRegex(str(dist.diagnose(1.0)), "prob_zero")

  def test_moments_that_are_not_known(self):
    dist = pd.MatrixWeibull(_ERLANG, 2.0)
    for method in (dist.mean, dist.variance, dist.stddev):
      with self.assertRaisesRegex(NotImplementedError, "no closed form"):
        method()


class EdgesTest(test_case.TestCase):
  """Where families meet their limits."""

  def test_coxian_from_probs(self):
    rates, probs = onp.asarray([2.0, 1.0, 4.0]), onp.asarray([0.25, 0.5])
    dist = pd.Coxian.from_probs(rates, probs, name="stay")
    self.assertEqual(dist.name, "stay")
    self.assert_close(dist.progression_rates, [0.5, 0.5])
    self.assert_close(dist.exit_rates, [1.5, 0.5, 4.0])
    single = pd.Coxian.from_probs([2.0], [])
    self.assert_close(single.mean(), 0.5)
    batch = pd.Coxian.from_probs(rates, onp.stack([probs, probs]))
    self.assertEqual(batch.batch_shape, (2,))
    with self.assertRaisesRegex(ValueError, "continuation_probs"):
      pd.Coxian.from_probs(rates, rates)

  def test_erlang_of_rates_from_tiny_to_huge(self):
    rates = onp.asarray([1e-200, 1.0, 1e200])
    dist = pd.Erlang(5, rates)
    self.assert_close(dist.mean(), 5 / rates, 1e-14)
    expected = stats.gamma.logsf(4.0, 5)
    self.assert_close(
      dist.log_survival_function(4.0 / rates), onp.full(3, expected), 1e-12
    )

  def test_negative_binomial_with_powers_that_underflow(self):
    dist = pd.NegativeBinomialFailures(1000, 1e-10)
    counts = onp.asarray([0.0, 1.0, 5.0])
    expected = stats.nbinom(1000, 1e-10).logpmf(counts)
    self.assert_close(dist.log_prob(counts), expected, 1e-12)

  @parameterized.parameters(
    (pd.MatrixWeibull, (2.0,), 0.0),
    (pd.MatrixWeibull, (1.0,), 3.0),
    (pd.MatrixWeibull, (0.5,), math.inf),
    (pd.MatrixPareto, (2.0,), 1.5),
    (pd.MatrixGompertz, (2.0,), 3.0),
    (pd.MatrixLogNormal, (1.0,), 3.0),
    (pd.MatrixLogLogistic, (2.0, 1.0), 1.5),
  )
  def test_densities_at_zero(self, family, arguments, expected):
    base = pd.Hypoexponential([3.0])
    self.assert_close(family(base, *arguments).prob(0.0), expected, 1e-14)
    inflated = family(pd.ZeroInflated(base, 0.25), *arguments)
    self.assert_close(inflated.prob(0.0), 0.25, 1e-14)
    self.assert_close(inflated.cdf(0.0), 0.25, 1e-14)

  def test_times_that_underflow_are_unknown(self):
    dist = pd.MatrixWeibull(pd.Erlang(2, 1.0), 2.0)
    self.assert_close(dist.log_prob(1e-160), math.nan)
    self.assertTrue(onp.isfinite(self.host(dist.log_prob(1e-150))))

  def test_an_atom_that_is_truncated(self):
    base = pd.ZeroInflated(pd.Hypoexponential([1.0]), 0.5)
    whole = pd.TruncatedPhaseType(base, 0.0, math.log(2.0))
    self.assert_close(whole.cdf([0.0, math.log(2.0)]), [2 / 3, 1.0], 1e-14)
    beyond = pd.TruncatedPhaseType(base, 0.5)
    self.assert_close(beyond.log_survival_function(1.5), -1.0, 1e-13)
    self.assert_close(beyond.cdf([0.0, 0.25, 0.5]), [0.0, 0.0, 0.0])

  def test_moments_without_an_upper_bound(self):
    rates = onp.asarray([2.0, 2.0])
    dist = pd.TruncatedPhaseType(
      pd.Hypoexponential(rates[:1]), [-1.0, 0.0, 3.0]
    )
    self.assert_close(dist.mean(), [0.5, 0.5, 3.5], 1e-13)
    self.assert_close(dist.stddev(), onp.full(3, 0.5), 1e-13)
    trials = pd.TruncatedPhaseType(pd.NegativeBinomialTrials(1, 0.25), [1, 3])
    self.assert_close(trials.mean(), [4.0, 6.0], 1e-13)
    self.assert_close(trials.variance(), onp.full(2, 12.0), 1e-13)
    bounded = dist.copy(high=5.0)
    with self.assertRaisesRegex(NotImplementedError, "no mean: .*upper bound"):
      bounded.mean()

  def test_a_narrow_interval_far_out(self):
    dist = pd.TruncatedPhaseType(pd.Hypoexponential([1.0]), 600.0, 600.0 + 1e-9)
    width = (600.0 + 1e-9) - 600.0
    mass = -math.expm1(-width)
    self.assert_close(dist.log_prob(600.0), -math.log(mass), 1e-12)

  def test_the_residual_life_of_an_exponential_time(self):
    dist = pd.ResidualLife(pd.Hypoexponential([2.0]), [0.0, 1.0, 300.0])
    self.assert_close(dist.mean(), onp.full(3, 0.5), 1e-13)
    gone = pd.ResidualLife(pd.Hypoexponential([2.0]), 1000.0)
    self.assert_close(gone.log_prob(1.0), math.nan)


if __name__ == "__main__":
  absltest.main()
