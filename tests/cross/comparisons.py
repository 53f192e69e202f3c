"""Calls of one function in every substrate, and comparisons of the results."""

from collections.abc import Callable, Iterable, Mapping
import importlib
from typing import Any

from absl.testing import parameterized
import jax
import jax.numpy as jnp
import numpy as onp
import tensorflow as tf

jax.config.update("jax_enable_x64", True)


class Substrate:
  """The packages of a substrate, which are imported on first use.

  So a test depends only on the packages that it compares.
  """

  def __init__(self, name: str):
    self._name = name

  def __getattr__(self, package: str) -> Any:
    return importlib.import_module(f"phasic.substrates.{self._name}.{package}")


SUBSTRATES = {name: Substrate(name) for name in ("numpy", "jax", "tf")}
in_numpy = SUBSTRATES["numpy"]
OTHERS = ("jax", "tf")
ARRAYS: dict[str, Callable[[Any], Any]] = {
  "numpy": onp.asarray,
  "jax": jnp.asarray,
  "tf": tf.constant,
}
# Array code may round differently; kernel results must be equal.
RTOL = 1e-13
# Integrals and optimizers accumulate rounding errors.
LOOSE = 1e-11


def in_others(names: Iterable[Any]) -> list[tuple[Any, ...]]:
  """Returns named parameters of a test: each name in JAX and in TensorFlow."""
  return [
    (f"_{'_'.join(x) if isinstance(x, tuple) else x}_{substrate}", x, substrate)
    for x in names
    for substrate in OTHERS
  ]


def to_substrate(x: Any, name: str) -> Any:
  """Converts host arrays in a nested structure to a substrate's arrays.

  Tuples of `in_numpy` such as `EdgeRates` become the substrate's own.
  """
  if isinstance(x, onp.ndarray):
    return ARRAYS[name](x)
  if isinstance(x, tuple) and hasattr(x, "_fields"):
    own = getattr(SUBSTRATES[name].math, type(x).__name__)
    return own(*(to_substrate(y, name) for y in x))
  if isinstance(x, list | tuple):
    return type(x)(to_substrate(y, name) for y in x)
  if isinstance(x, Mapping):
    return {key: to_substrate(y, name) for key, y in x.items()}
  return x


def leaves(x: Any, path: str = "result") -> dict[str, Any]:
  """Flattens a result to host values by their paths."""
  if isinstance(x, tuple) and hasattr(x, "_fields"):
    parts = dict(zip(x._fields, x, strict=True)).items()
  elif isinstance(x, list | tuple):
    parts = enumerate(x)
  elif isinstance(x, Mapping):
    parts = x.items()
  elif type(x).__name__ == "Graph":
    return {f"{path} (graph)": x.to_json()}
  elif type(x).__name__ == "Absorbed":
    return {path: repr(x)}
  elif type(x).__name__ == "StaticIndices":
    return {path: x.values}
  elif hasattr(x, "parameter_properties") and hasattr(x, "parameters"):
    parts = {"class": type(x).__name__, **x.parameters}.items()
  elif isinstance(x, jax.Array | tf.Tensor | onp.ndarray | onp.generic | float):
    return {path: onp.asarray(x)}
  elif x is None or isinstance(x, str | int | jax.ShapeDtypeStruct):
    return {path: x}
  else:
    raise TypeError(f"{path} is {type(x).__name__}: add it to `leaves`")
  found: dict[str, Any] = {}
  for key, value in parts:
    found |= leaves(value, f"{path}.{key}")
  return found


class TestCase(parameterized.TestCase):
  """Comparisons of results of several substrates."""

  def assert_agrees(
    self, actual: Any, expected: Any, rtol: float = RTOL
  ) -> None:
    """Asserts that nested results agree; `rtol` zero means bitwise."""
    actual, expected = leaves(actual), leaves(expected)
    self.assertEqual(list(actual), list(expected))
    for place, x in expected.items():
      self._assert_equal_leaf(place, actual[place], x, rtol)

  def assert_same_shapes(self, actual: Any, expected: Any) -> None:
    """Asserts that traced results of JAX have given shapes and dtypes."""
    actual, expected = leaves(actual), leaves(expected)
    self.assertEqual(list(actual), list(expected))
    for place, x in expected.items():
      if isinstance(x, onp.ndarray):
        self.assertEqual(actual[place].shape, x.shape, place)
        self.assertEqual(actual[place].dtype, x.dtype, place)
      else:
        self.assertEqual(actual[place], x, place)

  def _assert_equal_leaf(
    self, place: str, actual: Any, expected: Any, rtol: float
  ) -> None:
    if not isinstance(expected, onp.ndarray) or expected.dtype.kind not in "fc":
      onp.testing.assert_array_equal(actual, expected, place)
      return
    self.assertEqual(actual.shape, expected.shape, place)
    self.assertEqual(actual.dtype, expected.dtype, place)
    if rtol == 0:
      onp.testing.assert_array_equal(actual, expected, place)
      return
    # Errors are relative to the largest entry, as entries may cancel.
    finite = onp.abs(expected[onp.isfinite(expected)])
    atol = 1e-2 * rtol * finite.max(initial=0.0)
    onp.testing.assert_allclose(
      actual, expected, rtol=rtol, atol=atol, err_msg=place
    )

  def assert_complete(
    self, package: Any, called: Iterable[str], table: str
  ) -> None:
    """Asserts that a table has exactly the public names of a package."""
    called = set(called)
    public = set(package.__all__)
    self.assertEqual(
      sorted(public - called),
      [],
      f"{package.__name__} has public names that are not in {table}: add them",
    )
    self.assertEqual(
      sorted(called - public), [], f"{table} has names that are not public"
    )
