"""Parameters and their properties in TensorFlow Probability's form.

TensorFlow compares the arguments of a `tf.function`: graphs are wrapped as
constants, which it compares by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Container
import functools
from typing import NoReturn, TypeVar
import weakref

from phasic.distributions.base import constraints
from phasic.distributions.base import distribution as distribution_lib
from phasic.distributions.base import structure
from phasic.distributions.base.parameter_properties import ParameterValue
from phasic.graphs.core import graph as graph_lib
from phasic.internal.arrays import Array

MODE = "numpy"
if MODE == "jax":
  from tensorflow_probability.substrates import jax as tfp

  from phasic.internal import structures

  # Two classes have this name: the package for JAX has only this one, all
  # others only the one below.
  @structures.register
  class HeldEdges:  # pyright: ignore[reportRedeclaration]
    """Wraps edges, since TensorFlow Probability would flatten a named tuple."""

    def __init__(self, edges: object):
      self.edges = edges

    @classmethod
    def _children(cls) -> tuple[str, ...]:
      return ("edges",)

    def _parts(self) -> dict[str, object]:
      return {"edges": self.edges}

    @classmethod
    def _unflatten(cls, parts: dict[str, object]) -> HeldEdges:
      return cls(**parts)


else:
  import tensorflow_probability as tfp

  @tfp.experimental.auto_composite_tensor
  class HeldEdges(tfp.experimental.AutoCompositeTensor):  # type: ignore[no-redef]
    """Wraps edges as a composite tensor of their arrays.

    TensorFlow Probability does not take structures that mix tensors and other
    values, and compares values that are not tensors by their parts.

    Attributes:
      edges: the edges.
    """

    def __init__(
      self,
      is_discrete: bool,
      sources: tuple[int, ...],
      targets: tuple[int, ...],
      parameters: Array,
      coefficients: Array | None,
      constants: Array | None,
    ):
      """Stores the fields of the edges."""
      self.is_discrete = is_discrete
      self.sources, self.targets = sources, targets
      self.parameters = parameters
      self.coefficients, self.constants = coefficients, constants

    @property
    def edges(self) -> object:
      """The wrapped edges."""
      kind = structure.EDGES[self.is_discrete]
      arrays = self.parameters, self.coefficients, self.constants
      return kind(self.sources, self.targets, *arrays)


_ShapeT = TypeVar("_ShapeT", tuple[int, ...], Array)


class Constant:
  """A value that TensorFlow treats as opaque; calling the object returns it.

  TensorFlow compares the arguments of a `tf.function` by their parts, and
  callable parts by identity. So graphs are wrapped as callables, and functions
  are traced once for each graph.
  """

  def __init__(self, value: object):
    self._value = value

  def __call__(self) -> object:
    return self._value

  def __repr__(self) -> str:
    return f"Constant({self._value!r})"


# All constants that are still referenced, by the ids of their values.
_KNOWN: weakref.WeakValueDictionary[tuple[int, ...], Constant] = (
  weakref.WeakValueDictionary()
)


def held_graphs(value: object) -> object:
  """Wraps graphs as a `Constant`; other values are returned unchanged."""
  parts = value if isinstance(value, tuple) else (value,)
  if not parts or not all(isinstance(x, graph_lib.Graph) for x in parts):
    return value
  key = tuple(id(x) for x in parts)
  return _KNOWN.setdefault(key, Constant(value))


def held(value: object) -> object:
  """Wraps edges as `HeldEdges`; other values are returned unchanged."""
  if not structure.is_edges(value):
    return value
  kind: Callable[..., object] = HeldEdges
  if MODE == "jax":
    return kind(value)
  else:
    edges = structure.shown(value)
    return kind(
      isinstance(value, structure.EDGES[1]),
      tuple(map(int, edges.sources)),
      tuple(map(int, edges.targets)),
      *edges[2:],
    )


def value_of(value: ParameterValue) -> ParameterValue:
  """Unwraps `HeldEdges` and `Constant`; other values are returned unchanged."""
  if isinstance(value, Constant):
    return value()
  return value.edges if isinstance(value, HeldEdges) else value


class ConstraintBijector(tfp.bijectors.AutoCompositeTensorBijector):
  """Maps real numbers onto a constrained set for which TFP has no bijector.

  Attributes:
    constraint: the set, as `ParameterProperties` of phasic has it.
    event_ndims: how many dimensions one parameter has.
  """

  def __init__(
    self,
    constraint: str,
    event_ndims: int,
    validate_args: bool = False,
    name: str = "constraint_bijector",
  ):
    """Looks the constraint up by its name."""
    parameters = {
      "constraint": constraint,
      "event_ndims": event_ndims,
      "validate_args": validate_args,
      "name": name,
    }
    self.constraint = constraint
    self.event_ndims = event_ndims
    self._map = constraints.named(constraint).bijector(event_ndims)
    super().__init__(
      forward_min_event_ndims=event_ndims,
      validate_args=validate_args,
      parameters=parameters,
      name=name,
    )

  @classmethod
  def _parameter_properties(cls, dtype: object) -> dict[str, object]:
    return {}

  def _forward(self, x: Array) -> Array:
    return self._map.forward(x)

  def _inverse(self, y: Array) -> Array:
    return self._map.inverse(y)

  def _forward_log_det_jacobian(self, x: Array) -> Array:
    return self._map.forward_log_det_jacobian(x)


def properties(
  cls: type[distribution_lib.Distribution], attributes: Container[str]
) -> dict[str, object]:
  """Returns the properties of a class's array parameters, by name."""
  own_properties = cls.parameter_properties()
  # A sample of a joint distribution has one entry per column of the rewards. So
  # a scalar parameter has the shape of the sample without the last axis.
  scalar = _without_event if "rewards" in own_properties else _same_shape
  by_name = {
    name: tfp.util.ParameterProperties(
      event_ndims=prop.event_ndims,
      shape_fn=scalar if prop.event_ndims == 0 else _unknown_shape,
      default_constraining_bijector_fn=functools.partial(
        _bijector, prop.constraint, prop.event_ndims
      ),
      # An optional parameter is by default derived from the others. A value
      # that TensorFlow Probability makes up may contradict them, as a mass at
      # zero may contradict the other masses.
      is_preferred=not prop.optional,
    )
    for name, prop in own_properties.items()
  }
  if "distribution" in attributes:
    by_name["distribution"] = tfp.util.BatchedComponentProperties()
  return by_name


def _bijector(constraint: constraints.Constraint, event_ndims: int) -> object:
  if constraint.tfp is not None:
    return getattr(tfp.bijectors, constraint.tfp)()
  return ConstraintBijector(constraint.name, event_ndims)


# TensorFlow Probability also passes the argument of these functions by name, so
# that all of them must call it `sample_shape`.
def _same_shape(sample_shape: _ShapeT) -> _ShapeT:
  return sample_shape


def _without_event(sample_shape: _ShapeT) -> _ShapeT:
  return sample_shape[:-1]


def _unknown_shape(sample_shape: object) -> NoReturn:
  raise NotImplementedError(
    f"sample_shape is {sample_shape}: the shape of a sample does not determine "
    "the number of phases, and thus not the shape of this parameter; pass the "
    "parameter, e.g. as a variable"
  )
