"""Every function of `ph.math`, in all substrates."""

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
DERIVATIVES = cases.derivative_names()
HVPS = (
  "log_likelihood_terms_hvp",
  "discrete_phase_type_log_likelihood_terms_hvp",
)
SETTINGS = (
  "num_threads",
  "path",
  "precision",
  "set_num_threads",
  "unavailable_reason",
  "use_path",
)
STRUCTURES = ("EdgeProbs", "EdgeRates", "ExpectedStatistics")
# Derivatives whose values JAX computes: those by the kernel, and one by
# elimination. The others are traced, as each compiles for a second; their
# array code is that of TensorFlow, which computes all.
COMPILED = (
  *(x for x in DERIVATIVES if CASES[x[:-4]].exact),
  *HVPS,
  "expected_jumps_vjp",
)
# Run in one compiled function, with their gradients: each kind of rule once.
TRACED = (
  "log_density",
  "survival",
  "quantile",
  "variance",
  "discrete_phase_type_log_prob",
  "expected_jumps",
)
# Gradients outside of compiled functions. JAX compiles each for seconds.
GRADIENTS = {
  "jax": ("density", "log_survival", "raw_moments"),
  "tf": tuple(x[:-4] for x in DERIVATIVES if x.endswith("_vjp")),
}

# Gradients in counts that are NaN, where NumPy's derivative is zero.
UNKNOWN_GRADIENTS = (("discrete_phase_type_occupancy", 2),)


def options_of(name: str) -> dict[str, Any]:
  """Arguments by name of a function or a derivative, on the host."""
  base, kind = name, ""
  for ending in ("_jvp", "_vjp", "_hvp"):
    if name.endswith(ending):
      base, kind = name[: -len(ending)], ending
  case = CASES[base]
  options = dict(case.options)
  if kind in ("_jvp", "_hvp"):
    options["tangents"] = cases.tangents(case)
  if kind in ("_vjp", "_hvp"):
    options["cotangent"] = cotangent(base)
  return {"case": case, **case.named, **options}


def call(substrate: str, name: str) -> Any:
  """Calls a function of the table."""
  options = options_of(name)
  case = options.pop("case")
  arguments, options = comparisons.to_substrate(
    (case.arguments, options), substrate
  )
  function = getattr(comparisons.SUBSTRATES[substrate].math, name)
  return function(*arguments, **options)


@functools.cache
def expected(name: str) -> Any:
  """NumPy's result."""
  return call("numpy", name)


def cotangent(name: str) -> Any:
  return cases.direction(onp.asarray(expected(name)))


def is_varied(x: Any) -> bool:
  return cases.direction(x) is not None


def varied(case: cases.Case) -> list[Any]:
  """The floating-point arrays of a case, of edges their parameters."""
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
  function = getattr(comparisons.SUBSTRATES[substrate].math, name)
  options = {
    key: comparisons.to_substrate(x, substrate)
    for key, x in options.items()
    if key not in named
  }
  return function(*arguments, **named, **options)


def with_gradients(substrate: str, name: str, arrays: Any) -> Any:
  """The result and the cotangents of the arrays, by automatic derivatives."""
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
  base = name[:-4] if name.endswith(cases.DERIVATIVES) else name
  exact = base in CASES and CASES[base].exact
  return 0.0 if exact else comparisons.RTOL


class CompletenessTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_all_names_are_called(self, substrate):
    called = {*CASES, *DERIVATIVES, *HVPS, *SETTINGS, *STRUCTURES}
    self.assert_complete(
      comparisons.SUBSTRATES[substrate].math, called, "public_math_cases.CASES"
    )


class ValueTest(comparisons.TestCase):
  @parameterized.named_parameters(*comparisons.in_others(CASES))
  def test_values(self, name, substrate):
    self.assert_agrees(call(substrate, name), expected(name), rtol_of(name))

  @parameterized.named_parameters(*comparisons.in_others((*DERIVATIVES, *HVPS)))
  def test_derivatives(self, name, substrate):
    if substrate == "tf" or name in COMPILED:
      self.assert_agrees(call(substrate, name), expected(name), rtol_of(name))
      return
    found = jax.eval_shape(
      functools.partial(with_values, "jax", name), arrays_of("jax", name)
    )
    self.assert_same_shapes(found, expected(name))

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

    # The compiled function gets structures without None, ints and the like.
    traced = {
      "jax": jax.jit,
      "tf": functools.partial(tf.function, autograph=False),
    }[substrate](run)
    found = traced({x: arrays_of(substrate, x) for x in TRACED})
    for name in TRACED:
      with self.subTest(name):
        self.assert_gradients(found[name], name)

  def assert_gradients(self, actual, name):
    """Compares a value and gradients with those of NumPy's *_vjp."""
    value, bars = expected(f"{name}_vjp")
    values = CASES[name].values()
    bars = tuple(
      bar for x, bar in zip(values, bars, strict=True) if is_varied(x)
    )
    self.assert_agrees(actual[0], value, rtol_of(name))
    for i, (x, bar) in enumerate(zip(actual[1], bars, strict=True)):
      if (name, i) not in UNKNOWN_GRADIENTS:
        found = onp.zeros_like(bar) if x is None else x
        self.assert_agrees(found, bar, 1e-12)


