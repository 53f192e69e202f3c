"""Arrays in JSON: dtype, shape and numbers, which keep all of their bits.

A number is written with the fewest digits that a double needs, and an array of
float32 or half precision as doubles of the same values. JSON has no infinite
numbers: these are the strings "inf", "-inf" and "nan".
"""

from __future__ import annotations

import contextlib
import math

import numpy as onp

from phasic.internal import dtypes
from phasic.internal import halves
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal import structures
from phasic.saving import texts

MODE = "numpy"
_KEYS = ("class", "dtype", "shape", "data")
_INTEGERS = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_DTYPES = (*dtypes.FLOATS, *halves.EPS, *_INTEGERS, *_UNSIGNED)
_NUMBERS = frozenset((float, int))
NOT_FINITE = {name: float(name) for name in ("inf", "-inf", "nan")}


def encode(x: object, path: str) -> dict[str, object]:
  """Returns an array as an object of JSON.

  Args:
    x: an array of the backend or of the host, or a variable.
    path: where it is, for the messages.

  Raises:
    TypeError: its dtype is not numeric.
    ValueError: it is traced.
  """
  known = static.concrete(x)
  if known is None:
    raise ValueError(
      f"{path} is traced: JSON holds values; call to_json outside of compiled "
      "functions"
    )
  name = known.dtype.name
  if name not in _DTYPES:
    raise TypeError(f"{path} has dtype {name}: it must be numeric and real")
  if known.dtype.kind in "iu":
    data = known.ravel().tolist()
  else:
    data = known.astype(onp.float64).ravel().tolist()
    if not all(map(math.isfinite, data)):
      data = [x if math.isfinite(x) else repr(x) for x in data]
  return dict(zip(_KEYS, ("array", name, list(known.shape), data), strict=True))


def decode(data: dict[str, object], path: str) -> object:
  """Returns the array that `encode` wrote.

  Raises:
    ValueError: it breaks a rule of the format; the message says where.
  """
  texts.check_keys(data, _KEYS, path)
  dtype = data["dtype"]
  if not isinstance(dtype, str) or dtype not in _DTYPES:
    raise ValueError(
      f"{path}.dtype is {raw_arguments.shown(dtype)}: it must be one of "
      f"{', '.join(_DTYPES)}"
    )
  if MODE != "jax":
    _refuse_half(dtype, f"{path}.dtype")
  shape = _shape(data["shape"], f"{path}.shape")
  entries = texts.check_list(data["data"], f"{path}.data", math.prod(shape))
  if onp.dtype(dtype).kind in "iu":
    return onp.reshape(_integers(entries, dtype, f"{path}.data"), shape)
  numbers = _floats(entries, dtype, f"{path}.data")
  return structures.cast(onp.reshape(numbers, shape), dtype)


def _refuse_half(dtype: str, path: str) -> None:
  """Raises ValueError for half precision."""
  if dtype in halves.EPS:
    raise ValueError(
      f"{path} is {dtype!r}: only JAX has arrays of half precision; read the "
      "text there"
    )


def _shape(x: object, path: str) -> tuple[int, ...]:
  """Returns a shape after checks of its sizes and of their number."""
  sizes = texts.check_list(x, path)
  most = raw_arguments.MAX_DIMENSIONS
  if len(sizes) > most:
    raise ValueError(
      f"{path} has {len(sizes)} sizes: it must have at most {most}"
    )
  shape = []
  for i, size in enumerate(sizes):
    if type(size) is not int or not 0 <= size < 2**31:
      raise ValueError(
        f"{path}[{i}] is {raw_arguments.shown(size)}: it must be an integer >= 0"
      )
    shape.append(size)
  # An array without entries may have other sizes that are too large together.
  if math.prod(size for size in shape if size) > raw_arguments.MOST_ENTRIES:
    raise ValueError(f"{path} is {shape}: it must have at most 2^31 entries")
  return tuple(shape)


def _integers(entries: list[object], dtype: str, path: str) -> onp.ndarray:
  limits = onp.iinfo(dtype)
  for i, x in enumerate(entries):
    if type(x) is not int or not limits.min <= x <= limits.max:
      raise ValueError(
        f"{path}[{i}] is {raw_arguments.shown(x)}: it must be an integer of "
        f"{dtype}"
      )
  return onp.asarray(entries, dtype)


def _floats(entries: list[object], dtype: str, path: str) -> onp.ndarray:
  """Returns the numbers in their dtype, on the host."""
  values = [NOT_FINITE.get(x, x) if isinstance(x, str) else x for x in entries]
  with onp.errstate(over="ignore"), contextlib.suppress(OverflowError):
    if _NUMBERS.issuperset(map(type, values)):
      numbers = onp.asarray(values, onp.float64).astype(onp.dtype(dtype))
      lost = onp.flatnonzero(onp.isinf(numbers.astype(onp.float64)))
      if all(isinstance(entries[i], str) for i in lost):
        return numbers
  i = next(i for i, x in enumerate(entries) if not _is_number(x, dtype))
  raise ValueError(
    f"{path}[{i}] is {raw_arguments.shown(entries[i])}: it must be a number of "
    f"{dtype}, or 'inf', '-inf' or 'nan'"
  )


def _is_number(x: object, dtype: str) -> bool:
  """Returns whether an entry is a number that does not overflow."""
  if isinstance(x, str):
    return x in NOT_FINITE
  if not isinstance(x, (float, int)) or isinstance(x, bool):
    return False
  if abs(x) >= 2**1023 and isinstance(x, int):
    return False
  with onp.errstate(over="ignore"):
    narrow = onp.asarray(x, onp.float64).astype(onp.dtype(dtype))
  return math.isfinite(float(narrow))
