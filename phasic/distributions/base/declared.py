"""Declarations of a family's parameters in the body of its class.

    class Erlang(NamedFamily):
      _TIME_POWERS = {"rate": -1}

      concentration: declared.Count = declared.count("k, a Python int > 0.")
      rate: declared.Required = declared.array(0, "positive", "r, (...), > 0.")

From the declarations a class has its constructor, with a signature; a property
for each parameter; and the properties of those that are arrays, by which they
are stored, checked, cut out of a batch, fitted, and known to other libraries.
`_TIME_POWERS` has the power of time in the unit of each parameter that is an array
or a distribution; by that a class has `dist * factor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import inspect
import textwrap
from typing import Any, Never, Protocol, TypeAlias, TypedDict, TypeVar

from phasic.distributions.base import constraints
from phasic.distributions.base import parameter_properties
from phasic.distributions.base import structure
from phasic.internal.arrays import Array, ArrayLike, Integer, Result
from phasic.math.model.edge_probs import EdgeProbs
from phasic.math.model.edge_rates import EdgeRates
from phasic.math.model.model_types import SubgeneratorLike, SubtransitionLike

_NONE = inspect.Parameter.empty
_WIDTH = 74


_Read = TypeVar("_Read", covariant=True)
_Given = TypeVar("_Given", contravariant=True)
_T = TypeVar("_T")
# The class attribute that holds the declarations in the body of the class.
_DECLARED = "_DECLARED"


class Options(TypedDict, total=False):
  """Keyword options of functions that make distributions."""

  validate_args: bool
  allow_nan_stats: bool
  name: str


class Parameter(Protocol[_Read, _Given]):
  """The type of a declared parameter: when it is read, and when it is given."""

  def __get__(self, instance: object, owner: type | None = None, /) -> _Read:
    """Returns the parameter as it is stored, e.g. as an array."""
    ...

  def __set__(self, instance: object, value: _Given, /) -> None:
    """Shows type checkers the type of the constructor's argument."""


Required: TypeAlias = Parameter[Array, ArrayLike]
Optional: TypeAlias = Parameter[Array | None, ArrayLike | None]
# An array parameter that is computed from other parameters if it is None.
Derived: TypeAlias = Parameter[Result, ArrayLike | None]
# Parameters that are matrices of rates or of probabilities, or edges instead.
Rates: TypeAlias = Parameter[Array | EdgeRates, SubgeneratorLike]
Probs: TypeAlias = Parameter[Array | EdgeProbs, SubtransitionLike]
Count: TypeAlias = Parameter[int, Integer]

# For each declared type, the type of the argument that `help` shows.
_GIVEN = {
  "Required": "ArrayLike",
  "Optional": "ArrayLike | None",
  "Derived": "ArrayLike | None",
  "Rates": "SubgeneratorLike",
  "Probs": "SubtransitionLike",
  "Count": "Integer",
}


# Takes a distribution, and computes what the property of a parameter returns.
_Shown: TypeAlias = Callable[..., object]
# Maps a parameter's name and given value to the stored value.
_Convert: TypeAlias = Callable[..., object]


@dataclasses.dataclass(frozen=True)
class Field:
  """A parameter's declaration: its text, properties and default.

  Attributes:
    text: the description, for the constructor and the property.
    properties: the properties of an array, else None.
    default: the default; `inspect.Parameter.empty` if there is none.
    convert: maps the name and the given value to the stored value.
    shown: makes what the property returns, of the distribution; None for what
      is stored.
    is_option: whether it follows all parameters that are not options.
  """

  text: str
  properties: parameter_properties.ParameterProperties | None = None
  default: object = _NONE
  convert: _Convert | None = None
  shown: _Shown | None = None
  is_option: bool = False

  def of(self, name: str) -> property:
    """Returns the property through which users read the parameter."""
    shown = self.shown or (lambda self: structure.shown(self._parameters[name]))
    return property(shown, doc=self.text)


# The functions below return a `Field`, but their return type stands for the
# type of a parameter: so type checkers accept `rate: Required = array(...)`, as
# they do with `dataclasses.field`. A Parameter[Never, object] fits each type of
# parameter.


def array(
  event_ndims: int,
  constraint: str | constraints.Constraint,
  text: str,
  *,
  default: object = _NONE,
  fitted: bool = True,
  jumps: bool = False,
  shown: _Shown | None = None,
) -> Parameter[Never, object]:
  """Declares a parameter that is an array.

  Args:
    event_ndims: see `ParameterProperties`.
    constraint: see there.
    text: the description.
    default: None makes it optional.
    fitted: see there.
    jumps: see there.
    shown: makes what the property returns, of the distribution.
  """
  properties = parameter_properties.ParameterProperties(
    event_ndims, constraint, default is None, fitted, jumps
  )
  return Field(text, properties, default, shown=shown)  # type: ignore[return-value]


def static(
  text: str,
  *,
  convert: Callable[..., _T] | None = None,
  shown: Callable[..., _T] | None = None,
) -> _T:
  """Declares a parameter that is not an array, e.g. a distribution.

  Args:
    text: the description.
    convert: maps the name and the given value to the stored value.
    shown: makes what the property returns, of the distribution.
  """
  return Field(text, convert=convert, shown=shown)  # type: ignore[return-value]


def count(text: str) -> Count:
  """Declares a parameter that is a Python int > 0."""
  return Field(text, convert=structure.static_count)  # type: ignore[return-value]


