"""Empty batches, values and samples: every function and method, everywhere.

A function of an empty slice must have the shape and the dtype of an empty slice
of the function. The derivative of an empty sum is zero.
"""

from typing import Any

from absl.testing import absltest
from absl.testing import parameterized
import jax
import numpy as onp

from tests.cross import comparisons
from tests.cross import public_distributions_cases as cases
from tests.cross import public_math_cases as math_cases

# Their first arguments do not have a dimension for several values.
WITHOUT_VALUES = (
  *("raw_moments", "reward_moments", "reward_covariance", "hitting_probs"),
  *("reward_cross_moments", "mixed_moment", "reward_means", "joint_mark_probs"),
  *("joint_laplace_transform", "joint_log_prob", "reward_transform"),
  "expm_multiply",
)
# Functions that need host values, or whose results have no derivatives.
WITHOUT_DERIVATIVES = (
  *("quantile", "quantile_log_cdf", "quantile_log_survival"),
  *("cross_entropy", "diagnose", "entropy", "kl_divergence"),
  *("expected_statistics", "reward_transform"),
)
# Methods whose results are not arrays of values.
OTHER_RESULTS = (
  *("as_phase_type", "batch_shape_tensor", "copy", "event_shape_tensor"),
  *("marginal", "projection"),
)
# Methods whose results are sums over values.
SUMS = ("expected_statistics",)
# JAX computes the results of these, and only traces others.
COMPUTED_IN_JAX = ("log_prob", "mean", "quantile", "survival_function")


def is_value(x: Any) -> bool:
  return isinstance(x, onp.ndarray) and x.ndim == 1


def runs_in_kernel(name: str) -> bool:
  return math_cases.CASES[name].exact or "quantile" in name


def of_values(name: str) -> bool:
  """Returns whether a function's first argument is an array of values."""
  first = math_cases.CASES[name].arguments[0]
  last = name.partition(".")[2]
  is_first = is_value(first) and first is not math_cases.INITIAL
  return is_first and last not in WITHOUT_VALUES


def with_batch(x: Any, size: int) -> Any:
  """Gives every array of an argument a batch of equal entries in front."""
  if isinstance(x, onp.ndarray):
    return onp.broadcast_to(x, (size, *x.shape))
  if hasattr(x, "parameters"):
    return x._replace(parameters=with_batch(x.parameters, size))
  if type(x) is tuple:
    return tuple(with_batch(y, size) for y in x)
  return x


def arguments_of(name: str, what: str, size: int) -> tuple[Any, Any]:
  """Returns arguments with `size` values, or with a batch of `size` models."""
  case = math_cases.CASES[name]
  options = dict(case.options)
  if what == "values":
    options = {key: x[:size] for key, x in options.items()}
    return (case.arguments[0][:size], *case.arguments[1:]), options
  first, *rest = case.arguments
  if of_values(name):
    # One value for each model.
    options = {key: x[:1] for key, x in options.items()}
    return (first[:1], *(with_batch(x, size) for x in rest)), options
  return tuple(with_batch(x, size) for x in case.arguments), options


def shapes_of(x: Any) -> Any:
  """Returns the shapes and the kinds of dtypes of a nested result."""
  return {
    key: (tuple(y.shape), getattr(y.dtype, "kind", ""))
    if hasattr(y, "shape")
    else y
    for key, y in comparisons.leaves(x).items()
  }


def cut(shapes: Any) -> Any:
  """Returns shapes of a result of one value or model, cut to none."""
  return {
    key: ((0, *x[0][1:]), x[1]) if isinstance(x, tuple) else x
    for key, x in shapes.items()
  }


MATH = tuple(
  (name, what)
  for name in math_cases.CASES
  for what in ("values", "models")
  if what == "models" or of_values(name)
)


