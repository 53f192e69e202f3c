"""Automatic derivatives of functions of arrays or nested structures of arrays.

Structures are nested tuples, lists and mappings; in JAX all pytrees. Real
numbers in them are differentiated as arrays of the substrate: floating arrays
and Python numbers, 2 as 2.0. Integer and boolean arrays are constants, whose
derivatives are None, and so are sources and targets of edges, lists too. In
NumPy a function must use functions of NumPy and phasic only: other code raises
an error, as it would lose the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from phasic.internal import autodiff
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, Result, Tree
from phasic.math.calls import edge_ends
from phasic.math.calls import nan_results

_R = TypeVar("_R")
# Prefixes of the names of dtypes without derivatives; "key" is for JAX's keys.
_CONSTANTS = ("bool", "int", "uint", "key", "string")


def value_and_gradient(
  f: Callable[..., _R], *args: object
) -> tuple[_R, Result]:
  """Computes `f(*args)` and the gradient of the sum of its entries.

  It works like `tfp.math.value_and_gradient`. For derivatives of single entries
  use `jvp` or `vjp`.

  Args:
    f: a function that returns one array of real numbers.
    *args: where to evaluate it: arrays, numbers or structures of them.

  Returns:
    The value, and the gradient with respect to the argument, in its structure,
    or a tuple of gradients if there are several arguments.

  Raises:
    NotImplementedError: `f` uses a function without reverse-mode derivatives.
    TypeError: no argument has real numbers, or `f` does not return one array;
      in NumPy, `f` uses other functions than NumPy's and phasic's.

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
  value, pullback = _vjp("value_and_gradient", f, args)
  gradient: Tree = pullback(np.ones_like(_one_array(f, value)))
  return value, gradient[0] if len(args) == 1 else gradient


def vjp(
  f: Callable[..., _R], *args: object
) -> tuple[_R, Callable[[object], tuple[Result, ...]]]:
  """Computes `f(*args)` and its pullback, in reverse mode.

  Args:
    f: a function that returns an array, or a structure of arrays.
    *args: where to evaluate it: arrays, numbers or structures of them.

  Returns:
    The value, and a function that takes a cotangent c of the value, in its
    structure, and returns a tuple of the cotangents of the arguments: c times
    the Jacobian. It may be called several times.

  Raises:
    NotImplementedError: `f` uses a function without reverse-mode derivatives.
    TypeError: no argument has real numbers, or a cotangent is float64 and
      its primal or result float32; in NumPy, `f` uses other functions than
      NumPy's and phasic's.
    ValueError: a cotangent does not have the value's structure or shape.

  Example: the derivative of the density 2 exp(-2 t) in the time.

    >>> from phasic import math as pm
    >>> value, pullback = pm.vjp(
    ...   lambda t: pm.phase_type.prob(t, [1.0], [[-2.0]]), 0.5
    ... )
    >>> (slope,) = pullback(1.0)
    >>> print(f"{float(value):.4f} {float(slope):.4f}")
    0.7358 -1.4715
  """
  return _vjp("vjp", f, args)


def _vjp(
  name: str, f: Callable[..., _R], args: Sequence[object]
) -> tuple[_R, Callable[[object], tuple[Result, ...]]]:
  """Computes `vjp`; warnings of NaN have the given name."""
  array_function = _ArrayFunction(f, args)
  values, vjp_fn = autodiff.reverse(array_function, array_function.arrays)

  def pullback(cotangent: object) -> tuple[Result, ...]:
    cotangents = _leaves_like(
      cotangent, array_function.result(values), "cotangent"
    )
    fitting = [_fitting("cotangent", *pair) for pair in zip(cotangents, values)]
    derivatives = vjp_fn(fitting)
    inputs = (*array_function.arrays, *fitting)
    nan_results.warn_of_derivatives(name, derivatives, values, inputs)
    return array_function.spread(derivatives)

  return array_function.result(values), pullback


