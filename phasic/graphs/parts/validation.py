"""Checks the arrays of a new graph."""

from __future__ import annotations

import collections
import math

import numpy as onp

from phasic.graphs.parts import contents
from phasic.graphs.parts import weights
from phasic.graphs.parts.contents import counted
from phasic.internal import dtypes
from phasic.internal import raw_arguments
from phasic.internal import static
from phasic.internal.arrays import ArrayLike

_INDICES = contents.ARRAYS[:2]
_NUMBERS = contents.ARRAYS[2:]


def checked(data: contents.Contents) -> contents.Contents:
  """Checks the data of a graph, and returns them as read-only arrays.

  Raises:
    TypeError: something is of a wrong type.
    ValueError: a rule is broken; the edge or the state is named.
  """
  arrays: dict[str, onp.ndarray] = {
    **{name: _indices(getattr(data, name), name) for name in _INDICES},
    **{name: host_numbers(getattr(data, name), name) for name in _NUMBERS},
  }
  for array in arrays.values():
    _freeze(array)
  graph = data._replace(**arrays)  # type: ignore[arg-type]
  _check_shapes(graph)
  _check_facts(graph)
  p = graph.num_phases
  _check_range(graph.sources, "sources", p, f"there are {p} phases")
  _check_range(
    graph.targets,
    "targets",
    p + len(graph.causes),
    f"there are {p} phases and {counted(len(graph.causes), 'cause')}",
  )
  _check_order(graph)
  _check_finite(graph)
  _check_signs(graph)
  _check_masses(graph)
  return graph


def frozen(built: contents.Contents) -> contents.Contents:
  """Returns the data of a graph as read-only arrays, which are not checked."""
  dtypes_of = [
    *((name, onp.int32) for name in _INDICES),
    *((name, onp.float64) for name in _NUMBERS),
  ]
  arrays = {
    name: onp.array(getattr(built, name), dtype) for name, dtype in dtypes_of
  }
  for array in arrays.values():
    _freeze(array)
  return built._replace(**arrays)  # type: ignore[arg-type]


def host_numbers(x: ArrayLike, name: str) -> onp.ndarray:
  """Copies an array to the host, as float64.

  Raises:
    TypeError: it is traced, or its dtype does not fit.
    ValueError: it is a ragged list.
  """
  dtypes.common_dtype({name: x})
  known = static.concrete(x)
  if known is None:
    raise TypeError(
      f"{name} is traced: it must be concrete; make the graph outside of "
      "compiled functions, and pass edge_values="
    )
  return onp.array(known, dtype=onp.float64)


def check_initial_mass(
  constants: onp.ndarray, coefficients: onp.ndarray, tolerance: float
) -> None:
  """Raises ValueError unless initial weights without parameters sum to one."""
  if onp.any(coefficients != 0.0):
    # The sum depends on the parameters, so it cannot be checked here.
    return
  mass = math.fsum(constants)
  if not abs(mass - 1.0) <= tolerance:
    raise ValueError(
      f"the initial weights sum to {mass!r}: this sum, with the weight of "
      "ABSORBED for an atom at zero, must be 1 within 4 p eps"
    )


def check_edge_values(shape: static.Shape, num_edges: int) -> None:
  """Raises ValueError unless the shape of edge values is (..., m)."""
  if not contents.ends_with(shape, num_edges):
    raise ValueError(
      f"edge_values have shape {shape}: they must be (..., {num_edges}), one for "
      "each edge of the graph"
    )


def edge_name(graph: contents.Contents, e: int) -> str:
  """Returns the name of an edge, for error messages."""
  p = graph.num_phases
  source, target = int(graph.sources[e]), int(graph.targets[e])
  if target >= p:
    cause = graph.causes[target - p]
    to = "ABSORBED" if cause is None else f"ABSORBED({cause!r})"
  else:
    to = _state_name(graph, target)
  return f"edge {e} from {_state_name(graph, source)} to {to}"


