"""Derivatives of functions of arrays, and of structures of arrays.

Structures are tuples, lists and mappings, nested in any way; in JAX pytrees of
all kinds. Their real numbers are differentiated, as arrays of the substrate:
floating arrays and numbers of Python, 2 as 2.0. Integer and boolean arrays are
constants, in whose place derivatives have None.
In NumPy a function has to be written in functions of NumPy and of phasic; an
array that would leave them is an error, as its derivative would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from phasic.internal import autodiff
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures

# Kinds of arrays that have no derivative, keys of JAX among them.
_CONSTANTS = ("bool", "int", "uint", "key", "string")


def value_and_gradient(f: Callable[..., Any], *args: object) -> tuple[Any, Any]:
  """Returns `f(*args)` and the gradient of the sum of its entries.

  It is what `tfp.math.value_and_gradient` is. The derivative of the entries one
  by one is that of `jvp` or `vjp`.

  Args:
    f: a function that returns one array of real numbers.
    *args: where to evaluate it: arrays, numbers or structures of them.

  Returns:
    The value, and the gradient with respect to the argument, in its structure,
    or a tuple of gradients if there are several arguments.

  Raises:
    NotImplementedError: `f` uses what has no derivative in reverse mode.
    TypeError: no argument has real numbers, or `f` returns anything but one
      array; in NumPy, an array leaves the functions of NumPy.

  Example: the slopes of a log likelihood in the parameters of a Coxian.

    >>> import numpy as np
    >>> from phasic import math as pm
    >>> from phasic.distributions import Coxian
    >>> times = np.asarray([0.5, 1.0, 3.0])
    >>> def log_likelihood(parameters):
    ...   return np.sum(Coxian(**parameters).log_prob(times))
    >>> value, slopes = pm.value_and_gradient(
    ...   log_likelihood,
    ...   {
    ...     "progression_rates": np.asarray([2.0]),
    ...     "exit_rates": np.asarray([1.0, 0.5]),
    ...   },
    ... )
    >>> print(f"{float(slopes['progression_rates'][0]):.4f}")
    -0.0309
  """
  value, pullback = vjp(f, *args)
  gradient = pullback(np.ones_like(_one_array(f, value)))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., Any], *args: object
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
  """Returns `f(*args)` and its pullback, in reverse mode.

  Args:
    f: a function that returns an array, or a structure of arrays.
    *args: where to evaluate it: arrays, numbers or structures of them.

  Returns:
    The value, and a function that takes a cotangent c of the value, in its
    structure, and returns a tuple of the cotangents of the arguments: c times
    the Jacobian. It may be called several times.

  Raises:
    NotImplementedError: `f` uses what has no derivative in reverse mode.
    TypeError: no argument has real numbers; in NumPy, an array leaves the
      functions of NumPy.
    ValueError: a cotangent has not the structure or the shape of the value.

  Example: of the density 2 exp(-2 t), in the time.

    >>> from phasic import math as pm
    >>> value, pullback = pm.vjp(
    ...   lambda t: pm.phase_type.prob(t, [1.0], [[-2.0]]), 0.5
    ... )
    >>> (slope,) = pullback(1.0)
    >>> print(f"{float(value):.4f} {float(slope):.4f}")
    0.7358 -1.4715
  """
  of_arrays = _OfArrays(f, args)
  values, vjp_fn = autodiff.reverse(of_arrays, of_arrays.arrays)

  def pullback(cotangent: object) -> tuple[Any, ...]:
    cotangents = _leaves_like(cotangent, of_arrays.result(values), "cotangent")
    fitting = [_fitting("cotangent", *pair) for pair in zip(cotangents, values)]
    return of_arrays.spread(vjp_fn(fitting))

  return of_arrays.result(values), pullback


def jvp(
  f: Callable[..., Any], primals: Sequence[object], tangents: Sequence[object]
) -> tuple[Any, Any]:
  """Returns `f(*primals)` and its derivative along `tangents`, in forward mode.

  Args:
    f: a function that returns an array, or a structure of arrays.
    primals: where to evaluate it: arrays, numbers or structures of them.
    tangents: in their structures; None stands for zeros.

  Returns:
    The value, and the Jacobian times the tangents, in the structure of the
    value.

  Raises:
    NotImplementedError: `f` uses what has no derivative in forward mode.
    TypeError: no argument has real numbers; in NumPy, an array leaves the
      functions of NumPy.
    ValueError: a tangent has not the structure or the shape of its primal.

  Example: of the density 2 exp(-2 t), along the time.

    >>> from phasic import math as pm
    >>> value, slope = pm.jvp(
    ...   lambda t: pm.phase_type.prob(t, [1.0], [[-2.0]]), (0.5,), (1.0,)
    ... )
    >>> print(f"{float(value):.4f} {float(slope):.4f}")
    0.7358 -1.4715
  """
  _check_sequence("primals", primals)
  _check_sequence("tangents", tangents)
  of_arrays = _OfArrays(f, primals)
  values, derivatives = autodiff.forward(
    of_arrays, of_arrays.arrays, of_arrays.tangents(tangents)
  )
  return of_arrays.result(values), of_arrays.result(derivatives)


def hessian_vector_product(
  f: Callable[..., Any], primals: Sequence[object], tangents: Sequence[object]
) -> Any:
  """Returns the derivative of the gradient of `f` along `tangents`.

  It is that of `value_and_gradient`, forward over reverse: the Hessian of the
  sum of the entries of `f`, times the tangents.

  Args:
    f: a function that returns one array of real numbers.
    primals: where to evaluate it: arrays, numbers or structures of them.
    tangents: in their structures; None stands for zeros.

  Returns:
    The product in the structure of the primal, or a tuple if there are several.

  Raises:
    NotImplementedError: `f` uses what has no second derivative.
    TypeError: as `value_and_gradient`.
    ValueError: as `jvp`.

  Example: of log(r) - r t, where the second derivative in r is -1 / r^2.

    >>> from phasic import math as pm
    >>> from phasic.distributions import Erlang
    >>> found = pm.hessian_vector_product(
    ...   lambda rate: Erlang(1, rate).log_prob(3.0), (2.0,), (1.0,)
    ... )
    >>> print(f"{float(found):.4f}")
    -0.2500
  """
  _check_sequence("primals", primals)

  def gradient(*args: object) -> tuple[Any, ...]:
    value, pullback = vjp(f, *args)
    return pullback(np.ones_like(_one_array(f, value)))

  _check_callable(f)
  _, derivatives = jvp(gradient, primals, tangents)
  return derivatives[0] if len(primals) == 1 else derivatives


def stop_gradient(x: Any) -> Any:
  """Returns an array, or a structure of arrays, as constants of derivatives.

  Example:

    >>> from phasic import math as pm
    >>> _, slope = pm.value_and_gradient(lambda x: x * pm.stop_gradient(x), 3.0)
    >>> print(f"{float(slope):.1f}")
    3.0
  """
  leaves, make = autodiff.flatten(x)
  return make(
    [autodiff.stop_gradient(y) if hasattr(y, "dtype") else y for y in leaves]
  )


def _check_callable(f: object) -> None:
  """Raises TypeError for what is no function."""
  if not callable(f):
    raise TypeError(f"f is {raw_arguments.shown(f)}: it must be a function")


def _check_sequence(name: str, x: object) -> None:
  """Raises TypeError for what is no tuple or list with an entry an argument."""
  if not isinstance(x, (tuple, list)):
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must be a tuple with an entry for "
      "each argument of f"
    )


def _one_array(f: Callable[..., Any], value: Any) -> Any:
  """The value of a function whose gradient is asked for.

  Raises:
    TypeError: it is anything but one array of real numbers.
  """
  leaves, _ = autodiff.flatten(value)
  if len(leaves) != 1 or leaves[0] is not value or _is_constant(value):
    raise TypeError(
      f"f returned {raw_arguments.shown(value)}: a gradient is that of one array "
      "of real numbers; vjp and jvp take structures"
    )
  return value


def _is_constant(x: object) -> bool:
  """Whether a leaf has no derivative: integer and boolean arrays, and bools."""
  if isinstance(x, bool):
    return True
  return hasattr(x, "dtype") and _kind(x).startswith(_CONSTANTS)


def _kind(x: Any) -> str:
  """The name of an array's dtype, of whatever library."""
  return getattr(x.dtype, "name", None) or str(x.dtype)


