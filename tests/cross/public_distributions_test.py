"""Every class and function of `ph.distributions`, in all substrates."""

import inspect
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp
import scipy.stats

from tests.cross import comparisons
from tests.cross import public_distributions_cases as cases

FAMILIES, FUNCTIONS, MAKERS = cases.FAMILIES, cases.FUNCTIONS, cases.MAKERS
# Bases, markers and functions with separate tests in this file.
OTHERS = (
  "FULLY_REPARAMETERIZED",
  "NOT_REPARAMETERIZED",
  "Distribution",
  "ParameterProperties",
  "PiecewiseConstantLimit",
  "ReparameterizationType",
  "Support",
  "TransformedPhaseType",
  "kl_divergence",
  "register_kl",
)
SAMPLED_IN_JAX = ("PhaseType", "DiscretePhaseType")
# Classes whose methods run the programs of `ph.math`, and further methods. JAX
# computes their results; for other methods it only infers shapes.
PLAIN = ("PhaseType", "DiscretePhaseType")
EAGER = (
  "as_phase_type",
  "copy",
  "diagnose",
  "log_prob",
  "marginal",
  "projection",
)


def outcome(distribution: Any, method: str, substrate: str) -> Any:
  """Calls a method; returns its result, or the error."""
  try:
    return attempt(distribution, method, substrate)
  except NotImplementedError as error:
    return {"NotImplementedError": str(error)}


def attempt(distribution: Any, method: str, substrate: str) -> Any:
  """Calls a method with the arguments of the table."""

  def argument(x: Any) -> Any:
    if isinstance(x, str) and x == cases.VALUE:
      x = cases.value_of(distribution)
    if isinstance(x, str) and x == cases.OTHER:
      # Divergences from the distribution itself would be zero.
      return other_of(distribution, substrate)
    return comparisons.to_substrate(x, substrate)

  arguments = [argument(x) for x in cases.METHODS[method]]
  return getattr(distribution, method)(*arguments)


def other_of(distribution: Any, substrate: str) -> Any:
  x = cases.Substrate(substrate)
  if distribution.event_shape:
    return distribution
  if cases.is_discrete(distribution):
    return x.pd.DiscretePhaseType(
      x.array([0.5, 0.375]),
      x.array([[0.5, 0.25], [0.25, 0.5]]),
      x.array([0.25, 0.25]),
      x.array(0.125),
    )
  return x.pd.PhaseType(
    x.array([0.5, 0.375]),
    x.array([[0.0, 1.25], [0.5, 0.0]]),
    x.array([0.25, 1.5]),
    x.array(0.125),
  )


class CompletenessTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_all_names_are_called(self, substrate):
    self.assert_complete(
      comparisons.SUBSTRATES[substrate].distributions,
      (*FAMILIES, *FUNCTIONS, *OTHERS),
      "public_distributions_cases",
    )

  @parameterized.product(
    family=tuple(FAMILIES), substrate=tuple(comparisons.SUBSTRATES)
  )
  def test_all_methods_are_called(self, family, substrate):
    cls = getattr(comparisons.SUBSTRATES[substrate].distributions, family)
    makers = {x.split(".")[1] for x in MAKERS}
    known = {*cases.METHODS, *cases.SAMPLERS, *cases.OTHER_METHODS, *makers}
    self.assertEqual(
      sorted(set(cases.public_methods(cls)) - known),
      [],
      f"{family} has public methods without arguments in "
      "public_distributions_cases.METHODS: add them",
    )


