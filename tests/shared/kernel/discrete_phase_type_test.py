"""Functions of discrete phase-type distributions against closed forms."""

import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp
from scipy import special

from phasic import math as pm
from phasic.internal import kernel_ops
from tests.helpers import derivatives
from tests.helpers import test_case
from tests.helpers import trials

_COUNTS = onp.arange(0, 60)
_KINDS = (
  "log_prob",
  "prob",
  "log_survival_function",
  "survival_function",
  "log_cdf",
  "cdf",
)


def _function(name):
  return getattr(pm.discrete_phase_type, name)


def _log_negative_binomial(p, prob, counts):
  """Computes log P(p-th success in trial k), -inf for k < p."""
  with onp.errstate(all="ignore"):
    value = (
      special.gammaln(counts)
      - math.lgamma(p)
      - special.gammaln(counts - p + 1)
      + p * math.log(prob)
      + (counts - p) * math.log1p(-prob)
    )
  return onp.where(counts < p, -math.inf, value)


class ClosedFormTest(test_case.TestCase):
  """Tests both paths, including far tails."""

  @parameterized.parameters(0.5, 0.125, 2.0**-10, 2.0**-30)
  def test_geometric(self, prob):
    model = ([1.0], [[1 - prob]])
    counts = onp.asarray([1.0, 2.0, 17.0, 900.0])
    stay = math.log1p(-prob)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          pm.discrete_phase_type.log_prob(counts, *model),
          math.log(prob) + (counts - 1) * stay,
        )
        self.assert_close(
          pm.discrete_phase_type.log_survival_function(counts, *model),
          counts * stay,
          atol=1e-15,
        )
        self.assert_close(
          pm.discrete_phase_type.cdf(counts, *model), -onp.expm1(counts * stay)
        )

  @parameterized.parameters((1, 0.25), (3, 0.5), (7, 0.3), (20, 0.9))
  def test_negative_binomial(self, p, prob):
    expected = _log_negative_binomial(p, prob, _COUNTS)
    cdf = onp.where(
      p > _COUNTS,
      0.0,
      special.betainc(p, onp.maximum(_COUNTS - p + 1, 1), prob),
    )
    alpha, matrix = trials.dense(p, prob)
    exits = prob * onp.eye(p)[-1]
    for path in self.paths():
      with kernel_ops.use_path(path):
        for model in (
          (alpha, matrix),
          (alpha, matrix, exits),
          (alpha, trials.edges(p, prob)),
          (alpha, trials.edges(p, prob, loops=True)),
        ):
          value = self.host(pm.discrete_phase_type.log_prob(_COUNTS, *model))
          self.assert_close(value[:p], expected[:p])
          self.assert_close(value[p:], expected[p:], 1e-12, 1e-12)
          self.assert_close(
            pm.discrete_phase_type.cdf(_COUNTS, *model), cdf, 1e-12
          )

  def test_left_tail_of_the_cdf(self):
    # The chance of 30 successes in 30 trials.
    alpha, matrix = trials.dense(30, 2.0**-27)
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.log_cdf([29, 30], alpha, matrix)
        self.assert_close(value, [-math.inf, -810 * math.log(2)])

  def test_log_prob_of_minus_700(self):
    alpha, matrix = trials.dense(2, 0.5)
    counts = onp.asarray([1000.0, 1030.0])
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.log_prob(counts, alpha, matrix)
        expected = onp.log(counts - 1) + counts * math.log(0.5)
        self.assert_close(value, expected, 1e-13)

  def test_periodic_chain(self):
    # Even counts are impossible, despite slow and fast cycles.
    matrix = onp.zeros((4, 4))
    matrix[0, 1] = matrix[1, 0] = 0.75
    matrix[2, 3], matrix[3, 2] = 0.5, 1.0
    exits = onp.asarray([0.25, 0.25, 0.5, 0.0])
    alpha = onp.asarray([0.0, 0.0, 1.0, 0.0])
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.log_prob(_COUNTS, alpha, matrix, exits)
        expected = onp.where(
          _COUNTS % 2 == 1, (_COUNTS + 1) // 2 * math.log(0.5), -math.inf
        )
        self.assert_close(value, expected)

  def test_atom(self):
    for atom in (None, 0.25):
      for path in self.paths():
        with kernel_ops.use_path(path):
          model = ([0, 1, 2], [0.75], [[0.5]], None, atom)
          self.assert_close(
            pm.discrete_phase_type.prob(*model), [0.25, 0.375, 0.1875]
          )
          self.assert_close(
            pm.discrete_phase_type.cdf(*model), [0.25, 0.625, 0.8125]
          )
          self.assert_close(
            pm.discrete_phase_type.survival_function(*model),
            [0.75, 0.375, 0.1875],
          )

  def test_deterministic(self):
    alpha, matrix = onp.eye(5)[0], onp.diag(onp.ones(4), 1)
    for path in self.paths():
      with kernel_ops.use_path(path):
        self.assert_close(
          pm.discrete_phase_type.prob(onp.arange(8), alpha, matrix),
          onp.eye(8)[5],
        )