def _state_name(graph: contents.Contents, i: int) -> str:
  if i == graph.num_phases:
    return "ABSORBED"
  if graph.states is None:
    return f"phase {i}"
  return raw_arguments.shown(graph.states[i])


def _freeze(array: onp.ndarray) -> None:
  """Makes an array read-only, since it is not checked again."""
  array.setflags(write=False)


def _indices(x: ArrayLike, name: str) -> onp.ndarray:
  known = dtypes.concrete(x, name)
  if known is None:
    raise TypeError(
      f"{name} is traced: it must be concrete; make the graph outside of "
      "compiled functions"
    )
  if known.dtype.kind not in "iu":
    raise TypeError(f"{name} has dtype {known.dtype}: it must be integers")
  result = onp.array(known, dtype=onp.int32)
  if not onp.array_equal(result, known):
    raise ValueError(
      f"{name} has an entry that does not fit into 32 bits: indices must be in "
      "[0, 2**31)"
    )
  return result


def _check_shapes(graph: contents.Contents) -> None:
  shapes = {
    name: onp.shape(getattr(graph, name)) for name in (*_INDICES, *_NUMBERS)
  }
  if len(shapes["sources"]) != 1:
    raise ValueError(
      f"sources have shape {shapes['sources']}: they must be (m,)"
    )
  if len(shapes["coefficients"]) != 2:
    raise ValueError(
      f"coefficients have shape {shapes['coefficients']}: they must be (m, d)"
    )
  initial = shapes["initial_constants"]
  if len(initial) != 1 or initial[0] < 2:
    raise ValueError(
      f"initial_constants have shape {initial}: they must be (p + 1,) with p > 0"
    )
  if shapes["sources"] == (0,):
    raise ValueError("the graph has no edges: it needs at least one")
  (m,), (n,), d = shapes["sources"], initial, shapes["coefficients"][1]
  wanted = {
    "targets": (m,),
    "constants": (m,),
    "coefficients": (m, d),
    "initial_coefficients": (n, d),
  }
  for name, shape in wanted.items():
    if shapes[name] != shape:
      raise ValueError(
        f"{name} have shape {shapes[name]}: with {counted(m, 'edge')}, "
        f"{counted(n - 1, 'phase')} and {counted(d, 'parameter')} it must be "
        f"{shape}"
      )


def _check_facts(graph: contents.Contents) -> None:
  """Raises unless parameter names, causes and states are valid."""
  p = graph.num_phases
  d = onp.shape(graph.coefficients)[1]
  raw_arguments.check_flags(discrete=graph.discrete)
  if graph.parameter_names is not None:
    number, _ = weights.read_params(graph.parameter_names)
    if number != d:
      raise ValueError(
        f"parameter_names are {graph.parameter_names}: there must be one for "
        f"each of {counted(d, 'parameter')}"
      )
  if not graph.causes:
    raise ValueError(
      "causes is empty: it must have at least one cause; use (None,) for plain "
      "ABSORBED"
    )
  seen: set[str | None] = set()
  for cause in graph.causes:
    if cause is not None and not (isinstance(cause, str) and cause):
      raise TypeError(
        f"cause is {raw_arguments.shown(cause)}: it must be None or a string "
        "that is not empty"
      )
    if cause in seen:
      raise ValueError(
        f"causes has {raw_arguments.shown(cause)} more than once: each cause "
        "must be given once"
      )
    seen.add(cause)
  for note in graph.notes:
    raw_arguments.check_string("an item of notes", note)
  if graph.states is not None:
    if len(graph.states) != p:
      raise ValueError(
        f"states has {len(graph.states)} entries: it must have one for each "
        f"of {counted(p, 'phase')}"
      )
    try:
      counts = collections.Counter(graph.states)
    except RecursionError:
      raise ValueError(
        "states are nested too deeply: Python must be able to compare them; "
        "use numbers, or tuples of a few levels"
      ) from None
    for state, count in counts.items():
      if count > 1:
        raise ValueError(
          f"states has {raw_arguments.shown(state)} {count} times: each state "
          "must be given once"
        )
    for i, state in enumerate(graph.states):
      if contents.is_absorbed(state):
        raise ValueError(
          f"states[{i}] is {state}: absorption is not a phase; leave it out"
        )


