"""Converts graphs to JSON, which is not trusted, and back; hashes graphs."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Sequence
import contextlib
import hashlib
import json
import math
import sys

import numpy as onp

from phasic.graphs.parts import contents
from phasic.internal.raw_arguments import shown
from phasic.saving import texts

FORMAT = "phasic.graph"
VERSION = 1
_NAME = "the graph's JSON"
# The largest number of states with equal hashes. The work to put n such states
# into a dictionary grows like n^2.
_MOST_COLLISIONS = 1000
_REALS = frozenset((float, int))

_KEYS = (
  "format",
  "version",
  "discrete",
  "num_phases",
  "num_params",
  "parameter_names",
  "causes",
  "sources",
  "targets",
  "constants",
  "coefficients",
  "initial_constants",
  "initial_coefficients",
  "states",
)


def dumps(graph: contents.Contents) -> str:
  """Converts a graph to JSON text: see `Graph.to_json`."""
  return texts.write(encode(graph))


def encode(graph: contents.Contents) -> dict[str, object]:
  """Returns a graph as the object of JSON that its text has."""
  p, d = onp.shape(graph.initial_coefficients)
  values = (
    FORMAT,
    VERSION,
    graph.discrete,
    p - 1,
    d,
    None if graph.parameter_names is None else list(graph.parameter_names),
    list(graph.causes),
    contents.plain(graph.sources),
    contents.plain(graph.targets),
    contents.plain(graph.constants),
    contents.plain(graph.coefficients),
    contents.plain(graph.initial_constants),
    contents.plain(graph.initial_coefficients),
    _encoded_states(graph.states),
  )
  return dict(zip(_KEYS, values, strict=True))


def loads(text: str | bytes) -> contents.Contents:
  """Reads a graph from JSON text; its arrays are not checked here.

  Raises:
    TypeError: `text` is not a string.
    ValueError: it is not JSON, or not the JSON of a graph; the error says why.
  """
  return texts.read(text, _NAME, decode)


def decode(data: dict[str, object]) -> contents.Contents:
  """Reads a graph from what its JSON text holds, see `loads`."""
  texts.check_header(data, FORMAT, VERSION)
  texts.check_keys(data, _KEYS, _NAME)
  return _contents(data)


def _contents(data: dict[str, object]) -> contents.Contents:
  if type(data["discrete"]) is not bool:
    raise ValueError(
      f"discrete is {data['discrete']!r}: it must be true or false"
    )
  p = _integer(data["num_phases"], "num_phases", 1)
  d = _integer(data["num_params"], "num_params", 0)
  m = len(texts.check_list(data["sources"], "sources"))
  names = data["parameter_names"]
  if names is not None:
    names = tuple(texts.check_strings(names, "parameter_names", d))
  causes = texts.check_list(data["causes"], "causes")
  texts.check_strings(
    [c for c in causes if c is not None], "causes without null"
  )
  states = data["states"]
  if states is not None:
    states = tuple(_decoded(x) for x in texts.check_list(states, "states", p))
    _check_hashes(states)
  return contents.Contents(
    sources=_integers(data["sources"], "sources", m),
    targets=_integers(data["targets"], "targets", m),
    constants=_numbers(data["constants"], "constants", m),
    coefficients=_table(data["coefficients"], "coefficients", m, d),
    initial_constants=_numbers(
      data["initial_constants"], "initial_constants", p + 1
    ),
    initial_coefficients=_table(
      data["initial_coefficients"], "initial_coefficients", p + 1, d
    ),
    parameter_names=names,
    causes=tuple(c if isinstance(c, str) else None for c in causes),
    discrete=data["discrete"],
    states=states,
  )


def _integer(x: object, name: str, least: int) -> int:
  if type(x) is not int or not least <= x < 2**31 - 1:
    raise ValueError(f"{name} is {shown(x)}: it must be an integer >= {least}")
  return x


def _integers(x: object, name: str, size: int) -> onp.ndarray:
  items = texts.check_list(x, name, size)
  for i, item in enumerate(items):
    if type(item) is not int or not 0 <= item < 2**31:
      raise ValueError(
        f"{name}[{i}] is {shown(item)}: it must be an integer >= 0"
      )
  return onp.asarray(items, onp.int32)


def _numbers(x: object, name: str, size: int) -> onp.ndarray:
  return _finite(texts.check_list(x, name, size), name, None)


def _table(x: object, name: str, rows: int, columns: int) -> onp.ndarray:
  numbers: list[object] = []
  for i, row in enumerate(texts.check_list(x, name, rows)):
    numbers += texts.check_list(row, f"{name}[{i}]", columns)
  return onp.reshape(_finite(numbers, name, columns), (rows, columns))


def _finite(items: list[object], name: str, columns: int | None) -> onp.ndarray:
  """Returns numbers as an array; raises ValueError for the first bad one.

  Args:
    items: the numbers.
    name: the name of their array in messages.
    columns: how many a row of the array has; None for a vector.
  """
  # An integer of more than 308 digits overflows.
  with contextlib.suppress(OverflowError):
    if _REALS.issuperset(map(type, items)):
      numbers = onp.asarray(items, float)
      if onp.all(onp.abs(numbers) < 2.0**1023):
        return numbers
  for i, item in enumerate(items):
    if not _is_finite(item):
      k = columns
      place = f"[{i}]" if k is None else f"[{i // k}][{i % k}]"
      raise ValueError(
        f"{name}{place} is {shown(item)}: it must be a finite number"
      )
  return onp.asarray(items, float)


def _is_finite(item: object) -> bool:
  # Integers just above the largest float would be rounded to it, and 1e999 is
  # read as inf.
  if type(item) is int:
    return abs(item) <= sys.float_info.max
  return type(item) is float and math.isfinite(item)


def _encoded_states(states: Sequence[Hashable] | None) -> list[object] | None:
  """Encodes states as JSON values; returns None if that is impossible."""
  if states is None:
    return None
  try:
    return [_encoded(state) for state in states]
  except (TypeError, RecursionError):
    return None


def _encoded(state: object) -> object:
  # A named tuple is read back as an equal plain tuple.
  if isinstance(state, tuple):
    return [_encoded(x) for x in state]
  if isinstance(state, (bool, onp.bool_)):
    return bool(state)
  if isinstance(state, (int, onp.integer)):
    return int(state)
  if isinstance(state, (float, onp.floating)) and math.isfinite(state):
    return float(state)
  if state is None or isinstance(state, str):
    return state
  raise TypeError(f"a state is {type(state).__name__}: JSON cannot hold it")


def _decoded(state: object) -> Hashable:
  if isinstance(state, list):
    return tuple(_decoded(x) for x in state)
  if isinstance(state, dict):
    raise ValueError(
      f"state {shown(state)} is a JSON object: it must be a number, a string or "
      "an array, which stands for a tuple"
    )
  if isinstance(state, float) and not math.isfinite(state):
    raise ValueError(
      f"state {state} is not finite: numbers in states must be finite"
    )
  return state


def _check_hashes(states: Sequence[Hashable]) -> None:
  """Raises ValueError if too many states have equal hashes."""
  most = max(collections.Counter(map(hash, states)).values())
  if most > _MOST_COLLISIONS:
    raise ValueError(
      f"states has {most} entries with equal hashes: it must have at most "
      f"{_MOST_COLLISIONS}; write null instead of the states"
    )


def content_hash(graph: contents.Contents) -> str:
  """Returns the SHA-256 hash of a graph, 64 hexadecimal digits.

  See `Graph.content_hash`.
  """
  p, d = onp.shape(graph.initial_coefficients)
  facts = {
    "format": "phasic.graph 1",
    "num_phases": p - 1,
    "num_edges": len(graph.sources),
    "num_params": d,
    "parameter_names": graph.parameter_names,
    "causes": graph.causes,
    "discrete": graph.discrete,
  }
  digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
  for indices in (graph.sources, graph.targets):
    digest.update(onp.ascontiguousarray(indices, "<i4").tobytes())
  for numbers in (
    graph.constants,
    graph.coefficients,
    graph.initial_constants,
    graph.initial_coefficients,
  ):
    # Adding zero turns -0 into 0, so that both have one hash.
    digest.update(onp.ascontiguousarray(numbers + 0.0, "<f8").tobytes())
  return digest.hexdigest()
