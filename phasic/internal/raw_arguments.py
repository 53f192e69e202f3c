"""Checks of arguments before they are converted to arrays."""

from __future__ import annotations

from collections.abc import Sequence
import math
import operator
import reprlib
from typing import Protocol, TypeGuard, TypeVar

import numpy as onp

# The largest number of dimensions that every backend supports.
MAX_DIMENSIONS = 20
# The largest number of entries of an array: 16 GiB of doubles.
MOST_ENTRIES = 2**31
# For messages, the names of what non-numeric arrays contain, by dtype kind.
_NO_NUMBERS = {
  "M": "dates",
  "O": "Python objects",
  "S": "bytes",
  "T": "text",
  "U": "text",
  "V": "records",
  "m": "durations",
}
_NUMBERS = frozenset((bool, complex, float, int))
_Sizes = TypeVar("_Sizes", bound=tuple[object, ...])


class _Short(reprlib.Repr):
  def repr_int(self, x: int, level: int) -> str:
    try:
      repr(x)  # Later versions of Python catch the error in their repr_int.
      return super().repr_int(x, level)
    except ValueError:  # Python refuses to print more than 4300 digits.
      return "an integer of thousands of digits"


_SHORT = _Short()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxother = 80


class _Entries(Protocol):
  """The nonzero entries of a sparse matrix of SciPy."""

  row: onp.ndarray
  col: onp.ndarray
  data: onp.ndarray
  shape: tuple[int, int]


class _SparseMatrix(Protocol):
  """A sparse matrix of SciPy."""

  def tocoo(self) -> _Entries:
    """Returns the nonzero entries with their row and column indices."""
    ...


def shown(x: object) -> str:
  """Returns a shortened repr of an argument, for messages."""
  return _SHORT.repr(x).replace("\n", " ")


def check_flags(**flags: object) -> None:
  """Raises TypeError unless all arguments, given by name, are bools."""
  for name, value in flags.items():
    if not isinstance(value, (bool, onp.bool_)):
      raise TypeError(f"{name} is {shown(value)}: it must be True or False")


def check_string(name: str, value: object) -> None:
  """Raises TypeError unless an argument is a string."""
  if not isinstance(value, str):
    raise TypeError(f"{name} is {shown(value)}: it must be a string")


def check_callable(name: str, f: object, what: str = "") -> None:
  """Raises TypeError unless an argument can be called.

  Args:
    name: the argument's name.
    f: the argument.
    what: its arguments or results, for the message.
  """
  if not callable(f):
    raise TypeError(f"{name} is {shown(f)}: it must be a function{what}")


def checked_size(
  shape: _Sizes, shapes: Sequence[tuple[object, ...]] = ()
) -> _Sizes:
  """Returns the shape of a new array after checking that it is not too large.

  Args:
    shape: the shape; sizes that are traced count as one.
    shapes: the shapes that were broadcast to it, for the message.

  Raises:
    MemoryError: the array would have more than 2^31 entries.
  """
  count = math.prod(d for d in shape if isinstance(d, int))
  if count > MOST_ENTRIES:
    of, advice = "an array would have shape", "compute it in parts"
    if shapes:
      of = f"shapes {' and '.join(str(tuple(s)) for s in shapes)} broadcast to"
      advice = f"give equal shapes for one value each, or {advice}"
    raise MemoryError(
      f"{of} {shown(shape)}, {shown(count)} entries: it must have at most 2^31; "
      f"{advice}"
    )
  return shape


def integer(name: str, x: object, what: str = "an integer") -> int:
  """Converts an argument to an int.

  Args:
    name: the argument's name.
    x: an integer of Python or of an array library; not a bool.
    what: the required kind of value, for the message.

  Raises:
    TypeError: it is not an integer, or is traced.
  """
  if not isinstance(x, (bool, onp.bool_)):
    try:
      return operator.index(x)  # type: ignore[arg-type]
    except TypeError:
      pass
  raise TypeError(f"{name} is {shown(x)}: it must be {what}")