def _check_range(
  indices: onp.ndarray, name: str, size: int, reason: str
) -> None:
  wrong = onp.flatnonzero((indices < 0) | (indices >= size))
  if len(wrong) > 0:
    e = int(wrong[0])
    raise ValueError(
      f"{name}[{e}] = {int(indices[e])}: it must be in [0, {size}), {reason}"
    )


def _check_order(graph: contents.Contents) -> None:
  """Raises if edges are unsorted or parallel, or if one is a self-loop."""
  sources, targets = graph.sources, graph.targets
  wrong = onp.flatnonzero(sources[1:] < sources[:-1])
  if len(wrong) > 0:
    e = int(wrong[0]) + 1
    raise ValueError(f"sources[{e}] = {sources[e]}: sources must be ascending")
  wrong = onp.flatnonzero(sources == targets)
  if len(wrong) > 0:
    raise ValueError(
      f"{edge_name(graph, int(wrong[0]))} leads from a state to itself: such "
      "edges must be left out"
    )
  keys = onp.asarray(sources, onp.int64) * 2**32 + targets
  order = onp.argsort(keys, kind="stable")
  twice = onp.flatnonzero(keys[order][1:] == keys[order][:-1])
  if len(twice) > 0:
    e = int(order[int(twice[0]) + 1])
    raise ValueError(
      f"{edge_name(graph, e)} is given twice: parallel edges must be merged; "
      "add up their weights"
    )


def _check_finite(graph: contents.Contents) -> None:
  for name in _NUMBERS:
    values = getattr(graph, name)
    wrong = onp.argwhere(~onp.isfinite(values))
    if len(wrong) > 0:
      place = tuple(int(i) for i in wrong[0])
      row = _row_name(graph, name, place[0])
      raise ValueError(
        f"{name}[{', '.join(str(i) for i in place)}] of {row} is "
        f"{float(values[place])}: weights must be finite"
      )


def _check_signs(graph: contents.Contents) -> None:
  """Raises ValueError if a weight has a negative term but no positive term."""
  for prefix in ("", "initial_"):
    constants = getattr(graph, prefix + "constants")
    coefficients = getattr(graph, prefix + "coefficients")
    terms = onp.concatenate([constants[:, None], coefficients], axis=1)
    wrong = onp.flatnonzero(
      onp.any(terms < 0.0, axis=1) & ~onp.any(terms > 0.0, axis=1)
    )
    if len(wrong) > 0:
      row = _row_name(graph, prefix + "constants", int(wrong[0]))
      raise ValueError(
        f"the weight of {row} is negative: its constant or at least one of its "
        "coefficients must be > 0"
      )


def _check_masses(graph: contents.Contents) -> None:
  """Raises if sums of probabilities without parameters are out of bounds.

  The tolerance is float32's rounding; constructors of graphs check more
  closely.
  """
  eps = float(onp.finfo(onp.float32).eps)
  check_initial_mass(
    graph.initial_constants,
    graph.initial_coefficients,
    4 * len(graph.initial_constants) * eps,
  )
  if not graph.discrete:
    return
  p = graph.num_phases
  fixed = onp.where(onp.any(graph.coefficients != 0.0, axis=1), 0.0, 1.0)
  masses = onp.bincount(graph.sources, fixed * graph.constants, p)
  counts = onp.bincount(graph.sources, minlength=p)
  wrong = onp.flatnonzero(masses > 1.0 + 4 * counts * eps)
  if len(wrong) > 0:
    i = int(wrong[0])
    raise ValueError(
      f"the probabilities of the edges from {_state_name(graph, i)} sum to "
      f"{float(masses[i])}: this sum must be <= 1 within 4 eps per edge"
    )


def _row_name(graph: contents.Contents, name: str, i: int) -> str:
  if name.startswith("initial"):
    return f"initial state {_state_name(graph, i)}"
  return edge_name(graph, i)
