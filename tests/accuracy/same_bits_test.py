"""NumPy, JAX and TensorFlow return the same bits on the CPU."""

import importlib
import importlib.util

from absl.testing import absltest
from absl.testing import parameterized
import numpy as onp

from phasic.substrates.numpy.math.model import function_kinds
from tests.accuracy import cases
from tests.accuracy import kernel_calls
from tests.oracle import models
from tests.oracle import phase_type_oracle as oracle

HAVE_JAX = importlib.util.find_spec("jax") is not None
HAVE_TF = importlib.util.find_spec("tensorflow") is not None
if HAVE_JAX:
  import jax

  jax.config.update("jax_enable_x64", True)
if HAVE_TF:
  import tensorflow as tf

_PACKAGES = {"numpy": "numpy"}
if HAVE_JAX:
  _PACKAGES["jax"] = "jax"
if HAVE_TF:
  _PACKAGES["tf"] = "tensorflow"


# Of functions, by what the kernel calls them.
_NAMES = {kind: name for name, kind in function_kinds.KINDS.items()}


def _math(substrate):
  return importlib.import_module(f"phasic.substrates.{substrate}.math")


def _observations(math):
  return importlib.import_module(f"{math.__name__}.likelihood.observations")


def _function(math, kind):
  """A function of `math`, of arguments in the order of the oracle's."""
  function = getattr(math.phase_type, _NAMES[kind])
  return lambda alpha, matrix, times, exits, atom: function(
    times, alpha, matrix, exits, atom
  )


def _arguments(model, options, dtype):
  """(initial_probs, subgenerator, times, exit_rates, prob_zero)."""
  times = onp.array(cases.DERIVATIVE_TIMES[model])
  operands = cases.operands(model, options, times)
  alpha, matrix, exits, atom, times = (
    None if x is None else onp.asarray(x, dtype) for x in operands
  )
  return alpha, matrix, times, exits, atom


def _host(x):
  """Arrays, None and tuples of them, on the host."""
  if x is None or isinstance(x, tuple | list):
    return None if x is None else [_host(part) for part in x]
  return onp.asarray(x)


def _tangents(arguments, dtype):
  rng = onp.random.default_rng(29)
  return tuple(
    None
    if x is None
    else onp.asarray(rng.standard_normal(x.shape) * onp.abs(x), dtype)
    for x in arguments
  )


def _vjp(math, name, arguments, cotangent):
  """The value, and the cotangents of the arguments that are given."""
  given, of_given = _of_given(_function(math, name), arguments)
  value, pullback = math.vjp(of_given, *given)
  return value, pullback(cotangent)


def _jvp(math, name, arguments, tangents):
  given, of_given = _of_given(_function(math, name), arguments)
  return math.jvp(of_given, given, [v for v in tangents if v is not None])


def _of_given(function, arguments):
  """The arguments that are not None, and a function of them."""
  places = [i for i, x in enumerate(arguments) if x is not None]

  def of_given(*values):
    full = [None] * len(arguments)
    for i, value in zip(places, values, strict=True):
      full[i] = value
    return function(*full)

  return [arguments[i] for i in places], of_given


def _jax_vjp(name, arguments, cotangent):
  """By jax.vjp itself, jitted."""
  given, of_given = _of_given(_function(_math("jax"), name), arguments)

  @jax.jit
  def both(values, cotangent):
    value, pull = jax.vjp(of_given, *values)
    return value, pull(cotangent)

  return both(given, cotangent)