class CountTest(test_case.TestCase):
  """Tests non-integer, negative, infinite, NaN and huge counts."""

  @parameterized.parameters(
    ("log_prob", [-math.inf] * 4 + [math.log(0.25), -math.inf, math.nan]),
    ("prob", [0.0] * 4 + [0.25, 0.0, math.nan]),
    (
      "log_survival_function",
      [0, 0, 0, 0, math.log(0.25), -math.inf, math.nan],
    ),
    ("survival_function", [1.0, 1.0, 1.0, 1.0, 0.25, 0.0, math.nan]),
    ("log_cdf", [-math.inf] * 4 + [math.log(0.75), 0.0, math.nan]),
    ("cdf", [0.0, 0.0, 0.0, 0.0, 0.75, 1.0, math.nan]),
  )
  def test_counts(self, kind, expected):
    counts = [-math.inf, -1.0, -0.5, 0.0, 2.0, math.inf, math.nan]
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = _function(kind)(counts, [1.0], [[0.5]])
        self.assert_close(value, expected)

  def test_between_counts(self):
    counts = [5e-324, 0.5, 1.5, 2.999]
    for path in self.paths():
      with kernel_ops.use_path(path):
        model = (counts, [0.5], [[0.5]])
        self.assert_close(pm.discrete_phase_type.prob(*model), onp.zeros(4))
        self.assert_close(
          pm.discrete_phase_type.survival_function(*model),
          [0.5, 0.5, 0.25, 0.125],
        )
        self.assert_close(
          pm.discrete_phase_type.cdf(*model), [0.5, 0.5, 0.75, 0.875]
        )

  def test_more_than_the_work_limit(self):
    for path in self.paths():
      with kernel_ops.use_path(path):
        counts = [1.0, 1e12, 1e19]
        value = pm.discrete_phase_type.log_prob(counts, [1.0], [[0.5]])
        far = 1e12 * math.log(0.5) if path == "kernel" else math.nan
        self.assert_close(value, [math.log(0.5), far, math.nan])

  def test_never_absorbed_beyond_the_work_limit(self):
    # The value is known, but the derivative needs too many steps.
    self.require_kernel()
    for k in (1e9, 1e18, 1e300):
      value, bars = derivatives.vjp(
        pm.discrete_phase_type.prob, k, [1.0], [[1.0]], cotangent=1.0
      )
      self.assert_close(value, 0.0)
      # T^(k-1) (1 - T) has the slope -1 there.
      expected = -1.0 if k < 2.0**60 else math.nan
      self.assert_close(self.host(bars[2])[0, 0], expected)

  def test_a_count_does_not_depend_on_others(self):
    self.require_kernel()
    state = onp.random.RandomState(3)
    matrix = state.dirichlet(onp.ones(6), 5)[:, :5]
    model = (onp.full(5, 0.2), matrix)
    counts = onp.asarray([40, 3, 3, 17, 1, 0, 900])
    for kind in _KINDS:
      together = self.host(_function(kind)(counts, *model))
      alone = [self.host(_function(kind)(k, *model)) for k in counts]
      onp.testing.assert_array_equal(together, alone)

  def test_integers(self):
    value = pm.discrete_phase_type.prob(
      onp.arange(3, dtype=onp.int64), [1.0], [[0.5]]
    )
    self.assert_close(value, [0.0, 0.5, 0.25])