def jvp(
  f: Callable[..., _R], primals: Sequence[object], tangents: Sequence[object]
) -> tuple[_R, _R]:
  """Computes `f(*primals)` and its derivative along `tangents`, forward mode.

  Args:
    f: a function that returns an array, or a structure of arrays.
    primals: where to evaluate it: arrays, numbers or structures of them.
    tangents: in the structures of the primals; None stands for zeros.

  Returns:
    The value, and the Jacobian times the tangents, in the structure of the
    value.

  Raises:
    NotImplementedError: `f` uses a function without forward-mode derivatives.
    TypeError: no argument has real numbers, or a tangent is float64 and
      its primal or result float32; in NumPy, `f` uses other functions than
      NumPy's and phasic's.
    ValueError: a tangent does not have its primal's structure or shape.

  Example: the derivative of the density 2 exp(-2 t) in the time.

    >>> from phasic import math as pm
    >>> value, slope = pm.jvp(
    ...   lambda t: pm.phase_type.prob(t, [1.0], [[-2.0]]), (0.5,), (1.0,)
    ... )
    >>> print(f"{float(value):.4f} {float(slope):.4f}")
    0.7358 -1.4715
  """
  return _jvp("jvp", f, primals, tangents)


def _jvp(
  name: str,
  f: Callable[..., _R],
  primals: Sequence[object],
  tangents: Sequence[object],
) -> tuple[_R, _R]:
  """Computes `jvp`; warnings of NaN have the given name."""
  _check_sequence("primals", primals)
  _check_sequence("tangents", tangents)
  array_function = _ArrayFunction(f, primals)
  along = array_function.tangents(tangents)
  values, derivatives = autodiff.forward(
    array_function, array_function.arrays, along
  )
  inputs = (*array_function.arrays, *along)
  nan_results.warn_of_derivatives(name, derivatives, values, inputs)
  return array_function.result(values), array_function.result(derivatives)


def hessian_vector_product(
  f: Callable[..., object],
  primals: Sequence[object],
  tangents: Sequence[object],
) -> Result:
  """Computes the derivative of the gradient of `f` along `tangents`.

  The result is the Hessian of the sum of the entries of `f`, times the
  tangents. It is computed by forward over reverse mode.

  Args:
    f: a function that returns one array of real numbers.
    primals: where to evaluate it: arrays, numbers or structures of them.
    tangents: in the structures of the primals; None stands for zeros.

  Returns:
    The product in the structure of the primal, or a tuple if there are several.

  Raises:
    NotImplementedError: `f` uses a function without second derivatives.
    TypeError: as in `value_and_gradient`.
    ValueError: as in `jvp`.

  Example: log(r) - r t, whose second derivative in r is -1 / r^2.

    >>> from phasic import math as pm
    >>> from phasic.distributions import Erlang
    >>> found = pm.hessian_vector_product(
    ...   lambda rate: Erlang(1, rate).log_prob(3.0), (2.0,), (1.0,)
    ... )
    >>> print(f"{float(found):.4f}")
    -0.2500
  """
  _check_sequence("primals", primals)

  def gradient(*args: object) -> tuple[Result, ...]:
    value, pullback = _vjp("hessian_vector_product", f, args)
    return pullback(np.ones_like(_one_array(f, value)))

  raw_arguments.check_callable("f", f)
  derivatives: Tree = _jvp(
    "hessian_vector_product", gradient, primals, tangents
  )[1]
  return derivatives[0] if len(primals) == 1 else derivatives