class FamilyTest(comparisons.TestCase):
  @parameterized.named_parameters(
    *comparisons.in_others((*FAMILIES, *cases.OF_EDGES))
  )
  def test_families(self, family, substrate):
    """Compares parameters, log densities and properties of classes."""
    make = {**FAMILIES, **cases.OF_EDGES}[family]
    expected, found = (make(cases.Substrate(x)) for x in ("numpy", substrate))
    self.assert_agrees(found, expected)
    for method in ("log_prob", "mean"):
      with self.subTest(method):
        self.assert_same_outcome(found, expected, method, substrate)
    cls = type(expected)
    for name in dir(cls):
      is_property = isinstance(inspect.getattr_static(cls, name), property)
      if is_property and not name.startswith("_"):
        with self.subTest(name):
          self.assert_same_fact(getattr(found, name), getattr(expected, name))
    self.assertEqual(
      str(type(found).parameter_properties()), str(cls.parameter_properties())
    )

  def assert_same_fact(self, actual, expected):
    """Compares properties: arrays, distributions, and others by their text."""
    try:
      comparisons.leaves(expected)
    except TypeError:
      self.assertEqual(repr(actual), repr(expected))
    else:
      self.assert_agrees(actual, expected)

  @parameterized.named_parameters(*comparisons.in_others(cases.first_methods()))
  def test_methods(self, case, substrate):
    family, method = case
    found, expected = (
      FAMILIES[family](cases.Substrate(x)) for x in (substrate, "numpy")
    )
    self.assert_same_outcome(found, expected, method, substrate)

  def assert_same_outcome(self, found, expected, method, substrate):
    """Compares a method's result with NumPy's."""
    truth = outcome(expected, method, "numpy")
    family = type(expected).__name__
    if substrate == "jax" and family not in PLAIN and method not in EAGER:
      # Each compilation takes a second.
      try:
        traced = jax.eval_shape(lambda x: attempt(x, method, "jax"), found)
      except NotImplementedError as error:
        traced = {"NotImplementedError": str(error)}
      self.assert_same_shapes(traced, truth)
      return
    exact = family in PLAIN and method in cases.EXACT
    self.assert_agrees(
      outcome(found, method, substrate), truth, 0 if exact else comparisons.RTOL
    )

  @parameterized.named_parameters(*comparisons.in_others((*FUNCTIONS, *MAKERS)))
  def test_functions(self, name, substrate):
    make = {**FUNCTIONS, **MAKERS}[name]
    expected, found = (make(cases.Substrate(x)) for x in ("numpy", substrate))
    self.assert_agrees(found, expected)

  @parameterized.product(
    family=(*FAMILIES, *cases.OF_EDGES),
    substrate=tuple(comparisons.SUBSTRATES),
  )
  def test_sample(self, family, substrate):
    """Compares shapes of samples, as their values differ."""
    if substrate == "jax" and family not in SAMPLED_IN_JAX:
      self.skipTest("compiles for seconds")
    x = cases.Substrate(substrate)
    distribution = {**FAMILIES, **cases.OF_EDGES}[family](x)
    event = tuple(distribution.event_shape)
    sample = distribution.sample((3, 2), seed=x.seed(1))
    self.assertEqual(onp.shape(sample), (3, 2, *event))
    self.assertTrue(onp.all(distribution.support.contains(sample)))
    self.assertEqual(onp.asarray(sample).dtype, "float64")
    if family not in ("PhaseType", "DiscretePhaseType"):
      return
    sample, log_prob = distribution.sample_and_log_prob(4, seed=x.seed(2))
    self.assert_agrees(log_prob, distribution.log_prob(sample))
    paths = distribution.sample_paths(3, 2, seed=x.seed(3))
    self.assertEqual(onp.shape(paths.phases), (2, 4))
    self.assertTrue(onp.all(onp.diff(onp.asarray(paths.times)) >= 0))


class OtherNamesTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_divergences(self, substrate):
    x = cases.Substrate(substrate)

    class Clock(x.pd.Erlang):
      pass

    clock = Clock(2, x.array(0.8))
    other = x.pd.Erlang(2, x.array(0.5))
    # n (log(a / b) + b / a - 1), as for exponential times.
    truth = onp.asarray(2 * (onp.log(0.8 / 0.5) + 0.5 / 0.8 - 1))
    self.assert_agrees(x.pd.kl_divergence(clock, other), truth, 1e-9)
    x.pd.register_kl(Clock, x.pd.Erlang)(lambda p, q: p.rate - q.rate)
    self.assert_agrees(x.pd.kl_divergence(clock, other), onp.asarray(0.8 - 0.5))

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_data(self, substrate):
    x = cases.Substrate(substrate)
    support = x.pd.Support("nonnegative", low=x.array(1.0))
    inside = support.contains(x.array([-1.0, 0.5, 2.0]))
    self.assertEqual(onp.asarray(inside).tolist(), [False, False, True])
    properties = x.pd.ParameterProperties(0, "positive")
    bijector = properties.default_constraining_bijector()
    self.assertGreater(float(bijector.forward(x.array(-3.0))), 0)
    bijector = x.erlang().experimental_default_event_space_bijector()
    self.assert_agrees(
      bijector.forward(x.array(1.5)), onp.asarray(onp.exp(1.5))
    )
    self.assertTrue(issubclass(x.pd.Erlang, x.pd.Distribution))
    self.assertTrue(issubclass(x.pd.MatrixPareto, x.pd.TransformedPhaseType))
    for name in ("FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED"):
      marker = getattr(x.pd, name)
      self.assertIsInstance(marker, x.pd.ReparameterizationType)
      self.assertEqual(marker.name, name)


