"""Every function of `ph.math`, and `ph.config`, in all substrates."""

import functools
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp
import scipy.stats
import tensorflow as tf

from tests.cross import comparisons
from tests.cross import public_math_cases as cases

CASES = cases.CASES
# Functions without rules for first derivatives, or with structured arguments.
WITHOUT_DERIVATIVES = (
  "discrete_phase_type.quantile",
  "discrete_phase_type.quantile_log_cdf",
  "discrete_phase_type.quantile_log_survival",
  "phase_type.expected_statistics",
  *(
    f"{module}.{name}"
    for module in ("discrete_phase_type", "phase_type")
    for name in (
      *("cross_entropy", "diagnose", "entropy"),
      *("kl_divergence", "reward_transform"),
    )
  ),
)
DIFFERENTIABLE = tuple(x for x in CASES if x not in WITHOUT_DERIVATIVES)
# See `DerivativesTest`.
DERIVATIVES = (
  "hessian_vector_product",
  "jvp",
  "stop_gradient",
  "value_and_gradient",
  "vjp",
)
SETTINGS = (
  "num_threads",
  "path",
  "precision",
  "set_num_threads",
  "set_work_limit",
  "unavailable_reason",
  "use_path",
  "work_limit",
)
# Functions of chains without absorption, see `LongRunTest`.
LONG_RUN = ("long_run_reward_rate", "stationary_distribution")
STRUCTURES = ("EdgeProbs", "EdgeRates", "ExpectedStatistics")
MODULES = ("discrete_phase_type", "phase_type")
# Derivatives whose values JAX computes: those by the kernel, and one by
# elimination. Others are only traced, as each compiles for a second.
# TensorFlow, which has the same array code, computes all.
COMPILED = (
  *(x for x in DIFFERENTIABLE if CASES[x].exact),
  "phase_type.expected_jumps",
)
# One function for each kind of rule, compiled together with gradients.
TRACED = (
  "phase_type.log_prob",
  "phase_type.survival_function",
  "phase_type.quantile",
  "phase_type.variance",
  "discrete_phase_type.log_prob",
  "phase_type.expected_jumps",
)
# Eager gradients, which JAX compiles for seconds each.
GRADIENTS = {
  "jax": (
    "phase_type.prob",
    "phase_type.log_survival_function",
    "phase_type.raw_moments",
  ),
  "tf": DIFFERENTIABLE,
}


def function_of(substrate: str, name: str) -> Any:
  """Returns the function with a qualified name."""
  module, _, last = name.partition(".")
  return getattr(getattr(comparisons.SUBSTRATES[substrate].math, module), last)


def options_of(name: str) -> dict[str, Any]:
  """Returns keyword arguments of a function, as host values."""
  case = CASES[name]
  return {"case": case, **case.named, **case.options}


def call(substrate: str, name: str) -> Any:
  """Calls a function of the table."""
  options = options_of(name)
  case = options.pop("case")
  arguments, options = comparisons.to_substrate(
    (case.arguments, options), substrate
  )
  function = function_of(substrate, name)
  return function(*arguments, **options)


@functools.cache
def expected(name: str) -> Any:
  """Returns NumPy's result."""
  return call("numpy", name)


@functools.cache
def expected_derivatives(name: str) -> Any:
  """Returns NumPy's derivatives."""
  return derivatives("numpy", name)


def derivatives(substrate: str, name: str) -> Any:
  """Computes value, cotangents and tangent, by functions of `math`."""
  math = comparisons.SUBSTRATES[substrate].math
  arrays = arrays_of(substrate, name)

  def of(*x: Any) -> Any:
    return with_values(substrate, name, x)

  value, pullback = math.vjp(of, *arrays)
  bars = pullback(comparisons.to_substrate(cotangent(name), substrate))
  along = [cases.direction(x) for x in varied(CASES[name])]
  along = comparisons.to_substrate(along, substrate)
  return value, bars, math.jvp(of, arrays, along)[1]


def cotangent(name: str) -> Any:
  return cases.direction(onp.asarray(expected(name)))


def is_varied(x: Any) -> bool:
  return cases.direction(x) is not None


def varied(case: cases.Case) -> list[Any]:
  """Returns the floating-point arrays of a case, or parameters of edges."""
  values = [x for x in case.values() if is_varied(x)]
  return [getattr(x, "parameters", x) for x in values]