def option(text: str, *, default: _T, kw_only: bool) -> _T:
  """Declares an option, which comes after all other parameters.

  Args:
    text: the description.
    default: its default.
    kw_only: True, by which type checkers leave it to the end.
  """
  return Field(text, default=default, is_option=True)  # type: ignore[return-value]


def fields(cls: type) -> dict[str, Field]:
  """Returns the declarations of a class by name, the options last."""
  # The constructor is inherited from the first class that has declarations. So
  # only the declarations of this class and of its bases count.
  cls = next(base for base in cls.__mro__ if _DECLARED in vars(base))
  found: dict[str, Field] = {}
  for base in reversed(cls.__mro__):
    found |= vars(base).get(_DECLARED, {})
  return dict(sorted(found.items(), key=lambda item: item[1].is_option))


def properties(cls: type) -> parameter_properties.Properties:
  """Returns the properties of a class's array parameters, by name."""
  declared = fields(cls)
  if all(x.is_option for x in declared.values()):
    raise NotImplementedError(
      f"{cls.__name__} declares no parameters: declare them in its body, or "
      "define the class method _parameter_properties, which returns the "
      "properties of the array parameters by name"
    )
  return {k: x.properties for k, x in declared.items() if x.properties}


def complete(cls: type[object]) -> None:
  """Adds properties and a constructor to a class, from its declarations."""
  own = {k: x for k, x in vars(cls).items() if isinstance(x, Field)}
  if own:
    setattr(cls, _DECLARED, own)
  for name, field in own.items():
    setattr(cls, name, field.of(name))
  # A subclass without declarations calls the constructor that it inherits,
  # which a backend may have extended. In its signature only the default of
  # `name` differs: it is the name of the subclass.
  inherits = hasattr(cls.__init__, "is_declared")
  if "__init__" in vars(cls) or not (own or inherits):
    return
  declared = fields(cls)
  construct = _constructor(cls, declared) if own else _inherited(cls.__init__)
  described = {
    "__signature__": _signature(cls, declared),
    "is_declared": True,
    "__qualname__": f"{cls.__qualname__}.__init__",
    "__module__": cls.__module__,
    "__doc__": _text(declared),
  }
  for name, value in described.items():
    setattr(construct, name, value)
  cls.__init__ = construct  # type: ignore[method-assign]


def _inherited(construct: Callable[..., None]) -> Callable[..., None]:
  def __init__(self: object, *args: object, **kwargs: object) -> None:
    construct(self, *args, **kwargs)

  return __init__


def _constructor(cls: type, declared: dict[str, Field]) -> Callable[..., None]:
  signature = _signature(cls, declared)
  names = tuple(signature.parameters)[1:]
  template = {k: x.default for k, x in declared.items()} | {"name": _NONE}
  required = tuple(k for k, x in declared.items() if x.default is _NONE)
  converts = tuple((k, x.convert) for k, x in declared.items() if x.convert)

  def __init__(self: Any, *args: object, **kwargs: object) -> None:
    parameters = {**template, **dict(zip(names, args)), **kwargs}
    if (
      len(args) > len(names)
      or len(parameters) != len(names)
      or (kwargs and not kwargs.keys().isdisjoint(names[: len(args)]))
      or [name for name in required if parameters[name] is _NONE]
    ):
      _refuse(type(self), signature, (self, *args), kwargs)
    if parameters["name"] is _NONE or parameters["name"] is None:
      parameters["name"] = type(self).__name__
    for name, convert in converts:
      parameters[name] = convert(name, parameters[name])
    self._keep(parameters)

  return __init__


def _signature(cls: type, declared: dict[str, Field]) -> inspect.Signature:
  parameter = functools.partial(
    inspect.Parameter, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD
  )
  notes: dict[str, object] = {}
  for base in cls.__mro__:
    notes |= vars(base).get("__annotations__", {})
  found = [parameter("self")]
  found += [
    parameter(
      name,
      default=cls.__name__ if name == "name" else field.default,
      annotation=_shown(notes.get(name, _NONE)),
    )
    for name, field in declared.items()
  ]
  return inspect.Signature(found, return_annotation=None)


def _shown(note: object) -> object:
  """Returns the argument's type for a declared type; others are unchanged."""
  name = note if isinstance(note, str) else getattr(note, "__name__", "")
  return _GIVEN.get(name.removeprefix("declared."), note)


def _refuse(
  cls: type,
  signature: inspect.Signature,
  args: Sequence[object],
  kwargs: Mapping[str, object],
) -> None:
  """Raises the TypeError for arguments that do not fit the signature."""
  names = tuple(signature.parameters)[1:]
  unknown = [name for name in kwargs if name not in names]
  if unknown:
    raise TypeError(
      f"{cls.__name__} has no argument {unknown[0]}: its arguments are "
      f"{', '.join(names)}"
    )
  try:
    signature.bind(*args, **kwargs)
  except TypeError as error:
    raise TypeError(f"{cls.__name__}: {error}") from None


def _text(declared: dict[str, Field]) -> str:
  """Returns the constructor's docstring, a line for each parameter."""
  lines = ["Makes a batch of distributions.", "", "Args:"]
  for name, field in declared.items():
    text, indent = f"{name}: {field.text}", " " * 4
    lines += textwrap.wrap(
      text, _WIDTH, initial_indent="  ", subsequent_indent=indent
    )
  return "\n".join(
    [
      *lines,
      "",
      "Raises:",
      "  TypeError: what must be an int or a distribution is none, dtypes",
      "    differ, or are complex or bool.",
      "  ValueError: shapes do not fit; with `validate_args`, a value breaks",
      "    a rule.",
    ]
  )