def _fitting(name: str, x: Any, like: Any) -> Any:
  """A tangent or cotangent in the dtype of the array that it belongs to."""
  if x is None or _is_constant(like):
    return np.zeros_like(like)
  found = structures.as_array(x, static.dtype_name(like), name)
  shape, wanted = static.shape(found), static.shape(like)
  if len(shape) != len(wanted) or any(
    isinstance(a, int) and isinstance(b, int) and a != b
    for a, b in zip(shape, wanted)
  ):
    raise ValueError(
      f"a {name} has shape {shape}: it must be that of the array, {wanted}"
    )
  return found


def _leaves_like(tree: object, like: object, name: str) -> list[Any]:
  """What a tangent or cotangent has for the leaves of its structure."""
  try:
    return autodiff.leaves_like(tree, like)
  except (TypeError, ValueError):
    raise ValueError(
      f"a {name} is {raw_arguments.shown(tree)}: it must have the structure of "
      f"{raw_arguments.shown(like)}"
    ) from None


class _OfArrays:
  """A function of the real numbers in its arguments, as a list of arrays.

  Attributes:
    arrays: the real numbers.
  """

  def __init__(self, f: Callable[..., Any], args: Sequence[object]):
    _check_callable(f)
    self._f = f
    self._args = list(args)
    rules = getattr(f, "rules", None)
    fixed = () if rules is None else rules.nondiff_argnums
    self._free = [i for i in range(len(args)) if i not in fixed]
    self._leaves, self._make = autodiff.flatten(self._of_free(args))
    self._places = [
      i for i, x in enumerate(self._leaves) if not _is_constant(x)
    ]
    if not self._places:
      raise TypeError(
        "no argument has real numbers, which could be differentiated: integer "
        "and boolean arrays are constants"
      )
    self.arrays = [
      structures.as_array(self._leaves[i], name="an argument")
      for i in self._places
    ]
    self._result: Callable[[Sequence[Any]], Any] | None = None

  def __call__(self, *arrays: Any) -> tuple[Any, ...]:
    args, leaves = list(self._args), list(self._leaves)
    for i, x in zip(self._places, arrays, strict=True):
      leaves[i] = x
    for i, x in zip(self._free, self._make(leaves), strict=True):
      args[i] = x
    results, self._result = autodiff.flatten(self._f(*args))
    for x in results:
      if hasattr(x, "dtype") and _kind(x).startswith("complex"):
        raise TypeError(
          f"f returned an array of dtype {_kind(x)}: derivatives are those of "
          "real numbers"
        )
    return tuple(results)

  def _of_free(self, args: Sequence[object]) -> tuple[Any, ...]:
    return tuple(args[i] for i in self._free)

  def tangents(self, tangents: Sequence[object]) -> list[Any]:
    """Returns the tangents of the arrays.

    Raises:
      ValueError: their structures or shapes are not those of the arguments.
    """
    if len(tangents) != len(self._args):
      raise ValueError(
        f"tangents has {len(tangents)} entries: it must have one for each of "
        f"{len(self._args)} primals"
      )
    leaves: list[Any] = []
    for x, like in zip(
      self._of_free(tangents), self._of_free(self._args), strict=True
    ):
      size = len(autodiff.flatten(like)[0])
      leaves += [None] * size if x is None else _leaves_like(x, like, "tangent")
    return [
      _fitting("tangent", leaves[i], x)
      for i, x in zip(self._places, self.arrays, strict=True)
    ]

  def result(self, values: Sequence[Any]) -> Any:
    """Arrays as the function's result has them."""
    assert self._result is not None
    return self._result(values)

  def spread(self, values: Sequence[Any]) -> tuple[Any, ...]:
    """Arrays as the arguments have them, None for those that are constant."""
    leaves: list[Any] = [None] * len(self._leaves)
    for i, x in zip(self._places, values, strict=True):
      leaves[i] = x
    found = dict(zip(self._free, self._make(leaves), strict=True))
    return tuple(found.get(i) for i in range(len(self._args)))
