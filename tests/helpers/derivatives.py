"""Cotangents and tangents of all arguments of a function of `math`."""

from collections.abc import Callable, Collection, Sequence
import inspect
from typing import Any

import numpy as np
import numpy as onp

from phasic.internal import static
from phasic.math.calls import gradients

# Arguments that are not arrays, and arrays without derivatives.
_OPTIONS = ("max_counts", "order", "orders", "validate_args")
_FIXED = ("phases",)


def vjp(
  function: Callable[..., Any],
  *args: Any,
  cotangent: Any,
  wanted: Collection[str] | None = None,
  **named: Any,
) -> tuple[Any, tuple[Any, ...]]:
  """Computes a function's value and the cotangents of its arguments, in order.

  Args:
    function: one of `math`.
    *args: its arguments; of edges the parameters are differentiated.
    cotangent: of the value, broadcasts to it.
    wanted: names of the arguments that are differentiated, None for all.
    **named: arguments by name.
  """
  call = _Call(function, args, named, wanted)
  value, pullback = gradients.vjp(call, *call.arrays.values())
  bars = pullback(onp.broadcast_to(cotangent, static.shape(value)))
  found = dict(zip(call.arrays, bars, strict=True))
  return value, tuple(found.get(name) for name in call.names)


def jvp(
  function: Callable[..., Any],
  *args: Any,
  tangents: Sequence[Any],
  **named: Any,
) -> tuple[Any, Any]:
  """Computes a function's value and its derivative along tangents.

  Args:
    function: one of `math`.
    *args: its arguments.
    tangents: one for each argument, in their order; None for zeros.
    **named: arguments by name.
  """
  call = _Call(function, args, named, None)
  along = dict(zip(call.names, tangents, strict=True))
  return gradients.jvp(
    call, [*call.arrays.values()], [along[name] for name in call.arrays]
  )


class _Call:
  """A function of the arrays that are differentiated."""

  def __init__(self, function, args, named, wanted):
    signature = inspect.signature(function)
    self._function = function
    self._given = signature.bind(*args, **named).arguments
    self.names = [name for name in signature.parameters if name not in _OPTIONS]
    self.arrays = {
      name: np.asarray(getattr(x, "parameters", x))
      for name, x in self._given.items()
      if name in self.names
      and name not in _FIXED
      and x is not None
      and (wanted is None or name in wanted)
    }

  def __call__(self, *arrays: Any) -> Any:
    given = dict(self._given)
    for name, x in zip(self.arrays, arrays, strict=True):
      own = given[name]
      is_edges = hasattr(own, "parameters")
      given[name] = own._replace(parameters=x) if is_edges else x
    return self._function(**given)
