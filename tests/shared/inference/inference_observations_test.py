"""Observations: arguments, errors and sums."""

import copy
import math
import pickle
import warnings

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import config
from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from phasic import math as pm
from tests.helpers import test_case

MODE = "numpy"

_LAWS = 4
if MODE == "jax":  # Each is compiled for seconds.
  _LAWS = 2
_INF, _NAN = math.inf, math.nan
_LOWER = onp.asarray([0.5, 2.0, -1.0, 1.0, 0.0])
_UPPER = onp.asarray([0.5, _INF, 1.5, 2.0, 0.25])
_ENTRY = onp.asarray([0.25, 1.0, -1.0, 0.5, -1.0])


class NoObservationsTest(test_case.TestCase):
  """Tests data sets without observations."""

  def setUp(self):
    super().setUp()
    self.data = inference.Observations([], weights=[], entry=[])

  def test_the_log_likelihood_is_zero(self):
    rates = onp.asarray([1.0, 2.0])
    dist = pd.Erlang(2, rates)
    for data in (self.data, inference.Observations.right_censored([], [])):
      self.assert_close(data.log_likelihood(dist), onp.zeros(2), 0.0)
    terms = inference.Observations([[], []]).log_likelihood_terms(dist)
    self.assertEqual(tuple(terms.shape), (2, 0))
    _, slope = pm.value_and_gradient(
      lambda rate: self.data.log_likelihood(pd.Erlang(2, rate)), rates[0]
    )
    self.assert_close(slope, 0.0, 0.0)

  def test_float32(self):
    numbers = onp.asarray([0.5, 1.0, 1.5, 3.0])
    data = inference.Observations(onp.asarray(numbers, onp.float32))
    dist = pd.Erlang(2, onp.asarray(0.75))
    if MODE == "tf":
      with self.assertRaisesRegex(TypeError, "observations are float32"):
        data.log_likelihood(dist)
    else:
      expected = inference.Observations(numbers).log_likelihood(dist)
      self.assert_close(data.log_likelihood(dist), expected, 0.0)
      terms = data.log_likelihood_terms(dist)
      self.assertEqual(self.host(terms).dtype, onp.float64)
      fit = inference.fit_mle(dist, data)
      # The closed form: two stages in the mean.
      self.assert_close(fit.distribution.rate, 2 / numbers.mean(), 1e-7)
      self.assertEqual(fit.distribution.dtype, "float64")
    narrow = pd.Erlang(2, onp.asarray(0.75, onp.float32))
    with self.assertRaisesRegex(TypeError, "distribution is float32 and the"):
      inference.Observations(numbers).log_likelihood(narrow)

  def test_fits_need_some(self):
    dist = pd.Erlang(2, 1.0)
    for fit in (
      lambda: inference.fit_mle(dist, self.data),
      lambda: inference.fit_em(pd.Hypoexponential([1.0, 2.0]), self.data),
      lambda: inference.initial_guess(self.data, 2),
      lambda: inference.kaplan_meier(self.data),
      lambda: inference.em_step(
        pd.PhaseType([1.0], [[-1.0]]), inference.Observations([[], []])
      ),
    ):
      with self.assertRaisesRegex(
        ValueError, "observations is empty, of shape"
      ):
        fit()