def stop_gradient(x: _R) -> _R:
  """Returns an array, or a structure of arrays, as a constant for derivatives.

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


def _check_sequence(name: str, x: object) -> None:
  """Raises TypeError unless `x` is a tuple or a list."""
  if not isinstance(x, (tuple, list)):
    raise TypeError(
      f"{name} is {raw_arguments.shown(x)}: it must be a tuple with an entry for "
      "each argument of f"
    )


def _one_array(f: Callable[..., object], value: object) -> Array:
  """Returns the value of `f`, which must be one array of real numbers.

  Raises:
    TypeError: the value is not one array of real numbers.
  """
  leaves, _ = autodiff.flatten(value)
  if len(leaves) != 1 or leaves[0] is not value or _is_constant(value):
    raise TypeError(
      f"f returned {raw_arguments.shown(stop_gradient(value))}: it must be one "
      "array of real numbers; vjp and jvp take structures"
    )
  (array,) = leaves
  return array


def _is_constant(x: Tree) -> bool:
  """Returns whether a leaf has no derivative, e.g. an integer array."""
  if isinstance(x, bool):
    return True
  return hasattr(x, "dtype") and _name(x.dtype).startswith(_CONSTANTS)


def _name(dtype: object) -> str:
  """Returns the name of a dtype of any library."""
  return getattr(dtype, "name", None) or str(dtype)


def _fitting(name: str, x: object, like: Array) -> Array:
  """Converts a tangent or cotangent to the dtype of `like`, after checks."""
  if x is None or _is_constant(like):
    return np.zeros_like(like)
  dtype = static.dtype_name(like)
  dtypes.check_fits(x, f"a {name}", dtype, "its primal or result")
  array = structures.as_array(x, dtype, name)
  shape, wanted = static.shape(array), static.shape(like)
  if len(shape) != len(wanted) or any(
    isinstance(a, int) and isinstance(b, int) and a != b
    for a, b in zip(shape, wanted)
  ):
    raise ValueError(
      f"a {name} has shape {shape}: it must be {wanted}, the shape "
      "of its primal or result"
    )
  return array


def _leaves_like(tree: object, like: object, name: str) -> list[object]:
  """Flattens a tangent or cotangent; its structure must be as in `like`."""
  try:
    return autodiff.leaves_like(tree, like)
  except (TypeError, ValueError):
    raise ValueError(
      f"a {name} is {raw_arguments.shown(tree)}: it must have the structure of "
      f"{raw_arguments.shown(like)}"
    ) from None


class _ArrayFunction(Generic[_R]):
  """Wraps a function of structures as a function of their real-valued arrays.

  Attributes:
    arrays: the arrays of real numbers in the arguments.
  """

  def __init__(self, f: Callable[..., _R], args: Sequence[object]):
    raw_arguments.check_callable("f", f)
    self._f = f
    self._args = list(args)
    rules = getattr(f, "rules", None)
    fixed = () if rules is None else rules.nondiff_argnums
    self._free = [i for i in range(len(args)) if i not in fixed]
    self._leaves, self._make = autodiff.flatten(self._free_values(args))
    self._places = [
      i for i, x in enumerate(self._leaves) if not _is_constant(x)
    ]
    if not self._places:
      raise TypeError(
        "no argument has real numbers: integer and boolean arrays are "
        "constants; pass floating-point arrays"
      )
    self.arrays = [
      structures.as_array(self._leaves[i], name="an argument")
      for i in self._places
    ]
    self._result: Callable[[Sequence[object]], _R] | None = None

  def __call__(self, *arrays: Array) -> tuple[Array, ...]:
    args, leaves = list(self._args), list(self._leaves)
    for i, x in zip(self._places, arrays, strict=True):
      leaves[i] = x
    for i, x in zip(self._free, self._make(leaves), strict=True):
      args[i] = x
    returned = edge_ends.as_arrays(self._f(*args))
    results, self._result = autodiff.flatten(returned)
    for x in results:
      if hasattr(x, "dtype") and _name(x.dtype).startswith("complex"):
        raise TypeError(
          f"f returned an array of dtype {_name(x.dtype)}: it must be real, as "
          "derivatives of complex numbers are not supported"
        )
    return tuple(results)

  def _free_values(self, args: Sequence[object]) -> tuple[object, ...]:
    return edge_ends.as_arrays(tuple(args[i] for i in self._free))

  def _free_arguments(self) -> tuple[object, ...]:
    return tuple(self._args[i] for i in self._free)

  def tangents(self, tangents: Sequence[object]) -> list[Array]:
    """Returns the tangents of `arrays`, given the tangents of the arguments.

    Raises:
      ValueError: their structures or shapes differ from the arguments'.
    """
    if len(tangents) != len(self._args):
      raise ValueError(
        f"tangents has {len(tangents)} entries: it must have one for each of "
        f"{len(self._args)} primals"
      )
    leaves: list[object] = []
    for x, like in zip(
      self._free_values(tangents), self._free_values(self._args), strict=True
    ):
      size = len(autodiff.flatten(like)[0])
      leaves += [None] * size if x is None else _leaves_like(x, like, "tangent")
    return [
      _fitting("tangent", leaves[i], x)
      for i, x in zip(self._places, self.arrays, strict=True)
    ]

  def result(self, values: Sequence[object]) -> _R:
    """Packs arrays into the structure of the function's result."""
    assert self._result is not None
    return self._result(values)

  def spread(self, values: Sequence[object]) -> tuple[Tree, ...]:
    """Packs arrays into the arguments' structures; constants become None."""
    leaves: list[object] = [None] * len(self._leaves)
    for i, x in zip(self._places, values, strict=True):
      leaves[i] = x
    packed = edge_ends.as_given(self._make(leaves), self._free_arguments())
    by_index = dict(zip(self._free, packed, strict=True))
    return tuple(by_index.get(i) for i in range(len(self._args)))
