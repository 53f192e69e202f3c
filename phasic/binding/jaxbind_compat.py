"""The interface of JAXbind: code for JAXbind only has to change an import.

The functions have the signatures and the meaning that they have in JAXbind
1.3.1: functions `f(out, args, kwargs_dump)` write into the arrays `out`, and
calls return lists. What JAXbind's calls cannot do works here, as these are
bound functions: derivatives of all orders where a function is linear, all
dtypes, exceptions of one's own, gradients of replicated arguments in
`jax.shard_map`.

Two things differ. Where a function can batch, the batch's axes come in front,
arguments may have one that `jax.vmap` did not ask for, and results always have
one, as copies. And `out` has NaN in it, or zeros for integers, so entries
that a function does not write are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
import pickle
from typing import TypeAlias

import numpy as onp

from phasic.binding import functions
from phasic.binding import jaxbind_callbacks
from phasic.internal import late_names
from phasic.internal.arrays import Result, Structure
from phasic.internal.frameworks import Foreign
from phasic.internal.native import host_calls
from phasic.internal.native import host_functions

# A callback `f(out, args, kwargs_dump)`, which writes its results into `out`.
Callback: TypeAlias = Callable[..., None]
# A function that returns the shape, dtype and batch axis of each result.
Abstract: TypeAlias = Callable[..., Sequence[Sequence[object]]]
# The version of JAXbind that has the same interface as this module.
__version__ = "1.3.1"


def load_kwargs(kwargs_dump: bytes) -> dict[str, Hashable]:
  """Decodes the keyword arguments that a callback is called with.

  Example:

    >>> import pickle
    >>> from phasic.binding import jaxbind_compat
    >>> jaxbind_compat.load_kwargs(pickle.dumps({"power": 2}))
    {'power': 2}
  """
  return pickle.loads(kwargs_dump)  # noqa: S301  (of phasic's own bytes)


def get_linear_call(
  f: Callback,
  f_T: Callback | Sequence[Callback | None] | None,
  /,
  abstract: Abstract,
  abstract_T: Abstract | Sequence[Abstract | None] | None,
  *,
  first_n_args_fixed: int = 0,
  func_can_batch: bool = False,
) -> Callable[..., list[Result]]:
  """Makes a function from a linear or multilinear callback.

  Args:
    f: `f(out, args, kwargs_dump)`, linear in all arguments but the fixed ones.
    f_T: its transpose, called with the fixed arguments and the cotangents; for
      a multilinear function a tuple with one for each argument, called with the
      others and the cotangents, None for fixed arguments.
    abstract: `abstract(*args, **kwargs)` returns a tuple of (shape, dtype), or
      (shape, dtype, batch axis), for each of `out`: the axis of the outermost
      `jax.vmap`, None for a result that has none.
    abstract_T: the same for the transpose, or for each.
    first_n_args_fixed: how many arguments have no derivative.
    func_can_batch: whether the functions are called for batches: then there is
      a keyword argument `batch_axes`, a tuple of axes for each argument, None
      where there is no batch.

  Example: a function that is its own transpose.

    >>> import numpy as np
    >>> from phasic.binding import jaxbind_compat
    >>> def double(out, args, kwargs_dump):
    ...   out[0][...] = 2.0 * args[0]
    >>> def like(x):
    ...   return ((x.shape, x.dtype),)
    >>> call = jaxbind_compat.get_linear_call(double, double, like, like)
    >>> float(call(np.asarray(4.0))[0])
    8.0
  """
  callback = jaxbind_callbacks.Callback(f, abstract, func_can_batch)
  call = callback.host_function(list)
  is_multilinear = isinstance(f_T, (tuple, list))
  transposes: Foreign = f_T
  abstracts: Foreign = abstract_T
  if is_multilinear:
    rules = [
      _rule(
        f"{call.name} has no transpose f_T[{i}]",
        (f_i, abstract_i, func_can_batch, None),
        lambda results: results[0],
      )
      for i, (f_i, abstract_i) in enumerate(
        zip(transposes, abstracts, strict=True)
      )
    ][first_n_args_fixed:]
  else:
    missing = f"{call.name} has no transpose f_T"
    rules = [
      _rule(missing, (transposes, abstracts, func_can_batch, None), tuple)
    ]

  def bound(*args: Structure, **kwargs: Hashable) -> list[Result]:
    callback.check_call(args, kwargs)
    fixed, slots = args[:first_n_args_fixed], args[first_n_args_fixed:]
    if not is_multilinear:
      slots = (slots,)
    return host_calls.call_multilinear(
      (call, *rules), callback.result_specs, fixed, slots, kwargs
    )

  return bound


def get_nonlinear_call(
  f: Callback,
  f_derivative: Sequence[Callback | None],
  /,
  abstract: Abstract,
  abstract_reverse: Abstract,
  *,
  first_n_args_fixed: int = 0,
  func_can_batch: bool = False,
) -> Callable[..., list[Result]]:
  """Makes a function from callbacks for its values, its jvp and its vjp.

  Args:
    f: `f(out, args, kwargs_dump)`.
    f_derivative: functions for jvp, called with the arguments and tangents, and
      vjp, called with the arguments and cotangents; both without fixed ones.
    abstract: as for `get_linear_call`; called for jvp too.
    abstract_reverse: the same for vjp.
    first_n_args_fixed: how many arguments have no derivative.
    func_can_batch: as for `get_linear_call`.

  Example: the square, of which jvp and vjp are alike.

    >>> import numpy as np
    >>> from phasic.binding import jaxbind_compat
    >>> def square(out, args, kwargs_dump):
    ...   out[0][...] = args[0] ** 2
    >>> def rule(out, args, kwargs_dump):
    ...   out[0][...] = 2.0 * args[0] * args[1]
    >>> def like(x, *_):
    ...   return ((x.shape, x.dtype),)
    >>> call = jaxbind_compat.get_nonlinear_call(square, (rule, rule), like, like)
    >>> float(call(np.asarray(3.0))[0])
    9.0
  """
  callback = jaxbind_callbacks.Callback(f, abstract, func_can_batch)
  jvp, vjp = f_derivative
  without = (None,) * first_n_args_fixed
  call = callback.host_function(list)
  function = functions.BoundFunction(
    call,
    callback.result_specs,
    _rule(
      f"{call.name} has no rule jvp in f_derivative",
      (jvp, abstract, func_can_batch, first_n_args_fixed),
      list,
    ),
    _rule(
      f"{call.name} has no rule vjp in f_derivative",
      (vjp, abstract_reverse, func_can_batch, first_n_args_fixed),
      lambda results: (*without, *results),
    ),
    tuple(range(first_n_args_fixed)),
  )

  def bound(*args: Structure, **kwargs: Hashable) -> list[Result]:
    callback.check_call(args, kwargs)
    return list(function(*args, **kwargs))

  return bound


def _rule(
  missing: str,
  declared: tuple[Callback | None, Abstract, bool, int | None],
  finish: Callable[[list[onp.ndarray]], object],
) -> host_functions.HostFunction | host_functions.Missing:
  """Returns a rule as a host function, or `Missing` if there is no callback."""
  f, abstract, can_batch, num_fixed = declared
  if f is None:
    return host_functions.Missing(missing)
  callback = jaxbind_callbacks.Callback(f, abstract, can_batch, num_fixed)
  return callback.host_function(finish)


__all__ = ["get_linear_call", "get_nonlinear_call", "load_kwargs"]
__dir__ = late_names.lister(__name__)