def check_sequence(name: str, x: object, what: str = "") -> None:
  """Raises TypeError unless an argument is a list or tuple.

  Args:
    name: the argument's name.
    x: the argument.
    what: what its items are, for the message.
  """
  if not isinstance(x, (list, tuple)):
    raise TypeError(f"{name} is {shown(x)}: it must be a list or tuple{what}")


def host_array(x: object, name: str) -> onp.ndarray:
  """Converts an array, number or nested list to a NumPy array.

  Raises:
    TypeError: `x` is masked.
    ValueError: `x` is ragged or has too many dimensions.
  """
  check_nesting(x, name)
  try:
    return onp.asarray(x)
  except ValueError:
    raise ragged(name) from None


def ragged(name: str) -> ValueError:
  """Returns the error for nested lists whose rows differ in length."""
  return ValueError(f"{name} is ragged: it must be a rectangular array")


def check_nesting(x: object, name: str, depth: int = 0) -> None:
  """Raises an error unless `x` is an array or can be converted to one.

  Args:
    x: an array, a number or nested lists.
    name: the argument's name.
    depth: the number of lists around `x`.

  Raises:
    TypeError: `x` is None, a sparse matrix of SciPy or has a masked array, whose
      mask would be lost.
    ValueError: there are too many dimensions.
  """
  if type(x) is onp.ndarray and depth + x.ndim <= MAX_DIMENSIONS:
    return
  if x is None and depth == 0:
    raise TypeError(f"{name} is None: it must be an array")
  if isinstance(x, onp.ma.MaskedArray):
    raise TypeError(
      f"{name} is a masked array: masks are not used; pass x.compressed(), the "
      "unmasked entries, or x.filled(value)"
    )
  # Lists of plain numbers need no slow check of each item.
  items = x if isinstance(x, (list, tuple)) else None
  if items is None and _is_sparse(x):
    raise TypeError(
      f"{name} is a sparse matrix: it must be a dense array, e.g. x.toarray()"
    )
  rank = getattr(x, "ndim", 0) if items is None else 1
  if depth + (rank if isinstance(rank, int) else 0) > MAX_DIMENSIONS:
    raise ValueError(
      f"{name} has more than {MAX_DIMENSIONS} dimensions: it must have at most "
      f"{MAX_DIMENSIONS}"
    )
  if items is not None and not _NUMBERS.issuperset(map(type, items)):
    for item in items:
      check_nesting(item, name, depth + 1)


def entries_of_scipy(
  x: object,
) -> tuple[onp.ndarray, onp.ndarray, onp.ndarray, tuple[int, int]] | None:
  """Returns rows, columns, values and shape of a SciPy sparse matrix.

  The result is None if `x` is not such a matrix.
  """
  if not _is_sparse(x):
    return None
  coordinates = x.tocoo()
  return coordinates.row, coordinates.col, coordinates.data, coordinates.shape


def _is_sparse(x: object) -> TypeGuard[_SparseMatrix]:
  """Returns whether an argument is a sparse matrix of SciPy."""
  return type(x).__module__.startswith("scipy.sparse")


def traced_places(name: str) -> TypeError:
  """Returns the error for a sparse matrix whose indices are traced."""
  return TypeError(
    f"{name} is a sparse matrix whose indices are traced: they must be "
    "concrete; close over them"
  )


def refuse_objects(dtype: onp.dtype, name: str) -> None:
  """Raises TypeError for dtypes that are not numeric."""
  # Numeric dtypes of other packages, e.g. bfloat16, may have the same kind as
  # records. They are accepted: only their `isbuiltin` is 2.
  if dtype.kind in _NO_NUMBERS and dtype.isbuiltin != 2:
    raise TypeError(
      f"{name} holds {_NO_NUMBERS[dtype.kind]}: it must hold numbers"
    )


def is_read_only(x: object) -> bool:
  """Returns whether `x` is a host array whose memory nobody can write to."""
  while isinstance(x, onp.ndarray) and not x.flags.writeable:
    if x.base is None or isinstance(x.base, bytes):
      return True
    x = x.base
  return False
