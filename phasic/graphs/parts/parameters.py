"""Parameters of graphs as arrays, and linear functions of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from phasic.graphs.parts import contents
from phasic.internal import dtypes
from phasic.internal import static
from phasic.internal import structures
from phasic.internal.arrays import Array, ArrayLike

# Parameters as users give them: an array (..., d), or arrays by name.
ParamsLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike]


def params_array(
  params: ParamsLike | None, num_params: int, names: tuple[str, ...] | None
) -> Array:
  """Converts parameters to an array (..., d).

  See `Graph.params_array`.
  """
  if params is None and num_params == 0:
    return structures.as_array(np.zeros((0,)), static.wide_float(), "params")
  if params is None:
    raise ValueError(
      f"params is None: the graph has {counted(num_params, names)}; give their "
      "values"
    )
  if isinstance(params, Mapping):
    return _mapping_array(params, num_params, names)
  array = structures.as_array(params, None, "params")
  shape = static.shape(array)
  if not contents.ends_with(shape, num_params):
    raise ValueError(
      f"params have shape {shape}: they must be (..., {num_params}), the graph "
      f"has {counted(num_params, names)}"
    )
  return array


def _mapping_array(
  params: Mapping[str, ArrayLike],
  num_params: int,
  names: tuple[str, ...] | None,
) -> Array:
  if names is None and num_params > 0:
    raise TypeError(
      f"params is a mapping: the graph has {num_params} parameters without "
      "names; pass an array instead"
    )
  names = names or ()
  if set(params) != set(names):
    _refuse_names(params, num_params, names)
  if not names:
    return params_array(None, 0, None)
  labeled = {f"params[{name!r}]": params[name] for name in names}
  dtype = dtypes.common_dtype(labeled)
  arrays = [structures.as_array(x, dtype, name) for name, x in labeled.items()]
  if len(arrays) == 1:
    return arrays[0][..., None] * 1.0  # A copy, as of several parameters.
  shape = static.broadcast_shapes(*(static.shape(x) for x in arrays))
  return np.stack([np.broadcast_to(x, shape) for x in arrays], axis=-1)


def _refuse_names(
  params: Mapping[str, ArrayLike], num_params: int, names: tuple[str, ...]
) -> None:
  """Raises ValueError for names that are unknown or missing."""
  unknown = [name for name in params if name not in names]
  missing = [name for name in names if name not in params]
  problems = [
    f"{kind} {', '.join(repr(name) for name in listed)}"
    for kind, listed in (("unknown", unknown), ("missing", missing))
    if listed
  ]
  raise ValueError(
    f"params: {'; '.join(problems)}; the graph has {counted(num_params, names)}"
  )


def linear(constants: Array, coefficients: Array, params: Array) -> Array:
  """Computes constants + coefficients @ params, an array of shape (..., n).

  Args:
    constants: (n,).
    coefficients: (n, d).
    params: (..., d), an array; its dtype is the result's.
  """
  dtype = dtypes.common_dtype({"params": params})
  constants = structures.as_array(constants, dtype, "constants")
  coefficients = structures.as_array(coefficients, dtype, "coefficients")
  *batch, d = static.shape(params)
  if isinstance(d, int) and d == 0:
    return np.broadcast_to(constants, (*batch, *static.shape(constants)))
  terms = np.matmul(params[..., None, :], np.transpose(coefficients))
  return constants + terms[..., 0, :]


def counted(num_params: int, names: tuple[str, ...] | None) -> str:
  plural = "" if num_params == 1 else "s"
  listed = f" {', '.join(names)}" if names else ""
  return f"{num_params} parameter{plural}{listed}"