class MathTest(comparisons.TestCase):
  @parameterized.product(
    case=(
      *((*x, "kernel") for x in MATH),
      *((*x, "portable") for x in MATH if runs_in_kernel(x[0])),
    ),
    substrate=tuple(comparisons.SUBSTRATES),
  )
  def test_shapes(self, case, substrate):
    name, what, path = case
    last = name.partition(".")[2]
    if last == "diagnose" and substrate == "jax":
      return  # Its results are on the host, and those of NumPy.
    if last == "expected_statistics" and path == "portable":
      return  # They need the kernel.
    expected = shapes_of(self._call(name, what, 1, "numpy"))
    # Statistics are sums over the values.
    if last != "expected_statistics" or what == "models":
      expected = cut(expected)
    with comparisons.SUBSTRATES[substrate].config.use_path(path):
      found = self._call(name, what, 0, substrate)
    self.assertEqual(shapes_of(found), expected)

  def _call(self, name, what, size, substrate):
    arguments, options = comparisons.to_substrate(
      arguments_of(name, what, size), substrate
    )
    module, _, last = name.partition(".")
    math = comparisons.SUBSTRATES[substrate].math
    function = getattr(getattr(math, module), last)
    if substrate != "jax" or last in COMPUTED_IN_JAX:
      return function(*arguments, **options)
    return jax.eval_shape(lambda: function(*arguments, **options))

  @parameterized.product(
    case=tuple(
      (name, what)
      for name, what in MATH
      if name.partition(".")[2] not in WITHOUT_DERIVATIVES
    ),
    substrate=tuple(comparisons.SUBSTRATES),
  )
  def test_derivatives(self, case, substrate):
    """Each cotangent of an empty sum is zero, and has its argument's shape."""
    name, what = case
    module, _, last = name.partition(".")
    math = comparisons.SUBSTRATES[substrate].math
    function = getattr(getattr(math, module), last)
    given, _ = arguments_of(name, what, 0)
    places = [i for i, x in enumerate(given) if isinstance(x, onp.ndarray)]
    given = comparisons.to_substrate(given, substrate)

    def of(*arrays: Any) -> Any:
      replaced = list(given)
      for i, x in zip(places, arrays, strict=True):
        replaced[i] = x
      return function(*replaced)

    arrays = [given[i] for i in places]

    def slopes() -> Any:
      value, pullback = math.vjp(of, *arrays)
      return value, pullback(value), math.jvp(of, arrays, arrays)[1]

    if substrate == "jax" and name != "phase_type.log_prob":
      value, bars, moved = jax.eval_shape(slopes)
    else:
      value, bars, moved = slopes()
      for bar in bars:
        self.assertFalse(onp.any(onp.asarray(bar)), "a cotangent is not zero")
    self.assertEqual(tuple(moved.shape), tuple(value.shape))
    for bar, x in zip(bars, arrays, strict=True):
      self.assertEqual(tuple(bar.shape), tuple(x.shape))


class MethodsTest(comparisons.TestCase):
  @parameterized.product(
    case=tuple(cases.first_methods()),
    substrate=tuple(comparisons.SUBSTRATES),
  )
  def test_methods(self, case, substrate):
    family, method = case
    if method in OTHER_RESULTS:
      return
    distribution = cases.FAMILIES[family](cases.Substrate(substrate))
    if any(is_value(x) or x == cases.VALUE for x in cases.METHODS[method]):
      self._check(distribution, distribution, method, substrate, "values")
    whole = distribution[None]
    self._check(whole, whole[:0], method, substrate, "models")

  def _check(self, whole, distribution, method, substrate, what):
    def call(which: Any, size: int) -> Any:
      arguments = []
      for y in cases.METHODS[method]:
        if isinstance(y, str) and y == cases.OTHER:
          arguments.append(which)
          continue
        if isinstance(y, str) and y == cases.VALUE:
          y = cases.value_of(which)
        if is_value(y) or onp.ndim(y) == 2:
          y = y[: size if what == "values" else 1]
        arguments.append(comparisons.to_substrate(y, substrate))
      function = getattr(which, method)
      try:
        if substrate != "jax" or method in COMPUTED_IN_JAX:
          return function(*arguments)
        return jax.eval_shape(lambda: function(*arguments))
      except (NotImplementedError, TypeError, ValueError) as error:
        if "empty" in str(error):
          raise
        return type(error).__name__

    if method == "diagnose" and substrate == "jax":
      return
    expected = shapes_of(call(whole, 1))
    if what == "models" or method not in SUMS:
      expected = cut(expected)
    self.assertEqual(shapes_of(call(distribution, 0)), expected)

  @parameterized.product(
    family=(*cases.FAMILIES, *cases.OF_EDGES),
    substrate=tuple(comparisons.SUBSTRATES),
  )
  def test_samples(self, family, substrate):
    x = cases.Substrate(substrate)
    distribution = {**cases.FAMILIES, **cases.OF_EDGES}[family](x)
    event = tuple(distribution.event_shape)
    none = distribution[None][:0]
    for dist, shape, whole in (
      (distribution, (2, 0), (2, 0, *event)),
      (none, (), (0, *event)),
      (none, (3,), (3, 0, *event)),
    ):

      def sample(dist: Any = dist, shape: Any = shape) -> Any:
        return dist.sample(shape, seed=x.seed(1))

      found = jax.eval_shape(sample) if substrate == "jax" else sample()
      self.assertEqual(tuple(found.shape), whole)


if __name__ == "__main__":
  absltest.main()
