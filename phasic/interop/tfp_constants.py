"""Wraps graphs as constants, which TensorFlow compares by identity."""

from __future__ import annotations

import weakref

from phasic.graphs.core import graph as graph_lib


class Constant:
  """A value that TensorFlow does not look into; a call returns it.

  TensorFlow compares the arguments of a `tf.function` by their parts, and
  callable parts by identity. So graphs are wrapped as callables, and functions
  are traced once for each graph.
  """

  def __init__(self, value: object):
    self._value = value

  def __call__(self) -> object:
    return self._value

  def __repr__(self) -> str:
    return f"Constant({self._value!r})"


# All constants that are still referenced, by the ids of their values.
_KNOWN: weakref.WeakValueDictionary[tuple[int, ...], Constant] = (
  weakref.WeakValueDictionary()
)


def held(value: object) -> object:
  """Wraps a graph or a tuple of graphs as a `Constant`; keeps other values."""
  parts = value if isinstance(value, tuple) else (value,)
  if not parts or not all(isinstance(x, graph_lib.Graph) for x in parts):
    return value
  key = tuple(id(x) for x in parts)
  return _KNOWN.setdefault(key, Constant(value))


def value_of(value: object) -> object:
  """Returns the value of a `Constant`; other values are returned unchanged."""
  return value() if isinstance(value, Constant) else value