class SettingsTest(comparisons.TestCase):
  @parameterized.parameters(*comparisons.SUBSTRATES)
  def test_settings(self, substrate):
    math = comparisons.SUBSTRATES[substrate].math
    count = math.num_threads()
    self.assertGreaterEqual(count, 1)
    math.set_num_threads(1)
    self.assertEqual(math.num_threads(), 1)
    math.set_num_threads(count)
    # Without the kernel, comparisons to the last bit mean nothing.
    self.assertEqual(math.path(), "kernel", math.unavailable_reason())
    self.assertEqual(math.unavailable_reason(), "")
    self.assertEqual(math.precision(), "float64")
    arguments = comparisons.to_substrate(cases.at(cases.TIMES[1]), substrate)
    with math.use_path("portable"):
      self.assertEqual(math.path(), "portable")
      found = math.density(*arguments)
    expected_value = comparisons.in_numpy.math.density(
      *cases.at(cases.TIMES[1])
    )
    self.assert_agrees(found, expected_value, 1e-12)


class AnchorTest(comparisons.TestCase):
  """Closed forms: what the others are compared with is right itself."""

  def test_erlang(self):
    math = comparisons.in_numpy.math
    law = scipy.stats.gamma(2, scale=0.5)
    model = ([1.0, 0.0], [[-2.0, 2.0], [0.0, -2.0]])
    times = onp.asarray([0.1, 1.0, 7.0])
    for name, truth in (
      ("density", law.pdf),
      ("log_density", law.logpdf),
      ("cdf", law.cdf),
      ("log_cdf", law.logcdf),
      ("survival", law.sf),
      ("log_survival", law.logsf),
    ):
      with self.subTest(name):
        self.assert_agrees(
          getattr(math, name)(*model, times), truth(times), 1e-11
        )
    levels = onp.asarray([0.3, 0.95])
    self.assert_agrees(math.quantile(*model, levels), law.ppf(levels), 1e-11)
    self.assert_agrees(math.mean(*model), 1.0)
    self.assert_agrees(math.variance(*model), 0.5)
    self.assert_agrees(
      math.raw_moments(*model, order=3), onp.asarray([1.0, 1.5, 3.0])
    )

  def test_exponential_derivatives(self):
    math = comparisons.in_numpy.math
    rate, time = 1.5, 0.75
    model = ([1.0], [[-rate]])
    # log f = log(rate) - rate t; the subgenerator is minus the rate.
    value, bars = math.log_density_vjp(*model, time, cotangent=1.0)
    self.assert_agrees(value, onp.log(rate) - rate * time)
    self.assert_agrees(bars[1], onp.asarray([[time - 1 / rate]]))
    self.assert_agrees(bars[2], onp.asarray(-rate))
    _, moved = math.log_density_jvp(
      *model, time, tangents=(None, [[-2.0]], 0.5, None, None)
    )
    self.assert_agrees(moved, onp.asarray(2 * (1 / rate - time) - 0.5 * rate))
    _, bars = math.quantile_vjp(*model, 0.5, cotangent=1.0)
    self.assert_agrees(bars[1], onp.asarray([[onp.log(2) / rate**2]]))
    self.assert_agrees(bars[2], onp.asarray(2 / rate))

  def test_geometric(self):
    math = comparisons.in_numpy.math
    law = scipy.stats.geom(0.25)
    counts = onp.asarray([1.0, 4.0, 20.0])
    for name, truth in (("prob", law.pmf), ("cdf", law.cdf)):
      function = getattr(math, f"discrete_phase_type_{name}")
      self.assert_agrees(
        function([1.0], [[0.75]], counts), truth(counts), 1e-12
      )
    self.assert_agrees(math.discrete_phase_type_mean([1.0], [[0.75]]), 4.0)


if __name__ == "__main__":
  absltest.main()