def with_values(substrate: str, name: str, arrays: Any) -> Any:
  """Calls a function of the table with other floating-point arrays."""
  options = options_of(name)
  case, rest = options.pop("case"), list(arrays)

  def replaced(x: Any) -> Any:
    if not is_varied(x):
      return comparisons.to_substrate(x, substrate)
    y = rest.pop(0)
    if not hasattr(x, "parameters"):
      return y
    return comparisons.to_substrate(x, substrate)._replace(parameters=y)

  arguments = [replaced(x) for x in case.arguments]
  named = {key: replaced(x) for key, x in case.named.items()}
  function = function_of(substrate, name)
  options = {
    key: comparisons.to_substrate(x, substrate)
    for key, x in options.items()
    if key not in named
  }
  return function(*arguments, **named, **options)


def with_gradients(substrate: str, name: str, arrays: Any) -> Any:
  """Computes the result and the cotangents of the arrays, by autodiff."""
  bar = comparisons.to_substrate(cotangent(name), substrate)
  call_with = functools.partial(with_values, substrate, name)
  if substrate == "jax":
    value, pull = jax.vjp(lambda *x: call_with(x), *arrays)
    return value, pull(bar)
  with tf.GradientTape() as tape:
    tape.watch(arrays)
    value = call_with(arrays)
  return value, tape.gradient(value, arrays, bar)


def arrays_of(substrate: str, name: str) -> Any:
  case = options_of(name)["case"]
  return comparisons.to_substrate(tuple(varied(case)), substrate)


def rtol_of(name: str) -> float:
  return 0.0 if CASES[name].exact else comparisons.RTOL


class CompletenessTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_all_names_are_called(self, substrate):
    ph = comparisons.SUBSTRATES[substrate]
    source = "public_math_cases.CASES"
    names = {*MODULES, *DERIVATIVES, *STRUCTURES, *LONG_RUN}
    self.assert_complete(ph.math, names, source)
    self.assert_complete(ph.config, set(SETTINGS), source)
    for module in MODULES:
      names = [name.partition(".") for name in CASES]
      called = {last for first, _, last in names if first == module}
      self.assert_complete(getattr(ph.math, module), called, source)


class LongRunTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_values(self, substrate):
    math = comparisons.SUBSTRATES[substrate].math
    rates, rewards = comparisons.to_substrate(
      (cases.ARRAY([[-1.0, 1.0], [4.0, -4.0]]), cases.REWARDS), substrate
    )
    probs = math.stationary_distribution(rates)
    self.assert_agrees(probs, cases.ARRAY([0.8, 0.2]), 1e-15)
    rate = math.long_run_reward_rate(rewards, rates)
    self.assert_agrees(rate, cases.ARRAY(0.9), 1e-15)


class ValueTest(comparisons.TestCase):
  @parameterized.named_parameters(*comparisons.in_others(CASES))
  def test_values(self, name, substrate):
    self.assert_agrees(call(substrate, name), expected(name), rtol_of(name))

  @parameterized.named_parameters(*comparisons.in_others(DIFFERENTIABLE))
  def test_derivatives(self, name, substrate):
    wanted = expected_derivatives(name)
    if substrate == "tf" or name in COMPILED:
      found = derivatives(substrate, name)
      tolerance = rtol_of(name) or None
      for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted)):
        self.assert_agrees(x, y, 1e-12 if tolerance else 0.0)
      return
    found = jax.eval_shape(functools.partial(derivatives, "jax", name))
    self.assert_same_shapes(found, wanted)

  @parameterized.named_parameters(
    (f"_{name}_{substrate}", name, substrate)
    for substrate, names in GRADIENTS.items()
    for name in names
  )
  def test_gradients(self, name, substrate):
    arrays = arrays_of(substrate, name)
    self.assert_gradients(with_gradients(substrate, name, arrays), name)

  @parameterized.parameters(*comparisons.OTHERS)
  def test_traced(self, substrate):
    def run(arrays: Any) -> Any:
      return {x: with_gradients(substrate, x, arrays[x]) for x in arrays}

    # The compiled function takes structures of arrays only.
    traced = {
      "jax": jax.jit,
      "tf": functools.partial(tf.function, autograph=False),
    }[substrate](run)
    found = traced({x: arrays_of(substrate, x) for x in TRACED})
    for name in TRACED:
      with self.subTest(name):
        self.assert_gradients(found[name], name)

  def assert_gradients(self, actual, name):
    """Compares a value and gradients with NumPy's."""
    value, bars, _ = expected_derivatives(name)
    self.assert_agrees(actual[0], value, rtol_of(name))
    for x, bar in zip(actual[1], bars, strict=True):
      found = onp.zeros_like(bar) if x is None else x
      self.assert_agrees(found, bar, 1e-12)