def _tf_vjp(name, arguments, cotangent):
  """By tf.GradientTape itself, in a tf.function."""
  given, of_given = _of_given(_function(_math("tf"), name), arguments)

  @tf.function
  def both(values, cotangent):
    with tf.GradientTape() as tape:
      tape.watch(values)
      result = of_given(*values)
    return result, tape.gradient(result, values, cotangent)

  values = [tf.convert_to_tensor(x) for x in given]
  return both(values, tf.convert_to_tensor(cotangent))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class SameBitsTest(parameterized.TestCase):
  def _check_same(self, expected, actual, label):
    if expected is None or actual is None:
      self.assertIs(expected, actual, label)
    elif isinstance(expected, list):
      self.assertLen(actual, len(expected), label)
      for k, (x, y) in enumerate(zip(expected, actual, strict=True)):
        self._check_same(x, y, f"{label}[{k}]")
    else:
      self.assertEqual(expected.dtype, actual.dtype, label)
      self.assertEqual(expected.shape, actual.shape, label)
      self.assertEqual(expected.tobytes(), actual.tobytes(), label)

  def _compare(self, call):
    """All substrates' results have the bits of NumPy's."""
    expected = _host(call(_math("numpy")))
    for substrate in _PACKAGES:
      self._check_same(expected, _host(call(_math(substrate))), substrate)
    return expected

  @parameterized.product(
    kind=oracle.KINDS,
    model=tuple(cases.MODELS),
    options=("exits_given", "exits_derived"),
    dtype=("float64", "float32"),
  )
  def test_values(self, kind, model, options, dtype):
    arguments = _arguments(model, options, dtype)
    values = self._compare(lambda math: _function(math, kind)(*arguments))
    # The kernel itself, without any framework.
    alpha, matrix, times, exits, atom = arguments
    arrays = kernel_calls.inputs(
      oracle.Operands(alpha, matrix, exits, atom, times), dtype
    )
    direct = kernel_calls.module().forward(
      kernel_calls.kind_code(kind), 0, arrays
    )
    self._check_same(direct, values, "kernel")

  @parameterized.product(
    kind=oracle.KINDS,
    model=("cyclic", "birth_death"),
    options=tuple(cases.OPTIONS),
    dtype=("float64", "float32"),
  )
  def test_expected_statistics(self, kind, model, options, dtype):
    alpha, matrix, times, exits, atom = _arguments(model, options, dtype)
    self._compare(
      lambda math: tuple(
        math.phase_type.expected_statistics(
          times, alpha, matrix, exits, atom, kind=_NAMES[kind]
        )
      )
    )

  @parameterized.product(
    kind=oracle.KINDS,
    model=("cyclic", "birth_death"),
    options=tuple(cases.OPTIONS),
    dtype=("float64", "float32"),
  )
  def test_vjp_and_jvp(self, kind, model, options, dtype):
    arguments = _arguments(model, options, dtype)
    cotangent = onp.array([1.0, -0.5, 2.0, 0.25], dtype)
    tangents = _tangents(arguments, dtype)
    self._compare(lambda math: _vjp(math, kind, arguments, cotangent))
    self._compare(lambda math: _jvp(math, kind, arguments, tangents))

  @parameterized.product(
    kind=oracle.KINDS,
    options=("exits_given", "exits_derived"),
    dtype=("float64", "float32"),
  )
  def test_autodiff_gives_the_same_bits(self, kind, options, dtype):
    arguments = _arguments("cyclic", options, dtype)
    cotangent = onp.array([1.0, -0.5, 2.0, 0.25], dtype)
    expected = _host(_vjp(_math("numpy"), kind, arguments, cotangent))
    if HAVE_JAX:
      actual = _host(_jax_vjp(kind, arguments, cotangent))
      self._check_same(expected, actual, "jax.vjp under jit")
    if HAVE_TF:
      actual = _host(_tf_vjp(kind, arguments, cotangent))
      self._check_same(expected, actual, "tf.GradientTape in a tf.function")

  @parameterized.product(
    options=("exits_given", "exits_derived"), dtype=("float64", "float32")
  )
  def test_observations(self, options, dtype):
    alpha, matrix, _, exits, atom = _arguments("cyclic", options, dtype)
    lower = onp.array([0.5, 1.0, -1.0, 0.25, 0.0, 2.0], dtype)
    upper = onp.array([0.5, onp.inf, 2.0, 0.375, 1.0, 2.0], dtype)
    given = {"exit_rates": exits, "prob_zero": atom}
    arguments = (alpha, matrix, lower, upper, exits, atom)
    self._compare(
      lambda math: tuple(
        math.phase_type.expected_statistics(
          lower, alpha, matrix, upper=upper, **given
        )
      )
    )
    cotangent = onp.array([1.0, -0.5, 2.0, 0.25, 1.0, 3.0], dtype)
    moved = _tangents((alpha, matrix, lower, exits, atom), dtype)
    tangents = (*moved[:3], onp.zeros_like(upper), *moved[3:])

    def terms(math):
      def of(alpha, matrix, lower, upper, exits, atom):
        return _observations(math).log_likelihood_terms(
          alpha, matrix, lower, upper, exit_rates=exits, prob_zero=atom
        )

      return _of_given(of, arguments)

    def both(math):
      arrays, of_given = terms(math)
      value, pullback = math.vjp(of_given, *arrays)
      along = [v for v in tangents if v is not None]
      return value, pullback(cotangent), math.jvp(of_given, arrays, along)

    self._compare(both)

  @parameterized.parameters(*oracle.KINDS)
  def test_a_batch_of_models(self, kind):
    rng = onp.random.default_rng(31)
    alpha = rng.dirichlet(onp.ones(4), 3)
    rates = rng.uniform(0.1, 2.0, (3, 4, 4)) * (1 - onp.eye(4))
    exits = rng.uniform(0.0, 1.0, (3, 4))
    matrix = rates - onp.eye(4) * (rates.sum(-1) + exits)[..., None]
    times = rng.uniform(0.1, 5.0, (7, 3))
    arguments = (alpha, matrix, times, exits, None)
    self._compare(lambda math: _function(math, kind)(*arguments))
    cotangent = rng.standard_normal((7, 3))
    self._compare(lambda math: _vjp(math, kind, arguments, cotangent))


