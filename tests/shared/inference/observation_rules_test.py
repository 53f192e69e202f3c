"""Observations: rules of their arguments, and copies of arrays."""

import copy
import math
import pickle

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic import distributions as pd
from phasic import graphs
from phasic import inference
from tests.helpers import test_case

_INF, _NAN = math.inf, math.nan


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
    ([-2.0, -1.0, 2.0], [1, 2], r"edges\[1\] = -1.0: .* but the first must"),
    ([0.0, 1.0, 2.0], [1, -2], r"counts\[1\] = -2.*: they must be >= 0 and f"),
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


if __name__ == "__main__":
  absltest.main()