class LateEntryTest(test_case.TestCase):
  """Tests observations that are made late, beside the entry."""

  def test_digits(self):
    # Given X > t, Erlang's law of two stages has P(X > t + x) equal to
    # (t + 1 + x) / (t + 1) exp(-x).
    entry = onp.asarray([1e2, 1e4, 1e6, 1e8, 1e9, 1e12, 1e15])
    known = entry < 2.8e8

    def survival(x):
      return (1.0 + x / (entry + 1.0)) * onp.exp(-x)

    far = onp.full(entry.shape, _INF)
    data = {
      "interval": (entry + 1.0, entry + 2.0, survival(1.0) - survival(2.0)),
      "left": (-far, entry + 2.0, 1.0 - survival(2.0)),
      "right": (entry + 2.0, far, survival(2.0)),
      "exact": (
        entry + 2.0,
        entry + 2.0,
        (entry + 2.0) / (entry + 1.0) * onp.exp(-2.0),
      ),
    }
    pair = graphs.Graph.from_edges([(0, 1, 1.0), (1, graphs.ABSORBED, 1.0)], 0)
    dists = [
      pd.Erlang(2, 1.0),
      pd.Epochs(pair, [None, None], [0.5], edge_values=[[1.0, 1.0]] * 2),
      pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 0.5),
      pd.MatrixWeibull(pd.Erlang(2, 1.0), 1.0),
    ]
    for dist in dists:
      for name, (lower, upper, exact) in data.items():
        with self.subTest(f"{type(dist).__name__} {name}"):
          own = inference.Observations(lower, upper, entry=entry)
          found = own.log_likelihood_terms(dist)
          expected = onp.where(known, onp.log(exact), _NAN)
          self.assert_close(found, expected, 1e-5)

  def test_counts(self):
    # With trials of probability 1/4, P(N > n) is (1 + n / 3) (3/4)^n.
    entry = onp.asarray([1e2, 1e6, 1e8, 1e9, 1e10, 1e12])
    known = -entry * onp.log(0.75) < 2.8e8
    ratio = (1.0 + (entry + 3.0) / 3.0) / (1.0 + entry / 3.0) * 0.75**3
    own = inference.Observations(
      entry + 3.0, onp.full(entry.shape, _INF), entry=entry
    )
    found = own.log_likelihood_terms(pd.NegativeBinomialTrials(2, 0.25))
    expected = onp.where(known, onp.log(ratio), _NAN)
    self.assert_close(found, expected, 1e-5)


class MassesTest(test_case.TestCase):
  """Tests initial masses that do not sum to one."""

  @test_case.of_bad_values
  def test_no_log_likelihood(self):
    matrix = [[-2.0, 1.0], [0.0, -1.0]]
    steps = [[0.5, 0.25], [0.0, 0.5]]
    ends = [(0, 1, 1.0), (0, graphs.ABSORBED("a"), 1.0)]
    ends += [(1, graphs.ABSORBED("b"), 1.0)]
    start = [(0, {"m": 1.0}), (1, 0.5), (graphs.ABSORBED, 0.25)]
    graph = graphs.Graph.from_edges(ends, start, params=("m",))

    def laws(total):
      mass = total - 0.5
      yield pd.PhaseType([mass, 0.25], matrix, prob_zero=0.25), False
      yield pd.PhaseType([mass, 0.25], matrix, [1.0, 1.0], 0.25), False
      yield pd.DiscretePhaseType([mass, 0.25], steps, prob_zero=0.25), False
      base = pd.PhaseType([mass, 0.25], matrix, prob_zero=0.25)
      yield pd.ZeroInflated(base, 0.125), False
      yield pd.TruncatedPhaseType(base, 0.5), False
      yield pd.MatrixWeibull(base, 2.0), False
      yield pd.PhaseType.from_graph(graph, [total - 0.75]), True
      yield pd.Epochs(graph, [[total - 0.75]] * 2, [0.75]), True

    for total in (1.0, 1.0 + 1e-5, 0.875, 1.5):
      for dist, has_causes in laws(total):
        with self.subTest(f"{type(dist).__name__}, {total}"):
          data = [
            inference.Observations([1.0, 2.0]),
            inference.Observations([1.0, 2.0], [_INF, 4.0]),
            inference.Observations([1.0, 2.0], [_INF, 4.0], entry=[0.5, 1.0]),
          ]
          if has_causes:
            data.append(inference.Observations([1.0, 2.0], cause=[1, 0]))
          for own in data:
            found = self.host(own.log_likelihood(dist))
            self.assertEqual(onp.isnan(found), total != 1.0)
    for mass in (0.5, 0.75):
      alpha, atom = (onp.asarray(x, "float32") for x in ([mass], 0.5))
      dist = pd.PhaseType(alpha, -onp.ones((1, 1), "float32"), None, atom)
      own = inference.Observations(onp.ones(1, "float32"))
      found = self.host(own.log_likelihood(dist))
      self.assertEqual(found.dtype, "float32")
      self.assertEqual(onp.isnan(found), mass != 0.5)

  def test_gradients_are_those_of_free_coordinates(self):
    data = inference.Observations([0.5, 1.5])
    exits = onp.asarray([2.0, 1.0])

    def value(alpha):
      dist = pd.PhaseType(alpha, -onp.diag(exits), exits, 0.25)
      return data.log_likelihood(dist)

    alpha = onp.asarray([0.5, 0.25])
    _, found = pm.value_and_gradient(value, alpha)
    terms = exits * onp.exp(-exits * onp.asarray([[0.5], [1.5]]))
    expected = onp.sum(terms / (terms @ alpha)[:, None], axis=0)
    self.assert_close(found, expected, 1e-12)