@absltest.skipUnless(kernel_calls.available(), kernel_calls.UNAVAILABLE)
class AccuracyThroughTheLibraryTest(parameterized.TestCase):
  """The promised accuracy survives the way through each substrate."""

  @parameterized.product(
    substrate=tuple(_PACKAGES), model=("erlang", "cyclic"), kind=oracle.KINDS
  )
  def test_values_and_gradients(self, substrate, model, kind):
    math = _math(substrate)
    operands = cases.operands(model, "exits_and_atom_given")
    t = cases.DERIVATIVE_TIMES[model][1]
    operands = operands._replace(time=onp.float64(t))
    alpha, matrix, exits, atom, time = operands
    value, bars = _vjp(
      math, kind, (alpha, matrix, time, exits, atom), onp.ones(())
    )
    truth, _ = oracle.directional(kind, operands)
    bound = cases.value_tolerance(kind, float(truth.mid()))
    self.assertLessEqual(oracle.error(onp.asarray(value), truth), bound)
    gradient, scales = oracle.gradient(kind, operands)
    order = ("initial_probs", "subgenerator", "time", "exit_rates", "prob_zero")
    for name, bar in zip(order, bars, strict=True):
      entries = zip(
        onp.ravel(onp.asarray(bar)),
        getattr(gradient, name),
        getattr(scales, name),
        strict=True,
      )
      for x, y, c in entries:
        self.assertLessEqual(oracle.error(x, y), 1e-12 * c + 1e-290, name)

  @parameterized.product(substrate=tuple(_PACKAGES), model=("cyclic",))
  def test_the_portable_path(self, substrate, model):
    math = _math(substrate)
    kernel_ops = importlib.import_module(
      f"phasic.substrates.{substrate}.internal.kernel_ops"
    )
    times = onp.array(cases.DERIVATIVE_TIMES[model][:3])
    operands = cases.operands(model, "exits_given", times)
    alpha, matrix, exits, atom, times = operands
    # The other substrates' array code is NumPy's: fewer kinds will do.
    for kind in oracle.KINDS if substrate == "numpy" else ("log_density",):
      with kernel_ops.use_path("portable"):
        values = _function(math, kind)(alpha, matrix, times, exits, atom)
      for t, x in zip(times, onp.asarray(values), strict=True):
        truth, _ = oracle.directional(kind, operands._replace(time=t))
        size = float(abs(truth).upper())
        bound = 1e-11 * (1 + size if kind.startswith("log_") else size)
        self.assertLessEqual(oracle.error(x, truth), bound, (kind, t))


class TheModelsTest(absltest.TestCase):
  """Both forms of a model mean the same: their rates are binary fractions."""

  def test_derived_exits_are_the_given_ones(self):
    for name, model in cases.MODELS.items():
      derived = -onp.sum(model.subgenerator, axis=1)
      onp.testing.assert_array_equal(derived, model.exit_rates, name)
      self.assertIsNone(models.with_options(model, exits=False).exit_rates)


if __name__ == "__main__":
  absltest.main()
