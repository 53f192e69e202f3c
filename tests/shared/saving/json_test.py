"""Distributions, edges, observations and fits to JSON and back."""

import inspect
import json
import math

from absl.testing import absltest
from absl.testing import parameterized
import numpy as np
import numpy as onp

from phasic import distributions as pd
from phasic import graphs as pg
from phasic import inference
from phasic import math as pm
from phasic.internal import halves
from phasic.internal import structures
from tests.helpers import chain_cases
from tests.helpers import family_cases
from tests.helpers import own_family
from tests.helpers import test_case

MODE = "numpy"
if MODE == "jax":
  import jax
elif MODE == "tf":
  import tensorflow as tf

_CASES = {**family_cases.CASES, **chain_cases.CASES}
_REWARDS = onp.asarray([[1.0, 0.0], [0.5, 2.0]])


def _graph_rewards():
  return pd.GraphMultivariatePhaseType(
    pg.models.kingman(3), {"coalescence": 1.5}, _REWARDS
  )


def _epochs():
  graphs = [pg.models.kingman(4), pg.models.kingman(3)]
  return pd.Epochs(
    graphs, [[1.0], [0.5]], [0.75], [lambda state: min(state, 3)]
  )


# Classes and structures that the cases above do not have.
_OTHERS = {
  "rewards": lambda: pd.MultivariatePhaseType(
    [1.0, 0.0], [[-2.0, 1.0], [0.0, -4.0]], _REWARDS
  ),
  "graph_rewards": _graph_rewards,
  "state_maps": _epochs,
  "epoch_rewards": lambda: pd.MultivariateEpochs(
    pd.Epochs(pg.models.kingman(3), [[1.0], [0.5]], [0.75]), _REWARDS
  ),
  "named_params": lambda: pd.GraphPhaseType(
    pg.models.kingman(3), {"coalescence": [0.5, 2.0]}
  ),
  "mixture": lambda: pd.mixture(
    [0.25, 0.75], [pd.Erlang(2, 1.0), pd.Coxian([1.0], [0.5, 2.0])]
  ),
  "nested": lambda: pd.TruncatedPhaseType(
    pd.ZeroInflated(pd.Erlang(2, [1.0, 3.0]), 0.25), 0.5, math.inf, name="late"
  ),
  "empty_batch": lambda: pd.Erlang(2, onp.zeros((0, 3))),
}


class SavedCase(test_case.TestCase):
  def assert_same_bits(self, actual, expected):
    actual, expected = self.host(actual), self.host(expected)
    self.assertEqual(actual.dtype, expected.dtype)
    self.assertEqual(actual.shape, expected.shape)
    self.assertEqual(actual.tobytes(), expected.tobytes())

  def assert_same_arrays(self, actual, expected):
    for name, x in expected.items():
      if x is not None:
        self.assert_same_bits(actual[name], x)

  def again(self, x):
    """Returns an object after a way to JSON and back."""
    text = x.to_json()
    read = type(x).from_json(text)
    self.assertIs(type(read), type(x))
    self.assertEqual(read.to_json(), text)
    return read