class _Missing:
  """A missing value like pandas', without truth value."""

  def __ne__(self, other):
    raise TypeError("boolean value of NA is ambiguous")


_Missing.__name__ = "NAType"


class _Column:
  """A column of a table, like those of table libraries."""

  def __init__(self, values):
    self._values = values

  def to_numpy(self):
    return self._values


class _Table:
  """A table with pandas' interface for columns."""

  def __init__(self, **columns):
    self._columns = columns
    self.columns = list(columns)

  def __getitem__(self, name):
    return _Column(self._columns[name])


def _objects(*values):
  found = onp.empty(len(values), dtype=object)
  found[:] = values
  return found


class CopiesTest(test_case.TestCase):
  """Tests that observations do not change with the caller's arrays."""

  def _close(self, data, times, weights):
    # The log likelihood of exponential times.
    exact = math.fsum(weights * (math.log(2.0) - 2.0 * times))
    self.assert_close(data.log_likelihood(pd.Erlang(1, 2.0)), exact, 1e-14)

  def test_later_changes_have_no_effect(self):
    times, weights = onp.asarray([0.5, 1.0, 4.0]), onp.asarray([1.0, 2.0, 0.5])
    seen = onp.ones(3)
    for make in (
      lambda x, w: inference.Observations(x, weights=w),
      lambda x, w: inference.Observations(x, x, w),
      lambda x, w: inference.Observations.exact(x, w),
      lambda x, w: inference.Observations.right_censored(x, seen, w),
      lambda x, w: inference.Observations.from_table(
        {"t": x, "w": w}, time="t", weight="w"
      ),
      lambda x, w: pickle.loads(
        pickle.dumps(inference.Observations(x, weights=w))
      ),
      lambda x, w: copy.deepcopy(inference.Observations(x, weights=w)),
    ):
      own, its = onp.array(times), onp.array(weights)
      data = make(own, its)
      own[:], its[:] = 7.0, 9.0
      self._close(data, times, weights)
      for array in (data.lower, data.upper, data.weights):
        with self.assertRaises((TypeError, ValueError)):
          array[0] = -5.0
      self._close(data, times, weights)

  def test_causes_entries_and_groups(self):
    cause = onp.asarray([0, -1], onp.int32)
    entry = onp.asarray([0.25, -1.0])
    edges, counts = onp.asarray([-1.0, 1.0, 2.0]), onp.asarray([3.0, 4.0])
    data = inference.Observations([1.0, 2.0], None, None, entry, cause)
    groups = inference.Observations.grouped(edges, counts)
    cause[:], entry[:], edges[:], counts[:] = 5, 0.9, 0.0, 0.0
    self.assertEqual(self.host(data.cause).tolist(), [0, -1])
    self.assertEqual(self.host(data.entry).tolist(), [0.25, -1.0])
    self.assertEqual(self.host(groups.weights).tolist(), [3.0, 4.0])
    self.assertEqual(self.host(groups.upper).tolist(), [1.0, 2.0])
    for array in (data.cause, data.entry, groups.lower, groups.weights):
      with self.assertRaises((TypeError, ValueError)):
        array[0] = -5