class RulesTest(test_case.TestCase):
  """Tests that invalid values give NaN, and a status with the rule."""

  @parameterized.named_parameters(
    ("row", [1.0, 0.0], [[0.5, 0.6], [0.0, 0.5]], None, "must not exceed one"),
    ("diagonal", [1.0, 0.0], [[-0.1, 0.6], [0.0, 0.5]], None, "non-negative"),
    ("nan", [1.0, 0.0], [[math.nan, 0.6], [0.0, 0.5]], None, "finite"),
    ("mass", [0.8, 0.4], [[0.1, 0.6], [0.0, 0.5]], None, "sum must not exceed"),
    ("above", [1.0, 0.0], [[0.5, 0.25], [0.0, 0.5]], [0.5, 0.5], "exceed one"),
    ("below", [1.0, 0.0], [[0.5, 0.25], [0.0, 0.5]], [0.2, 0.5], "sum to one"),
    ("exit", [1.0, 0.0], [[0.5, 0.5], [0.0, 0.5]], [-0.5, 1.0], "exit_rates"),
  )
  @test_case.of_bad_values
  def test_bad_values(self, alpha, matrix, exits, reason):
    for path in self.paths():
      for kind in _KINDS:
        with kernel_ops.use_path(path):
          value = _function(kind)([0.0, 1.0], alpha, matrix, exits)
          self.assert_close(value, [math.nan, math.nan])
    self.require_kernel()
    operands = [
      onp.asarray(alpha),
      onp.asarray(matrix),
      onp.zeros(0) if exits is None else onp.asarray(exits),
      onp.zeros(0),
      onp.asarray([1.0]),
    ]
    codes = kernel_ops.status("density", operands, discrete=True)
    self.assertIn(reason, kernel_ops.status_message(int(codes[0])))

  def test_rounded_rows_count_as_one(self):
    tenths = onp.full((10, 10), 0.1, onp.float32)
    alpha = onp.full(10, 0.1, onp.float32)
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = self.host(
          pm.discrete_phase_type.survival_function(5, alpha, tenths)
        )
        self.assertEqual(value.dtype, onp.float32)
        onp.testing.assert_allclose(value, 1.0, 1e-6)

  def test_edges_above_one(self):
    edges = pm.EdgeProbs([0, 0], [0, 1], onp.asarray([0.5, 0.75]))
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.prob(1.0, [1.0], edges)
        self.assert_close(value, math.nan)

  def test_a_row_takes_what_it_lacks_as_a_loop(self):
    # The exits sum to 1/4, and the loop is given as 1/8 of the rest.
    edges = pm.EdgeProbs([0, 0], [0, 1], onp.asarray([0.125, 0.25]))
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.prob([1, 2, 3], [1.0], edges)
        self.assert_close(value, 0.25 * 0.75 ** onp.arange(3))

  def test_a_small_loop_keeps_its_digits(self):
    edges = pm.EdgeProbs([0, 0], [0, 1], onp.asarray([1e-12, 1 - 1e-12]))
    for path in self.paths():
      with kernel_ops.use_path(path):
        value = pm.discrete_phase_type.log_prob([1, 2, 5], [1.0], edges)
        expected = onp.asarray([0, 1, 4]) * math.log(1e-12) - 1e-12
        self.assert_close(value, expected, 1e-12, 1e-12)

  def test_never_absorbed(self):
    matrix = [[0.5, 0.25], [0.0, 1.0]]
    self.require_kernel()
    model = ([3.0, math.inf], [1.0, 0.0], matrix)
    self.assert_close(pm.discrete_phase_type.prob(*model), [0.25 * 0.25, 0.0])
    value = self.host(pm.discrete_phase_type.cdf(*model))
    self.assertTrue(onp.isnan(value[1]))

  def test_arguments_are_named(self):
    with self.assertRaisesRegex(ValueError, "subtransition has shape"):
      pm.discrete_phase_type.prob(1, [1.0], [0.5])
    with self.assertRaisesRegex(ValueError, "exit_probs has shape"):
      pm.discrete_phase_type.prob(1, [1.0], [[0.5]], [0.1, 0.2])
    with self.assertRaisesRegex(ValueError, "value has shape"):
      pm.discrete_phase_type.prob(onp.ones(3), onp.ones((2, 1)), [[0.5]])
    with self.assertRaisesRegex(TypeError, "must be an array or EdgeProbs"):
      pm.discrete_phase_type.prob(1, [1.0], pm.EdgeRates([0], [1], onp.ones(1)))
    with self.assertRaisesRegex(TypeError, "must be an array or EdgeRates"):
      pm.phase_type.prob(1, [1.0], pm.EdgeProbs([0], [1], onp.ones(1)))
    with self.assertRaisesRegex(
      ValueError, "exit_probs is given: it must be None"
    ):
      pm.discrete_phase_type.prob(1, [1.0], trials.edges(1, 0.5), [0.5])


if __name__ == "__main__":
  absltest.main()
