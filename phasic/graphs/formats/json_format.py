"""Converts graphs to JSON, which is not trusted, and back; hashes graphs."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Sequence
import hashlib
import json
import math
import sys
from typing import NoReturn

import numpy as onp

from phasic.graphs.parts import contents
from phasic.internal.raw_arguments import shown

FORMAT = "phasic.graph"
VERSION = 1
# The largest number of states with equal hashes. The work to put n such states
# into a dictionary grows like n^2.
_MOST_COLLISIONS = 1000

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
  return json.dumps(dict(zip(_KEYS, values, strict=True)), allow_nan=False)


def loads(text: str | bytes) -> contents.Contents:
  """Reads a graph from JSON text; its arrays are not checked here.

  Raises:
    TypeError: `text` is not a string.
    ValueError: it is not JSON, or not the JSON of a graph; the error says why.
  """
  if not isinstance(text, (str, bytes)):
    raise TypeError(f"text is {type(text).__name__}: it must be a str or bytes")
  try:
    return _read(text)
  except RecursionError:
    raise ValueError("the graph's JSON is nested too deeply") from None


def _read(text: str | bytes) -> contents.Contents:
  try:
    data = json.loads(
      text, object_pairs_hook=_object, parse_constant=_refuse_constant
    )
  except (json.JSONDecodeError, UnicodeDecodeError) as error:
    raise ValueError(f"the text is not JSON: {error}") from None
  if not isinstance(data, dict):
    raise ValueError(f"the graph's JSON is {_kind(data)}: it must be an object")
  if data.get("format") != FORMAT:
    raise ValueError(f"format is {data.get('format')!r}: it must be {FORMAT!r}")
  version = data.get("version")
  if type(version) is not int or version != VERSION:
    raise ValueError(f"version is {version!r}: it must be {VERSION}")
  missing = [key for key in _KEYS if key not in data]
  unknown = [key for key in data if key not in _KEYS]
  if missing or unknown:
    raise ValueError(
      f"the graph's JSON lacks the keys {missing} and has the unknown keys "
      f"{unknown}"
    )
  return _contents(data)


def _contents(data: dict[str, object]) -> contents.Contents:
  if type(data["discrete"]) is not bool:
    raise ValueError(
      f"discrete is {data['discrete']!r}: it must be true or false"
    )
  p = _integer(data["num_phases"], "num_phases", 1)
  d = _integer(data["num_params"], "num_params", 0)
  m = len(_list(data["sources"], "sources"))
  names = data["parameter_names"]
  if names is not None:
    names = tuple(_strings(names, "parameter_names", d))
  causes = _list(data["causes"], "causes")
  _strings([c for c in causes if c is not None], "causes without null")
  states = data["states"]
  if states is not None:
    states = tuple(_decoded(x) for x in _list(states, "states", p))
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


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
  members: dict[str, object] = {}
  for key, value in pairs:
    if key in members:
      raise ValueError(f"the object has the key {shown(key)} more than once")
    members[key] = value
  return members


def _refuse_constant(text: str) -> NoReturn:
  raise ValueError(f"{text} is in the graph's JSON: numbers must be finite")


def _kind(x: object) -> str:
  """Returns JSON's name for the type of a value."""
  names: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    type(None): "null",
  }
  return names.get(type(x), "a number")


def _list(x: object, name: str, size: int | None = None) -> list[object]:
  if not isinstance(x, list):
    raise ValueError(f"{name} is {_kind(x)}: it must be an array")
  if size is not None and len(x) != size:
    raise ValueError(f"{name} has {len(x)} entries: it must have {size}")
  return x


def _integer(x: object, name: str, least: int) -> int:
  if type(x) is not int or not least <= x < 2**31 - 1:
    raise ValueError(f"{name} is {shown(x)}: it must be an integer >= {least}")
  return x


def _strings(x: object, name: str, size: int | None = None) -> list[str]:
  items = _list(x, name, size)
  for i, item in enumerate(items):
    if not isinstance(item, str):
      raise ValueError(f"{name}[{i}] is {_kind(item)}: it must be a string")
  return [item for item in items if isinstance(item, str)]


def _integers(x: object, name: str, size: int) -> onp.ndarray:
  for i, item in enumerate(_list(x, name, size)):
    if type(item) is not int or not 0 <= item < 2**31:
      raise ValueError(
        f"{name}[{i}] is {shown(item)}: it must be an integer >= 0"
      )
  return onp.asarray(x, onp.int32)


def _numbers(x: object, name: str, size: int) -> onp.ndarray:
  numbers: list[float] = []
  for i, item in enumerate(_list(x, name, size)):
    # Integers above the largest float, which would overflow, are rejected; so is
    # 1e999, which is read as inf.
    value = math.nan
    if type(item) is float:
      value = item
    elif type(item) is int and abs(item) <= sys.float_info.max:
      value = float(item)
    if not math.isfinite(value):
      raise ValueError(
        f"{name}[{i}] is {shown(item)}: it must be a finite number"
      )
    numbers.append(value)
  return onp.asarray(numbers, float)


def _table(x: object, name: str, rows: int, columns: int) -> onp.ndarray:
  table = [
    _numbers(row, f"{name}[{i}]", columns)
    for i, row in enumerate(_list(x, name, rows))
  ]
  return onp.reshape(onp.asarray(table, float), (rows, columns))


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