class RulesTest(test_case.TestCase):
  @parameterized.parameters(
    ({"lower": [1.0, _NAN]}, r"lower\[1\] = nan: it must be a number"),
    ({"lower": [1.0], "upper": [_NAN]}, r"upper\[0\] = nan"),
    (
      {"lower": [1.0, 2.0], "upper": [1.5, 1.0]},
      r"upper\[1\] = 1.0: it must be at least lower",
    ),
    ({"lower": [[1.0, -2.0]]}, r"upper\[0, 1\] = -2.0: .* must be >= 0|>= 0"),
    ({"lower": [_INF]}, r"lower\[0\] = inf: it must be finite"),
    (
      {"lower": [1.0, 2.0], "weights": [1.0, -0.5]},
      r"weights\[1\] = -0.5: a weight must be >= 0 and finite",
    ),
    ({"lower": [1.0], "weights": [_INF]}, r"weights\[0\] = inf"),
    ({"lower": [1.0], "weights": [_NAN]}, r"weights\[0\] = nan"),
    (
      {"lower": [1.0, 2.0], "entry": [0.5, 2.0]},
      r"entry\[1\] = 2.0: the exit must be after the entry",
    ),
    (
      {"lower": [1.0], "upper": [2.0], "entry": [2.0]},
      r"entry\[0\] = 2.0: the exit must be after the entry",
    ),
    (
      {"lower": [1.0], "upper": [_INF], "entry": [1.5]},
      r"entry\[0\] = 1.5: a right-censored value must have been seen",
    ),
    ({"lower": [1.0], "entry": [_NAN]}, r"entry\[0\] = nan"),
    ({"lower": [1.0], "cause": [-2]}, r"cause\[0\] = -2"),
    (
      {"lower": [1.0], "upper": [_INF], "cause": [0]},
      r"cause\[0\] = 0: a right-censored value has no cause yet",
    ),
    ({"lower": 1.0}, r"lower is a scalar: observations have shape \(..., n\)"),
    (
      {"lower": [1.0, 2.0], "upper": [1.0, 2.0, 3.0]},
      r"shapes do not broadcast: lower \(2,\), upper \(3,\)",
    ),
  )
  def test_bad_values(self, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      inference.Observations(**arguments)

  @parameterized.parameters(
    ({"lower": ["a"]}, "lower holds text"),
    ({"lower": onp.asarray(["2001-02-03"], "M8[D]")}, "lower holds dates"),
    ({"lower": [True]}, "lower has dtype bool"),
    ({"lower": [1.0], "cause": [0.5]}, "cause has dtype float.*integers"),
    (
      {"lower": onp.ones(1), "upper": onp.ones(1, onp.float32)},
      "lower is float64 and upper is float32",
    ),
  )
  def test_bad_types(self, arguments, message):
    with self.assertRaisesRegex(TypeError, message):
      inference.Observations(**arguments)

  @parameterized.parameters(
    ([0.0, 2.0, 1.0], [1, 2], r"edges\[2\] = 1.0: they must increase"),
    ([0.0, _NAN, 2.0], [1, 2], r"edges\[1\] = nan: they must increase"),
    ([_NAN, 1.0, 2.0], [1, 2], r"edges\[0\] = nan: they must increase"),
    ([0.0, 1.0, 2.0], [5], r"counts has shape \(1,\): .* \(..., 2\)"),
    ([0.0, 1.0], 5, r"counts has shape \(\): with 2 edges"),
  )
  def test_bad_groups(self, edges, counts, message):
    with self.assertRaisesRegex(ValueError, message):
      inference.Observations.grouped(edges, counts)

  def test_events_for_other_times(self):
    with self.assertRaisesRegex(
      ValueError, r"do not broadcast: times \(2,\), observed \(3,\)"
    ):
      inference.Observations.right_censored([1.0, 2.0], [1, 1, 0])

  def test_entries_may_be_where_intervals_begin(self):
    inference.Observations([1.0, 2.0], [3.0, _INF], entry=[1.0, 2.0])
    inference.Observations([-1.0, 1.0], [3.0, 4.0], entry=[1.0, 2.0])

  def test_what_does_not_fit_the_distribution(self):
    exact = inference.Observations([1.5, 2.0])
    for dist, kind, message in (
      (1.0, TypeError, "distribution is float: it must be a distribution"),
      (pd.Erlang(2, onp.ones(3)), None, ""),
      (
        pd.DiscretePhaseType([1.0], [[0.5]]),
        ValueError,
        r"lower\[0\] = 1.5: a count that is known exactly must be whole",
      ),
      (
        pd.Erlang(2, onp.ones(1, onp.float32)),
        TypeError,
        "distribution is float32 and the observations are float64",
      ),
      (
        pd.MultivariatePhaseType([1.0], [[-1.0]], [[1.0, 2.0]]),
        TypeError,
        "a distribution of vectors: it must have one variable",
      ),
    ):
      if kind is None:
        self.assertEqual(self.host(exact.log_likelihood(dist)).shape, (3,))
      else:
        with self.assertRaisesRegex(kind, message):
          exact.log_likelihood(dist)
    two = inference.Observations(onp.ones((2, 5)))
    with self.assertRaisesRegex(ValueError, r"batch shape \(3,\).*\(2, 5\)"):
      two.log_likelihood(pd.Erlang(2, onp.ones(3)))

  def test_causes_that_do_not_fit(self):
    known = inference.Observations([1.0], cause=[1])
    with self.assertRaisesRegex(
      TypeError, "Erlang: only distributions of graphs have causes"
    ):
      known.log_likelihood(pd.Erlang(2, 1.0))
    graph = graphs.models.kingman(3)
    with self.assertRaisesRegex(ValueError, r"cause\[0\] = 1: there are 1"):
      known.log_likelihood(pd.PhaseType.from_graph(graph, [1.0]))


class SumsTest(test_case.TestCase):
  def setUp(self):
    super().setUp()
    self.dist = pd.ZeroInflated(pd.Erlang(2, 1.5), 0.25)

  def _value(self, *args, **kwargs):
    data = inference.Observations(*args, **kwargs)
    return self.host(data.log_likelihood(self.dist))

  def test_weights_are_numbers_of_values(self):
    weights = onp.asarray([1, 2, 0, 3, 1])
    rows = onp.repeat(onp.arange(5), weights)
    found = self._value(_LOWER, _UPPER, weights, _ENTRY)
    expected = self._value(_LOWER[rows], _UPPER[rows], None, _ENTRY[rows])
    self.assert_close(found, expected, 1e-14)

  def test_what_has_no_weight_counts_for_nothing(self):
    with_impossible = self._value([0.5, 1e300], None, [1.0, 0.0])
    self.assert_close(with_impossible, self._value([0.5]), 1e-15)

  def test_what_has_no_weight_may_be_impossible(self):
    self.dist = pd.TruncatedPhaseType(pd.Erlang(1, 1.0), 2.0)
    with warnings.catch_warnings():
      warnings.simplefilter("error", RuntimeWarning)
      found = self._value([0.5, 3.0], None, [0.0, 1.0])
    self.assert_close(found, -1.0, 1e-14)

  def test_zeros_are_of_the_atom(self):
    self.assert_close(self._value([0.0]), math.log(0.25), 1e-15)
    # An interval from zero excludes zero; a left-censored value includes it.
    both = self._value([0.0], [1.0]), self._value([-1.0], [1.0])
    self.assert_close(onp.exp(both[1]) - onp.exp(both[0]), 0.25, 1e-14)

  def test_at_zero(self):
    # Zero in one of four cases, else of rate 2: P(X > t) = 3/4 exp(-2 t).
    chain = pd.PhaseType([0.75], [[-2.0]])
    alive = [0.75 * math.exp(-2.0 * t) for t in (0.5, 1.0)]
    early = 1.0 - math.exp(-2.0)
    cases = (
      (0.0, 0.0, -1.0, 0.25),
      (-1.0, 0.0, -1.0, 0.25),
      (-_INF, 0.0, -1.0, 0.25),
      (0.0, _INF, -1.0, 0.75),
      (-1.0, _INF, -1.0, 1.0),
      (-1.0, 1.0, -1.0, 1.0 - alive[1]),
      (0.0, 1.0, -1.0, 0.75 - alive[1]),
      # With an entry time, even zero, values of zero are not observed.
      (-1.0, 1.0, 0.0, early),
      (0.0, 1.0, 0.0, early),
      (0.0, _INF, 0.0, 1.0),
      (1.0, 1.0, 0.0, 2.0 * math.exp(-2.0)),
      (-1.0, 1.0, 0.5, 1.0 - alive[1] / alive[0]),
    )
    lower, upper, entry, probs = onp.asarray(cases).T
    data = inference.Observations(lower, upper, entry=entry)
    laws = (
      chain,
      pd.ZeroInflated(pd.Erlang(1, 2.0), 0.25),
      pd.MatrixWeibull(chain, 1.0),
      pd.TruncatedPhaseType(chain, 0.0),
    )
    for dist in laws[:_LAWS]:
      for path in self.paths():
        with config.use_path(path):
          found = data.log_likelihood_terms(dist)
          self.assert_close(found, onp.log(probs), 1e-13, 1e-14)
    for law in (pd.Erlang(1, 2.0), pd.DiscretePhaseType([1.0], [[0.5]])):
      self.dist = law
      self.assertEqual(self._value([-1.0], [0.0]), -_INF)
    with self.assertRaisesRegex(ValueError, "the exit must be after the entry"):
      inference.Observations([0.0], entry=[0.0])
    with self.assertRaisesRegex(ValueError, "the exit must be after the entry"):
      inference.Observations([-1.0], [0.0], entry=[0.0])

  def test_entries_are_conditions(self):
    alive = self.host(self.dist.log_survival_function(_ENTRY))
    alive = onp.where(_ENTRY < 0, 0.0, alive)
    cut = onp.where(_LOWER < _UPPER, onp.maximum(_LOWER, _ENTRY), _LOWER)
    found = self._value(_LOWER, _UPPER, None, _ENTRY)
    expected = self._value(cut, _UPPER) - onp.sum(alive)
    self.assert_close(found, expected, 1e-13)

  def test_ends_that_mean_nothing(self):
    with self.assertRaisesRegex(ValueError, "times.*must be >= 0"):
      inference.Observations.right_censored([-5.0, 1.0], [0, 1])
    with self.assertRaisesRegex(ValueError, "edges.*must increase"):
      inference.Observations.grouped([0.0, 1.0, 1.0, 2.0], [3, 2, 1])

  def test_groups(self):
    edges, counts = [-1.0, 0.5, 1.0, _INF], [3, 2, 4]
    found = inference.Observations.grouped(edges, counts)
    cdf = self.host(self.dist.cdf(onp.asarray([0.5, 1.0])))
    parts = [cdf[0], cdf[1] - cdf[0], 1.0 - cdf[1]]
    self.assert_close(
      found.log_likelihood(self.dist), counts @ onp.log(parts), 1e-13
    )
    with self.assertRaisesRegex(ValueError, r"edges has shape \(1,\)"):
      inference.Observations.grouped([1.0], [])

  def test_batches(self):
    rates = onp.asarray([1.0, 1.5, 3.0])
    lower = onp.stack([_LOWER, _LOWER + 0.25])[:, None]
    upper = onp.stack([_UPPER, _UPPER + 0.25])[:, None]
    for entry in (None, _ENTRY):
      for dist in (
        pd.Erlang(2, rates),
        pd.MatrixWeibull(pd.Erlang(2, rates), 1.25),
        pd.TruncatedPhaseType(pd.Erlang(2, rates), 0.0625),
        pd.PhaseType(
          [0.5, 0.25], rates[:, None, None] * onp.asarray([[-2.0, 1], [0, -1]])
        ),
      ):
        data = inference.Observations(lower, upper, None, entry)
        found = self.host(data.log_likelihood(dist))
        self.assertEqual(found.shape, (2, 3))
        for i in range(2):
          for j in range(3):
            one = inference.Observations(lower[i, 0], upper[i, 0], None, entry)
            alone = one.log_likelihood(dist[j])
            self.assert_close(found[i, j], alone, 1e-14)

  def test_batches_of_cotangents(self):
    self.require_kernel()
    rates = onp.asarray([1.0, 1.5, 3.0])
    matrix = rates[:, None, None] * onp.asarray([[-2.0, 1], [0, -1]])
    alpha = onp.asarray([0.5, 0.25])

    def log_likelihood(initial_probs, subgenerator):
      return inference.Observations(
        _LOWER, _UPPER, entry=_ENTRY
      ).log_likelihood(pd.PhaseType(initial_probs, subgenerator))

    value, pullback = pm.vjp(log_likelihood, alpha, matrix)
    self.assertEqual(self.host(value).shape, (3,))
    of_alpha, of_matrix = pullback(onp.asarray([1.0, -2.0, 0.5]))
    total = onp.zeros(2)
    for j, weight in enumerate((1.0, -2.0, 0.5)):
      _, own = pm.value_and_gradient(log_likelihood, alpha, matrix[j])
      total += weight * self.host(own[0])
      self.assert_close(
        self.host(of_matrix)[j], weight * self.host(own[1]), 1e-13
      )
    self.assert_close(of_alpha, total, 1e-12)

  def test_impossible(self):
    self.dist = pd.TruncatedPhaseType(pd.Erlang(2, 1.0), 1.0, 2.0)
    self.assertEqual(self._value([2.5]), -_INF)
    self.assertEqual(self._value([0.25], [0.75]), -_INF)
    self.assertEqual(self._value([2.0], [_INF]), -_INF)
    self.assert_close(self._value([0.0], [2.0]), 0.0, 0.0, 1e-15)

  def test_ends_that_become_one_are_not_known(self):
    # An interval so far out that both ends have the same h(y).
    self.dist = pd.MatrixPareto(pd.Erlang(2, 1.0), 1e-300)
    found = self._value([1.0], [1.0 + 1e-15])
    self.assertTrue(math.isnan(found))

  def test_float32(self):
    dist = pd.Erlang(2, onp.asarray(1.5, onp.float32))
    data = inference.Observations(
      onp.asarray(_LOWER, onp.float32), onp.asarray(_UPPER, onp.float32)
    )
    found = self.host(data.log_likelihood(dist))
    self.assertEqual(found.dtype, onp.float32)
    self.dist = pd.Erlang(2, 1.5)
    self.assert_close(found, self._value(_LOWER, _UPPER), 1e-5)

  def test_representation(self):
    text = repr(inference.Observations([1.0, 2.0], weights=[1, 2]))
    self.assertIn("with lower, weights", text)


class TablesTest(test_case.TestCase):
  def _ends(self, table, **names):
    data = inference.Observations.from_table(table, **names)
    return [
      None if x is None else self.host(x).tolist()
      for x in (data.lower, data.upper, data.weights, data.entry, data.cause)
    ]

  def test_times_and_events(self):
    table = _Table(
      days=onp.asarray([3, 5, 9]),
      died=_objects(True, False, True),
      enter=_objects(1.0, None, _Missing()),
      n=onp.asarray([1, 2, 1]),
      why=_objects("a", None, "b"),
    )
    found = self._ends(
      table,
      time="days",
      event="died",
      entry="enter",
      weight="n",
      cause="why",
      causes=(None, "a", "b"),
    )
    self.assertEqual(found[0], [3.0, 5.0, 9.0])
    self.assertEqual(found[1], [3.0, _INF, 9.0])
    self.assertEqual(found[2:], [[1, 2, 1], [1.0, -1.0, -1.0], [1, -1, 2]])
    self.assertEqual(self._ends(table, time="days")[1], [3.0, 5.0, 9.0])

  def test_ends(self):
    table = {"from": _objects(1.0, None, 2.0), "to": [1.5, 3.0, _NAN]}
    found = self._ends(table, lower="from", upper="to")
    self.assertEqual(found[:2], [[1.0, -1.0, 2.0], [1.5, 3.0, _INF]])

  @parameterized.parameters(
    ({"time": "t", "event": "x"}, "event is 'x': the table's columns are"),
    ({"event": "e"}, r"given columns are \['event'\]: give time, time"),
    (
      {"time": "t", "lower": "t", "upper": "t"},
      "'upper'.: give time, time and",
    ),
    ({}, r"given columns are \[\]: give time, time and event, or lower and"),
    ({"time": "t", "event": "two"}, r"two\[1\] = 2.0: it must be bool, or 0"),
    ({"lower": "none", "upper": "none"}, r"none\[0\].*must be known"),
    ({"time": "t", "cause": "name"}, "'name' holds names: pass causes"),
    ({"time": "t", "cause": "name", "causes": ["a"]}, "holds 'b': it must ho"),
    ({"time": "gone"}, r"gone\[1\] = nan: it must be a number"),
    ({"time": "gone", "event": "e"}, r"gone\[1\] = nan: they must be >= 0"),
    ({"time": "t", "weight": "gone"}, r"gone\[1\] = nan: a weight must be"),
    ({"time": "minus"}, r"minus\[1\] = -1.0: values are times or counts"),
    ({"time": "t", "entry": "late"}, r"late\[0\] = 3.0: the exit must be"),
    ({"lower": "late", "upper": "t"}, r"t\[0\] = 1.0: it must be at least lo"),
    ({"time": "wide"}, r"column 'wide' has shape \(2, 1\)"),
  )
  def test_bad_columns(self, names, message):
    table = {
      "t": [1.0, 2.0],
      "e": [0, 1],
      "two": [0, 2],
      "none": [_NAN, 1.0],
      "name": _objects("a", "b"),
      "gone": [1.0, _NAN],
      "minus": [1.0, -1.0],
      "late": [3.0, 1.0],
      "wide": onp.ones((2, 1)),
    }
    with self.assertRaisesRegex(ValueError, message):
      inference.Observations.from_table(table, **names)

  def test_a_path_is_not_a_table(self):
    with self.assertRaisesRegex(
      TypeError, "table is 'times.csv': it must be a table; read the file first"
    ):
      inference.Observations.from_table("times.csv")

  def test_whole_numbers_beside_float32(self):
    table = {
      "t": onp.asarray([1.5, 2.5], onp.float32),
      "w": onp.asarray([1, 3]),
      "since": _objects(None, 1),
    }
    data = inference.Observations.from_table(
      table, time="t", weight="w", entry="since"
    )
    for x, expected in (
      (data.lower, [1.5, 2.5]),
      (data.weights, [1.0, 3.0]),
      (data.entry, [-1.0, 1.0]),
    ):
      self.assertEqual(self.host(x).dtype, onp.float32)
      self.assertEqual(self.host(x).tolist(), expected)
    table["w"] = onp.asarray([1.0, 3.0])
    with self.assertRaisesRegex(
      TypeError, "w is float64 and t is float32|t is float32 and w is float64"
    ):
      inference.Observations.from_table(table, time="t", weight="w")
    table["w"] = onp.asarray([1j, 3.0])
    with self.assertRaisesRegex(
      TypeError, "'w' holds values that are not numbers: it must"
    ):
      inference.Observations.from_table(table, time="t", weight="w")

  def test_columns_of_other_lengths(self):
    for sizes in ((2, 1), (1, 2)):
      table = {"t": onp.ones(sizes[0]), "w": onp.ones(sizes[1])}
      with self.assertRaisesRegex(
        ValueError, f"numbers of rows: 't' {sizes[0]}, 'w' {sizes[1]}"
      ):
        inference.Observations.from_table(table, time="t", weight="w")

  @parameterized.parameters(
    (onp.asarray(["2001-02-03", "2001-02-04"], "M8[D]"), "dates: subtract"),
    (onp.asarray([1, 2], "m8[D]"), "durations: divide by a unit"),
    (onp.asarray(["1", "2"]), "text"),
    (_objects("1", 2.0), "text"),
  )
  def test_columns_without_numbers(self, column, message):
    with self.assertRaisesRegex(TypeError, f"column 't' holds {message}"):
      inference.Observations.from_table({"t": column}, time="t")


if __name__ == "__main__":
  absltest.main()