class DerivativesTest(comparisons.TestCase):
  """Tests derivatives of users' functions, by closed forms."""

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_several_results(self, substrate):
    math = comparisons.SUBSTRATES[substrate].math
    x = comparisons.to_substrate(onp.asarray([0.5, 1.5]), substrate)
    value, pullback = math.vjp(lambda x: {"twice": 2.0 * x, "all": (x,)}, x)
    self.assert_agrees(value["all"][0], onp.asarray([0.5, 1.5]))
    bars = pullback({"twice": onp.asarray([1.0, 0.0]), "all": (None,)})
    self.assert_agrees(bars[0], onp.asarray([2.0, 0.0]))
    bars = pullback({"twice": None, "all": (onp.asarray([1.0, 3.0]),)})
    self.assert_agrees(bars[0], onp.asarray([1.0, 3.0]))

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_numbers(self, substrate):
    math = comparisons.SUBSTRATES[substrate].math
    _, slope = math.value_and_gradient(lambda x: x * x, 3)
    self.assert_agrees(slope, onp.asarray(6.0))
    _, (a, b) = math.value_and_gradient(lambda x, y: x * y * y, 3, 2.0)
    self.assert_agrees(a, onp.asarray(4.0))
    self.assert_agrees(b, onp.asarray(12.0))
    same = comparisons.to_substrate(onp.asarray(2.0), substrate)
    _, (a, b) = math.value_and_gradient(lambda x, y: x * y * y, same, same)
    self.assert_agrees(a, onp.asarray(4.0))
    self.assert_agrees(b, onp.asarray(8.0))
    _, slope = math.value_and_gradient(
      lambda x: x * math.stop_gradient({"a": (x, None)})["a"][0], 3.0
    )
    self.assert_agrees(slope, onp.asarray(3.0))

  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_mistakes(self, substrate):
    math = comparisons.SUBSTRATES[substrate].math
    with self.assertRaisesRegex(TypeError, "no argument has real numbers"):
      math.value_and_gradient(lambda x: x, onp.asarray(3))
    with self.assertRaisesRegex(TypeError, "no argument has real numbers"):
      math.value_and_gradient(lambda: 1.0)
    with self.assertRaisesRegex(TypeError, "f returned .*one array"):
      math.value_and_gradient(lambda x: (x, x), 3.0)
    with self.assertRaisesRegex(TypeError, "f returned .*one array"):
      math.hessian_vector_product(lambda x: {"a": x}, (3.0,), (1.0,))
    with self.assertRaisesRegex(TypeError, "an argument"):
      math.vjp(lambda x, y: x, 3.0, "text")
    with self.assertRaisesRegex(TypeError, "f returned an array of .*complex"):
      math.vjp(lambda x: onp.asarray(1j), 3.0)
    with self.assertRaisesRegex(TypeError, "f is 3.0: it must be a function"):
      math.vjp(3.0, 1.0)
    with self.assertRaisesRegex(TypeError, "primals is 1.0: it must be a tup"):
      math.jvp(lambda x: x, 1.0, 1.0)
    with self.assertRaisesRegex(TypeError, "primals is 1.0: it must be a tup"):
      math.hessian_vector_product(lambda x: x, 1.0, 1.0)
    with self.assertRaisesRegex(ValueError, "tangents has 1 entries"):
      math.jvp(lambda x, y: x * y, (1.0, 2.0), (1.0,))
    with self.assertRaisesRegex(ValueError, "a tangent is .*structure"):
      math.jvp(lambda x: x["a"], ({"a": 1.0},), ({"b": 1.0},))
    _, pullback = math.vjp(lambda x: (x, x), 3.0)
    with self.assertRaisesRegex(ValueError, "a cotangent is .*structure"):
      pullback((1.0,))


class SettingsTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_settings(self, substrate):
    ph = comparisons.SUBSTRATES[substrate]
    config = ph.config
    count = config.num_threads()
    self.assertGreaterEqual(count, 1)
    config.set_num_threads(1)
    self.assertEqual(config.num_threads(), 1)
    config.set_num_threads(count)
    before = config.work_limit()
    config.set_work_limit(5)
    self.assertAlmostEqual(config.work_limit(), 5.0)
    config.set_work_limit(before)
    self.assertEqual(config.work_limit(), before)
    # Bitwise comparisons need the kernel.
    self.assertEqual(config.path(), "kernel", config.unavailable_reason())
    self.assertEqual(config.unavailable_reason(), "")
    self.assertEqual(config.precision(), "float64")
    arguments = comparisons.to_substrate(cases.at(cases.TIMES[1]), substrate)
    with config.use_path("portable"):
      self.assertEqual(config.path(), "portable")
      found = ph.math.phase_type.prob(*arguments)
    expected_value = comparisons.in_numpy.math.phase_type.prob(
      *cases.at(cases.TIMES[1])
    )
    self.assert_agrees(found, expected_value, 1e-12)


class AnchorTest(comparisons.TestCase):
  """Tests the reference substrate, NumPy, by closed forms."""

  def test_erlang(self):
    math = comparisons.in_numpy.math
    law = scipy.stats.gamma(2, scale=0.5)
    model = ([1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]])
    times = onp.asarray([0.1, 1.0, 7.0])
    for name, truth in (
      ("prob", law.pdf),
      ("log_prob", law.logpdf),
      ("cdf", law.cdf),
      ("log_cdf", law.logcdf),
      ("survival_function", law.sf),
      ("log_survival_function", law.logsf),
    ):
      with self.subTest(name):
        self.assert_agrees(
          getattr(math.phase_type, name)(times, *model), truth(times), 1e-11
        )
    levels = onp.asarray([0.3, 0.95])
    self.assert_agrees(
      math.phase_type.quantile(levels, *model), law.ppf(levels), 1e-11
    )
    self.assert_agrees(math.phase_type.mean(*model), 1.0)
    self.assert_agrees(math.phase_type.variance(*model), 0.5)
    self.assert_agrees(
      math.phase_type.raw_moments(3, *model), onp.asarray([1.0, 1.5, 3.0])
    )

  def test_exponential_derivatives(self):
    math = comparisons.in_numpy.math
    rate, time = 1.5, 0.75
    model = ([1.0], onp.asarray([[-rate]]))
    # log f = log(rate) - rate t; the subgenerator is minus the rate.
    value, slopes = math.value_and_gradient(
      lambda matrix, t: math.phase_type.log_prob(t, [1.0], matrix),
      model[1],
      time,
    )
    self.assert_agrees(value, onp.log(rate) - rate * time)
    self.assert_agrees(slopes[0], onp.asarray([[time - 1 / rate]]))
    self.assert_agrees(slopes[1], onp.asarray(-rate))
    _, moved = math.jvp(
      lambda matrix, t: math.phase_type.log_prob(t, [1.0], matrix),
      (model[1], time),
      (onp.asarray([[-2.0]]), 0.5),
    )
    self.assert_agrees(moved, onp.asarray(2 * (1 / rate - time) - 0.5 * rate))
    _, slopes = math.value_and_gradient(
      lambda matrix, u: math.phase_type.quantile(u, [1.0], matrix),
      model[1],
      0.5,
    )
    self.assert_agrees(slopes[0], onp.asarray([[onp.log(2) / rate**2]]))
    self.assert_agrees(slopes[1], onp.asarray(2 / rate))

  def test_geometric(self):
    math = comparisons.in_numpy.math
    law = scipy.stats.geom(0.25)
    counts = onp.asarray([1.0, 4.0, 20.0])
    for name, truth in (("prob", law.pmf), ("cdf", law.cdf)):
      function = getattr(math.discrete_phase_type, name)
      self.assert_agrees(
        function(counts, [1.0], [[0.75]]), truth(counts), 1e-12
      )
    self.assert_agrees(math.discrete_phase_type.mean([1.0], [[0.75]]), 4.0)


if __name__ == "__main__":
  absltest.main()
