"""Binds linear and multilinear functions of NumPy arrays as ops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import dataclasses

from phasic.binding import arguments
from phasic.internal import raw_arguments
from phasic.internal.arrays import Result, Structure, Tree
from phasic.internal.native import host_calls
from phasic.internal.native import host_functions


def bind_linear(
  f: Callable[..., object],
  *,
  transpose: Callable[..., object] | None = None,
  num_fixed: int = 0,
  abstract: Callable[..., object] | None = None,
  batching: str = "sequential",
  name: str | None = None,
) -> MultilinearFunction:
  """Makes an op from a linear Python function of NumPy arrays.

  The function is linear in all arguments together but the first `num_fixed`,
  in which there are no derivatives. It has derivatives of every order: forward
  mode calls the function, reverse mode its transpose,

      transpose(*fixed, cotangent, **options)

  which returns a tuple with an entry for each linear argument, or the entry if
  there is one. Nothing checks that a function is linear, and that the other is
  its transpose: c . f(x) = transpose(c) . x.

  Args:
    f: the function.
    transpose: its transpose; without it there is no reverse mode.
    num_fixed: the number of arguments that it need not be linear in.
    abstract: as for `bind`.
    batching: as for `bind`.
    name: the function's name in messages.

  Raises:
    TypeError: an argument is not a function or a number, as it should be.
    ValueError: a number is negative, or there is no such batching.

  Example: sums up to each entry. The functions are NumPy's, always.

    >>> import numpy as np
    >>> import numpy as onp
    >>> from phasic import binding
    >>> total = binding.bind_linear(
    ...   onp.cumsum, transpose=lambda c: onp.cumsum(c[::-1])[::-1]
    ... )
    >>> [float(x) for x in total(np.asarray([1.0, 2.0, 4.0]))]
    [1.0, 3.0, 7.0]
  """
  function = arguments.host_function("f", f, name, batching)
  joint = dataclasses.replace(function, f=_joint(f))
  rule = _transpose(function, "transpose", transpose)
  shapes = None
  if abstract is not None:
    raw_arguments.check_callable("abstract", abstract)
    shapes = _joint(abstract)
  return MultilinearFunction((joint, rule), shapes, num_fixed, True)


def bind_multilinear(
  f: Callable[..., object],
  *,
  transposes: Sequence[Callable[..., object] | None],
  num_fixed: int = 0,
  abstract: Callable[..., object] | None = None,
  batching: str = "sequential",
  name: str | None = None,
) -> MultilinearFunction:
  """Makes an op from a Python function that is linear in each argument.

  As `bind_linear`, but that the function is linear in each argument, the others
  held, but the first `num_fixed`. The transpose in linear argument i,

      transposes[i](*fixed, *others, cotangent, **options),

  takes the other linear arguments in their order, and returns argument i's
  cotangent. Derivatives of every order follow.

  Args:
    f: the function.
    transposes: for each linear argument; None where there is none.
    num_fixed: the number of arguments that it need not be linear in.
    abstract: as for `bind`.
    batching: as for `bind`.
    name: the function's name in messages.

  Raises:
    TypeError: an argument is not a function or a number, as it should be.
    ValueError: a number is negative, or there is no such batching.

  Example: the product of two arrays.

    >>> import numpy as np
    >>> from phasic import binding
    >>> product = binding.bind_multilinear(
    ...   lambda x, y: x * y,
    ...   transposes=[lambda y, c: y * c, lambda x, c: x * c],
    ... )
    >>> float(product(np.asarray(2.0), np.asarray(5.0)))
    10.0
  """
  function = arguments.host_function("f", f, name, batching)
  arguments.check_sequence("transposes", transposes, "of functions and None")
  rules = [
    _transpose(function, f"transposes[{i}]", rule)
    for i, rule in enumerate(transposes)
  ]
  if abstract is not None:
    raw_arguments.check_callable("abstract", abstract)
  return MultilinearFunction((function, *rules), abstract, num_fixed, False)


class MultilinearFunction:
  """A bound linear or multilinear function; call it like the function itself.

  Example:

    >>> import numpy as np
    >>> from phasic import binding
    >>> double = binding.bind_linear(lambda x: 2.0 * x, name="double")
    >>> double
    <MultilinearFunction double>
    >>> float(double(np.asarray(4.0)))
    8.0
  """

  def __init__(
    self,
    functions: host_functions.Functions,
    abstract: Callable[..., object] | None,
    num_fixed: int,
    joint: bool,
  ):
    """Stores functions; if `joint`, one transpose is for all arguments."""
    self._num_fixed = arguments.count("num_fixed", num_fixed)
    self._functions = tuple(functions)
    self._abstract = abstract
    self._joint = joint

  @property
  def name(self) -> str:
    """The name of the function, for messages."""
    function = self._functions[0]
    assert isinstance(function, host_functions.HostFunction)
    return function.name

  def __repr__(self) -> str:
    return f"<{type(self).__name__} {self.name}>"

  def __call__(self, /, *args: Structure, **options: Hashable) -> Result:
    """Evaluates the function."""
    arguments.key(self.name, options)
    arguments.check_unmasked(self.name, args)
    fixed, linear = args[: self._num_fixed], args[self._num_fixed :]
    if self._joint:
      linear = (tuple(linear),)
    wanted = len(self._functions) - 1
    if len(linear) != wanted or (self._joint and not linear[0]):
      raise TypeError(
        f"{self.name} is called with {len(args)} arguments: it needs "
        f"{self._num_fixed} fixed and {wanted} linear arguments"
      )
    return host_calls.call_multilinear(
      self._functions, self._abstract, fixed, linear, options
    )


def _transpose(
  function: host_functions.HostFunction,
  what: str,
  rule: Callable[..., object] | None,
) -> host_functions.HostFunction | host_functions.Missing:
  """Returns the transpose as a host function, or `Missing` without a rule."""
  if rule is None:
    return host_functions.Missing(
      f"{function.name} was bound without the rule {what}: reverse mode needs it"
    )
  raw_arguments.check_callable(what, rule)
  if what == "transpose":
    rule = arguments.as_tuple(rule)
  name = f"{what} of {function.name}"
  return dataclasses.replace(function, name=name, f=rule)


def _joint(f: Callable[..., object]) -> Callable[..., object]:
  """Wraps a function to take all its linear arguments as one tuple."""

  def wrapped(*args: Tree, **options: Hashable) -> object:
    return f(*args[:-1], *args[-1], **options)

  return wrapped