class DistributionsTest(SavedCase):
  @parameterized.parameters(*_CASES)
  def test_cases(self, name):
    case = _CASES[name]
    dist = case.make()
    read = self.again(dist)
    self.assertEqual(repr(read), repr(dist))
    values = np.asarray(onp.asarray(case.values[:2]))
    self.assert_same_bits(read.log_prob(values), dist.log_prob(values))
    if case.moments:
      self.assert_same_bits(read.mean(), dist.mean())

  @parameterized.parameters(*_OTHERS)
  def test_others(self, name):
    dist = _OTHERS[name]()
    read = self.again(dist)
    self.assertEqual(repr(read), repr(dist))
    self.assert_same_bits(read.mean(), dist.mean())

  def test_every_class_has_a_case(self):
    made = [case.make() for case in _CASES.values()]
    made += [make() for make in _OTHERS.values()]
    classes = {
      name
      for name in pd.__all__
      if inspect.isclass(getattr(pd, name))
      and issubclass(getattr(pd, name), pd.Distribution)
    }
    abstract = {"Distribution", "TransformedPhaseType"}
    self.assertEqual({type(x).__name__ for x in made}, classes - abstract)

  @parameterized.parameters("float32", "float64")
  def test_bits(self, dtype):
    info = onp.finfo(dtype)
    rates = onp.asarray([0.1, 1 / 3, info.tiny, info.max, math.pi], dtype)
    dist = pd.Erlang(2, rates, validate_args=True, allow_nan_stats=False)
    read = self.again(dist)
    self.assert_same_bits(read.rate, rates)
    self.assertEqual(read.parameters["validate_args"], True)
    self.assertEqual(read.parameters["allow_nan_stats"], False)
    probs = onp.asarray([1.0, -0.0], dtype)
    least = info.smallest_subnormal
    matrix = onp.asarray([[-1.0, least], [-0.0, -2.0]], dtype)
    read = self.again(pd.PhaseType(probs, matrix))
    self.assert_same_bits(read.initial_probs, probs)
    self.assert_same_bits(read.subgenerator, matrix)

  def test_class_that_reads(self):
    text = pd.GraphPhaseType(pg.models.kingman(3), [1.0]).to_json()
    for cls in (pd.Distribution, pd.PhaseType, pd.GraphPhaseType):
      self.assertIsInstance(cls.from_json(text.encode()), pd.GraphPhaseType)
    with self.assertRaisesRegex(
      ValueError, "'GraphPhaseType': Erlang.from_json reads only Erlang"
    ):
      pd.Erlang.from_json(text)

  def test_text(self):
    data = json.loads(pd.Erlang(2, 0.1).to_json())
    rate = {"class": "array", "dtype": "float64", "shape": [], "data": [0.1]}
    expected = {"concentration": 2, "rate": rate, "validate_args": False}
    expected |= {"allow_nan_stats": True, "name": "Erlang"}
    header = {"format": "phasic.object", "version": 1, "class": "Erlang"}
    self.assertEqual(data, {**header, "parameters": expected})

  def test_graph_is_as_its_own_text(self):
    graph = pg.models.kingman(3)
    data = json.loads(pd.GraphPhaseType(graph, [1.0]).to_json())
    found = data["parameters"]["graph"]["parameters"]
    self.assertEqual(found, json.loads(graph.to_json()))

  def test_state_maps(self):
    dist = _epochs()
    data = json.loads(dist.to_json())
    self.assertEqual(data["parameters"]["state_maps"][0]["data"], [0, 0, 1])
    (read,) = self.again(dist).parameters["state_maps"]
    (given,) = dist.parameters["state_maps"]
    self.assert_same_bits(read.phases, given.phases)

  def test_one_graph_stays_one(self):
    graph = pg.models.kingman(3)
    read = self.again(pd.Epochs([graph, graph], [[1.0], [0.5]], [0.75]))
    self.assertIs(read.graphs[0], read.graphs[1])


class HalfTest(SavedCase):
  @parameterized.parameters(*halves.EPS)
  def test_half_precision(self, dtype):
    text = pd.Coxian(
      onp.asarray([2.0**-20], "f"), onp.asarray([1.0, 0.15625], "f")
    ).to_json()
    text = text.replace("float32", dtype).replace(repr(2.0**-20), "6e-08")
    if MODE == "jax":
      dist = pd.Coxian.from_json(text)
      self.assertEqual(dist.dtype, dtype)
      self.assert_same_bits(
        dist.exit_rates, structures.cast([1.0, 0.15625], dtype)
      )
      read = self.again(dist)
      self.assert_same_bits(read.progression_rates, dist.progression_rates)
      self.assert_same_bits(read.log_prob(1.0), dist.log_prob(1.0))
    else:
      with self.assertRaisesRegex(
        ValueError, f"progression_rates.dtype is '{dtype}': only JAX"
      ):
        pd.Coxian.from_json(text)


class EdgesTest(SavedCase):
  def test_edges(self):
    for cls in (pm.EdgeRates, pm.EdgeProbs):
      for edges in (
        cls([0, 1], [1, 2], onp.asarray([[0.5, 0.1]]), None, onp.ones(2)),
        cls(onp.asarray([0, 1]), [1, 2], [0.1], [[1.0], [2.0]]),
      ):
        read = self.again(edges)
        for given, found in zip(edges, read, strict=True):
          if given is not None:
            self.assert_same_bits(found, given)

  def test_functions(self):
    for edges, name in (
      (pm.EdgeRates([0], [1], math.exp), "parameters"),
      (pm.EdgeRates([0], [1], [math.exp]), r"parameters\[0\]"),
      (pm.EdgeProbs([0], [1], [0.5], math.exp), "coefficients"),
    ):
      with self.assertRaisesRegex(TypeError, rf"\.{name} is .*, a function"):
        edges.to_json()

  def test_no_edges(self):
    for edges, message in (
      (pm.EdgeRates([0], [1], ["a"]), "parameters holds text"),
      (pm.EdgeRates([0.5], [1], [1.0]), "sources has dtype"),
      (pm.EdgeRates([0], [1, 2], [1.0]), "sources have shape"),
    ):
      with self.assertRaisesRegex((TypeError, ValueError), message):
        edges.to_json()