class DerivativesTest(comparisons.TestCase):
  """Tests derivatives in structures of parameters, by closed forms."""

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_structures(self, substrate):
    """Tests log f = log(r) - r t of an exponential time with rate r = 2 a b."""
    ph = comparisons.SUBSTRATES[substrate]
    a, b, t = comparisons.to_substrate(
      (onp.asarray(0.5), onp.asarray(3.0), onp.asarray(0.75)), substrate
    )
    count = onp.asarray(2)

    def log_prob(parameters: Any, time: Any) -> Any:
      (x, y), n = parameters["factors"], parameters["count"]
      return ph.distributions.Erlang(1, float(n) * x * y).log_prob(time)

    parameters = {"factors": (a, [b][0]), "count": count}
    value, gradient = ph.math.value_and_gradient(log_prob, parameters, t)
    self.assert_agrees(value, onp.log(3.0) - 3.0 * 0.75)
    slope = 1 / 3 - 0.75
    self.assert_agrees(gradient[0]["factors"][0], onp.asarray(6 * slope))
    self.assert_agrees(gradient[0]["factors"][1], onp.asarray(slope))
    self.assertIsNone(gradient[0]["count"])
    self.assert_agrees(gradient[1], onp.asarray(-3.0))
    tangents = ({"factors": (1.0, None), "count": None}, None)
    _, moved = ph.math.jvp(log_prob, (parameters, t), tangents)
    self.assert_agrees(moved, onp.asarray(6 * slope))
    product = ph.math.hessian_vector_product(
      log_prob, (parameters, t), tangents
    )
    # Second derivatives in a, b and t: -1 / a^2, -2 t and -2 b.
    self.assert_agrees(product[0]["factors"][0], onp.asarray(-4.0))
    self.assert_agrees(product[0]["factors"][1], onp.asarray(-1.5))
    self.assert_agrees(product[1], onp.asarray(-6.0))


class AnchorTest(comparisons.TestCase):
  """Tests the reference substrate, NumPy, by closed forms."""

  def test_laws(self):
    x = cases.Substrate("numpy")
    times = onp.asarray([0.1, 1.0, 7.0])
    erlang = scipy.stats.gamma(2, scale=1 / 0.8)
    for name, truth in (
      ("Erlang", erlang.logpdf(times)),
      ("MatrixWeibull", erlang.logpdf(times**1.7) + onp.log(1.7 * times**0.7)),
      ("ZeroInflated", erlang.logpdf(times) + onp.log(0.75)),
      ("ResidualLife", erlang.logpdf(times + 2.5) - erlang.logsf(2.5)),
      ("Equilibrium", erlang.logsf(times) + onp.log(0.8 / 2)),
      ("Shifted", erlang.logpdf(times - 0.05)),
    ):
      with self.subTest(name):
        self.assert_agrees(FAMILIES[name](x).log_prob(times), truth, 1e-12)
    self.assert_agrees(FUNCTIONS["convolution"](x).mean(), 2 * 2 / 0.8)
    self.assert_agrees(
      FUNCTIONS["minimum"](x).survival_function(times), erlang.sf(times) ** 2
    )
    self.assert_agrees(
      FUNCTIONS["maximum"](x).cdf(times), erlang.cdf(times) ** 2, 1e-11
    )
    self.assert_agrees(FUNCTIONS["random_sum"](x).mean(), 2 / 0.3 * 2 / 0.8)


if __name__ == "__main__":
  absltest.main()