class InferenceTest(SavedCase):
  def test_observations(self):
    times = onp.asarray([[0.5, -math.inf, 0.1]])
    ends = onp.asarray([[0.5, 2.0, math.inf]])
    data = inference.Observations(times, ends, [1.0, 2.0, 0.25], [-1, -1, 0.05])
    read = self.again(data)
    for name in ("lower", "upper", "weights", "entry"):
      self.assert_same_bits(getattr(read, name), getattr(data, name))
    self.assertIsNone(read.cause)
    exact = inference.Observations(onp.asarray([0.1], "f"), cause=[1])
    read = self.again(exact)
    self.assert_same_bits(read.lower, exact.lower)
    self.assert_same_bits(read.cause, exact.cause)

  def assert_same_fit(self, read, fit):
    for name in (
      *("log_likelihood", "structure", "fixed", "tied", "free", "bounds"),
      *("at_bounds", "statuses", "sums", "num_parameters", "num_observations"),
      *("aic", "bic"),
    ):
      self.assertEqual(
        repr(getattr(read, name)), repr(getattr(fit, name)), name
      )
    self.assertEqual(repr(read), repr(fit))
    self.assertEqual(repr(read.record), repr(fit.record))
    self.assert_same_arrays(read.standard_errors, fit.standard_errors)
    self.assertEqual(read.covariance()[0], fit.covariance()[0])
    self.assert_same_bits(read.covariance()[1], fit.covariance()[1])

  def test_fits(self):
    data = inference.Observations(
      onp.asarray([0.5, 0.8, 1.0, 1.7, 2.5, 3.0]),
      onp.asarray([0.5, 0.8, 1.0, 1.7, math.inf, 3.5]),
    )
    start = pd.Coxian(onp.asarray([1.0]), onp.asarray([0.25, 1.0]))
    bounds = {"exit_rates": (0.25, 10.0)}
    fits = [
      inference.fit_mle(start, data, bounds=bounds, max_steps=2, starts=()),
      inference.fit_mle(pd.Erlang(2, 1.0), data, fixed=["rate"]),
    ]
    if MODE == "numpy":
      fits += [
        inference.fit_em(start, data, max_steps=2, starts=()),
        inference.fit_mle(
          pd.Hypoexponential(onp.asarray([1.0, 2.0])),
          data,
          tied=[["rates[0]", "rates[1]"]],
        ),
      ]
    for fit in fits:
      self.assert_same_fit(self.again(fit), fit)


class Mine(pd.Erlang):
  """A class of a user's."""


class Square(pd.TransformedPhaseType):
  """The square of a time."""

  def _forward(self, x):
    return x * x


class CannotBeSavedTest(SavedCase):
  def test_classes_of_users(self):
    for dist, path in (
      (Mine(2, 1.0), "Mine"),
      (Square(pd.Erlang(2, 1.0)), "Square"),
      (own_family.Detour(1.0, 0.5, 2), "Detour"),
      (pd.ZeroInflated(Mine(2, 1.0), 0.5), "ZeroInflated.distribution"),
    ):
      with self.assertRaisesRegex(
        TypeError, rf"{path} is of class .*: JSON holds only phasic's own"
      ):
        dist.to_json()
    data = inference.Observations([1.0, 2.0])
    fit = inference.fit_mle(Mine(1, 1.0), data, fixed=["rate"])
    with self.assertRaisesRegex(TypeError, "Fit.distribution is of class"):
      fit.to_json()

  def test_objects_within_each_other(self):
    dist = pd.Erlang(2, 1.0)
    for _ in range(15):
      dist = pd.ZeroInflated(dist, 0.125)
    self.again(dist)
    with self.assertRaisesRegex(ValueError, "nested too deeply: .* at most 16"):
      pd.ZeroInflated(dist, 0.125).to_json()

  @test_case.of_bad_values
  def test_values_that_break_a_rule(self):
    for rate in (-1.0, math.nan):
      with self.assertRaisesRegex(
        ValueError, f"rate = {rate}: .*; Erlang cannot be saved"
      ):
        pd.Erlang(2, rate).to_json()

  def test_traced(self):
    if MODE == "jax":
      with self.assertRaisesRegex(ValueError, "Erlang.rate is traced"):
        jax.jit(lambda rate: pd.Erlang(2, rate).to_json())(1.0)
    elif MODE == "tf":
      with self.assertRaisesRegex(ValueError, "Erlang.rate is traced"):
        tf.function(lambda rate: pd.Erlang(2, rate).to_json(), autograph=False)(
          tf.constant(1.0)
        )

  def test_variables_are_written_by_value(self):
    if MODE == "tf":
      rate = tf.Variable(0.1, dtype=tf.float64)
      dist = pd.Erlang(2, rate)
      rate.assign(0.3)
      self.assert_same_bits(
        pd.Erlang.from_json(dist.to_json()).rate, onp.asarray(0.3)
      )


if __name__ == "__main__":
  absltest.main()
